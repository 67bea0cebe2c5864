"""Requests a second, and the time of a scrape, beside Burrow on the same broker.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/http_api.py --burrow PATH

The load comes from `wrk`, which has to be installed (`apt install wrk`): 8 connections that ask
again as soon as they are answered. First Warren is asked while it still reads, then each is asked
when it has read everything.
"""

import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import click
from measured import get, wait_until, where, write
from monitors import AT_MOST_S, configure, fill, running, scratch

from warren.demo.broker import Broker

CONNECTIONS = 8
SCRAPES = 3
GROUP = "/v3/kafka/local/consumer/group-7"
ASKED = {"group status": f"{GROUP}/status", "lag": f"{GROUP}/lag", "all windows": GROUP}
# While it reads, windows are half full and old: the status of a group lists all its partitions, as
# large as `lag`. Warren's own group, which it reports as Burrow does, is well all the time.
WHILE_READING = {
    "a group that is well": "/v3/kafka/local/consumer/burrow-local/status",
    "a group all of whose partitions are bad": f"{GROUP}/status",
}
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


class Load(NamedTuple):
    per_second: float
    p99_ms: float


class Measured(NamedTuple):
    loads: dict[str, Load]
    scrape_s: float
    scrape_mb: float


@click.command()
@click.option("--burrow", type=click.Path(exists=True, path_type=Path))
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--seconds", default=8, help="Of each load.")
def main(burrow: Path | None, groups: int, partitions: int, rounds: int, seconds: int) -> None:
    if shutil.which("wrk") is None:
        raise click.ClickException("wrk is not installed; on Debian: apt install wrk")
    about = where()
    with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
        fill(broker.bootstrap, groups, partitions, rounds)
        place, url = configure(directory, "warren", broker.bootstrap)
        command = [sys.executable, "-m", "warren", "serve", "--config-dir", str(place)]
        with running(command):
            reading, read_s = _while_reading(url)
            results = {"Warren": _measure(url, seconds)}
        if burrow:
            place, url = configure(directory, "burrow", broker.bootstrap)
            with running([str(burrow), "--config-dir", str(place)]):
                _wait_for_burrow(url)
                results["Burrow"] = _measure(url, seconds)
    title = f"# HTTP: {groups:,} groups with {partitions:,} partitions each"
    write(
        "http_api.md",
        f"{title}\n\n{about}\n\n{_table(results)}\n\n{_prose(reading, read_s, results)}",
    )


def _while_reading(url: str) -> tuple[dict[str, Load], float]:
    """Ask for statuses from the first record read until all are; in slices: the end is unknown."""
    began = time.monotonic()
    wait_until(lambda: _records(url) > 0, 0.1, AT_MOST_S)
    slices: dict[str, list[Load]] = {name: [] for name in WHILE_READING}
    while get(f"{url}/burrow/admin/ready")[0] != 200:
        for name, path in WHILE_READING.items():
            slices[name].append(_wrk(url + path, 2))
    loads = {name: _worst(several) for name, several in slices.items()}
    return loads, time.monotonic() - began


def _worst(slices: list[Load]) -> Load:
    rates, worst = [each.per_second for each in slices], [each.p99_ms for each in slices]
    return Load(statistics.mean(rates), max(worst))


def _records(url: str) -> int:
    code, health = get(f"{url}/v4/health")
    consumers = health.get("consumers", {}) if code == 200 else {}
    return sum(int(each.get("records", 0)) for each in consumers.values())


def _wait_for_burrow(url: str) -> None:
    """Asking more often makes it lose commits; its own group tells how far it is."""

    def is_done() -> bool:
        code, answer = get(f"{url}/v3/kafka/local/consumer/burrow-local/lag")
        return code == 200 and bool(answer["status"]["totallag"] == 0)

    wait_until(is_done, 1, AT_MOST_S)


def _measure(url: str, seconds: int) -> Measured:
    loads = {name: _wrk(url + path, seconds) for name, path in ASKED.items()}
    scrapes = [_scrape(f"{url}/metrics") for _ in range(SCRAPES + 1)][1:]  # the first one warms up
    return Measured(loads, statistics.median(each[0] for each in scrapes), scrapes[0][1] / 1e6)


def _scrape(url: str) -> tuple[float, int]:
    began, size = time.perf_counter(), 0
    with urllib.request.urlopen(url, timeout=300) as answer:  # noqa: S310  our own address
        while data := answer.read(1 << 20):
            size += len(data)
    return time.perf_counter() - began, size


def _wrk(url: str, seconds: int) -> Load:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--latency", url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    assert refused is None or "/status" in url, said  # not there yet, while it is being read
    number, unit = re.findall(r"99%\s+([\d.]+)(us|ms|s)", said)[0]
    rate = re.findall(r"Requests/sec:\s+([\d.]+)", said)[0]
    return Load(float(rate), float(number) * UNITS[unit])


def _table(results: dict[str, Measured]) -> str:
    peer = results.get("Burrow")
    lines = [f"| requests/s (p99 ms) | {' | '.join(results)} | times Burrow |", "|---|---|---|---|"]
    for name in ASKED:
        loads = [each.loads[name] for each in results.values()]
        cells = [f"{load.per_second:,.0f} ({load.p99_ms:.1f})" for load in loads]
        times = loads[0].per_second / peer.loads[name].per_second if peer else 0
        lines.append(f"| {name} | {' | '.join(cells)} | {times:.1f} |")
    cells = [f"{each.scrape_s:.2f} s ({each.scrape_mb:.0f} MB)" for each in results.values()]
    times = peer.scrape_s / results["Warren"].scrape_s if peer else 0
    lines.append(f"| a scrape of /metrics | {' | '.join(cells)} | {times:.1f} |")
    return "\n".join(lines)


def _prose(reading: dict[str, Load], read_s: float, results: dict[str, Measured]) -> str:
    lines = [
        f"Status, asked for while Warren read everything, {read_s:.0f} s from process start:\n",
        *(
            f"- {name}: {load.per_second:,.0f} a second, p99 of the worst two seconds "
            f"{load.p99_ms:.1f} ms"
            for name, load in reading.items()
        ),
    ]
    if "Burrow" not in results:
        lines.append("\nBurrow was not run: no binary was given.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
