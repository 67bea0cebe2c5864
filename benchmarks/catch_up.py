"""Reading millions of commits to correct verdicts, beside Burrow and kminion on the same broker.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/catch_up.py --burrow PATH --kminion PATH

*Cold* is from process start. *Warm* is the same Spark session reading the topic again, as after a
cluster was away. A peer that is not given is left out, and the result says so.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from measured import cpu_seconds, get, peak_mb, wait_until, where, write

from warren.app import Monitor, monitoring, spark_session
from warren.config import load
from warren.demo.broker import Broker, free_ports

AT_MOST_S = 900
CONFIGURATION = """
[general]
pidfile = "{directory}/{name}.pid"
[logging]
level = "error"
[client-profile.p]
kafka-version = "2.8.0"
[cluster.local]
class-name = "kafka"
servers = ["{bootstrap}"]
client-profile = "p"
[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["{bootstrap}"]
client-profile = "p"
[evaluator.default]
class-name = "caching"
expire-cache = 1
[httpserver.default]
address = "127.0.0.1:{port}"
"""


class Run(NamedTuple):
    name: str
    seconds: float
    cpu_s: float
    peak_mb: float
    note: str = ""


@click.command()
@click.option("--burrow", type=click.Path(exists=True, path_type=Path))
@click.option("--kminion", type=click.Path(exists=True, path_type=Path))
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--repeat", default=3, help="Warm runs; the median counts.")
def main(
    burrow: Path | None,
    kminion: Path | None,
    groups: int,
    partitions: int,
    rounds: int,
    repeat: int,
) -> None:
    about = where()
    with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        expect = (groups, partitions, rounds)
        runs = [_warren_cold(broker.bootstrap, directory, expect)]
        runs += _warren_warm(broker.bootstrap, directory, expect, repeat)
        if burrow:
            runs.append(_burrow(burrow, broker.bootstrap, directory))
        if kminion:
            runs.append(_kminion(kminion, broker.bootstrap))
    write("catch_up.md", _report(runs, groups * partitions * rounds, about, burrow, kminion))


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="warren-benchmark-") as directory:
        yield Path(directory)


def fill(bootstrap: str, groups: int, partitions: int, rounds: int) -> None:
    sizes = {"--groups": groups, "--partitions": partitions, "--rounds": rounds}
    arguments = [text for option in sizes.items() for text in map(str, option)]
    command = [sys.executable, "-m", "support.loader", "--bootstrap", bootstrap]
    subprocess.run([*command, *arguments], check=True)


def configure(directory: Path, name: str, bootstrap: str) -> tuple[Path, str]:
    """Burrow's configuration file, which is ours, and the address it will answer on."""
    (port,) = free_ports(1)
    place = directory / name
    place.mkdir()
    text = CONFIGURATION.format(directory=directory, name=name, bootstrap=bootstrap, port=port)
    (place / "burrow.toml").write_text(text)
    return place, f"http://127.0.0.1:{port}"


def _warren_cold(bootstrap: str, directory: Path, expect: tuple[int, int, int]) -> Run:
    place, url = configure(directory, "warren", bootstrap)
    command = [sys.executable, "-m", "warren", "serve", "--config-dir", str(place)]
    with running(command) as pid:
        seconds = wait_until(lambda: get(f"{url}/burrow/admin/ready")[0] == 200, 0.1, AT_MOST_S)
        _check_answers(url, expect)
        return Run("Warren, cold", seconds, cpu_seconds(pid), peak_mb(pid))


def _check_answers(url: str, expect: tuple[int, int, int]) -> None:
    """Every group is there, whole, with the last commit that was written."""
    groups, partitions, rounds = expect
    _, listed = get(f"{url}/v3/kafka/local/consumer")
    assert len(listed["consumers"]) == groups + 1, "our own group is one more"
    for group in listed["consumers"][1 :: max(groups // 20, 1)]:
        _, answer = get(f"{url}/v3/kafka/local/consumer/{group}/lag")
        status = answer["status"]
        assert status["partition_count"] == partitions
        filled = {partition["complete"] for partition in status["partitions"]}
        assert filled == {rounds / 10}, filled


def _warren_warm(
    bootstrap: str, directory: Path, expect: tuple[int, int, int], repeat: int
) -> list[Run]:
    place, url = configure(directory, "warm", bootstrap)
    config = load(place, {}).config
    runs = []
    with spark_session(config) as spark:
        for _ in range(repeat + 1):
            stop = threading.Event()
            with monitoring(config) as monitor:
                began, cpu = time.monotonic(), cpu_seconds(os.getpid())
                worker = threading.Thread(target=monitor.run, args=(spark, stop))
                worker.start()
                wait_until(partial(is_ready, monitor), 0.02, AT_MOST_S)
                seconds = time.monotonic() - began
                used = cpu_seconds(os.getpid()) - cpu
                monitor.serving.wait_taken(10)
                _check_answers(url, expect)
                stop.set()
                worker.join()
            runs.append(Run("Warren, warm", seconds, used, peak_mb(os.getpid())))
    by_time = sorted(runs[1:], key=lambda run: run.seconds)  # the first one warms up
    return [by_time[len(by_time) // 2]]


def is_ready(monitor: Monitor) -> bool:
    return bool(monitor.board.health.ready)


def _burrow(binary: Path, bootstrap: str, directory: Path) -> Run:
    place, url = configure(directory, "burrow", bootstrap)
    # Asking more often than this makes Burrow lose commits; its own group tells how far it is.
    own = f"{url}/v3/kafka/local/consumer/burrow-local/lag"

    def is_done() -> bool:
        code, answer = get(own)
        return code == 200 and bool(answer["status"]["totallag"] == 0)

    with running([str(binary), "--config-dir", str(place)]) as pid:
        seconds = wait_until(is_done, 1, AT_MOST_S)
        return Run("Burrow", seconds, cpu_seconds(pid), peak_mb(pid), _version(binary))


def _kminion(binary: Path, bootstrap: str) -> Run:
    (port,) = free_ports(1)
    settings = {
        "KAFKA_BROKERS": bootstrap,
        "MINION_CONSUMERGROUPS_SCRAPEMODE": "offsetsTopic",
        "EXPORTER_HOST": "127.0.0.1",
        "EXPORTER_PORT": str(port),
        "LOGGER_LEVEL": "error",
    }
    with running([str(binary)], settings) as pid:
        ready = f"http://127.0.0.1:{port}/ready"
        seconds = wait_until(lambda: get(ready)[0] == 200, 0.2, AT_MOST_S)
        return Run("kminion", seconds, cpu_seconds(pid), peak_mb(pid), _version(binary))


@contextmanager
def running(command: list[str], environment: dict[str, str] | None = None) -> Iterator[int]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def _version(binary: Path) -> str:
    shown = subprocess.run(["go", "version", "-m", str(binary)], capture_output=True, check=False)
    modules = [line.split() for line in shown.stdout.decode().splitlines() if "\tmod\t" in line]
    return modules[0][2] if modules else ""


def _report(
    runs: list[Run], commits: int, about: str, burrow: Path | None, kminion: Path | None
) -> str:
    peer = next((run for run in runs if run.name == "Burrow"), None)
    lines = [
        f"# Reading {commits:,} commits to verdicts",
        "",
        f"{about}. One broker, the same for all.",
        "",
        "| | seconds | commits/s | times Burrow | CPU µs/commit | peak MB | |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        times = f"{peer.seconds / run.seconds:.1f}" if peer else ""
        lines.append(
            f"| {run.name} | {run.seconds:.1f} | {commits / run.seconds:,.0f} | {times} "
            f"| {run.cpu_s / commits * 1e6:.1f} | {run.peak_mb:,.0f} | {run.note} |"
        )
    absent = [name for name, path in (("Burrow", burrow), ("kminion", kminion)) if path is None]
    if absent:
        lines += ["", f"Not run, because no binary was given: {', '.join(absent)}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
