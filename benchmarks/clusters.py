"""Many clusters in one Warren, some of which nobody answers for.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/clusters.py --clusters 50 --dead 10

As many brokers would not fit into the machine: every broker stands for several clusters. To Warren
a cluster is a name and servers, so it reads each one's offsets topic by itself. The dead ones are
sections whose port nobody listens at. The first run is without them, the second with them.
"""

import random
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
from commit_stream import TOPIC, Writer
from measured import Busy, Memory, cpu_seconds, get, memory, threads, wait_until, where, write
from monitors import fill, running, scratch, warren
from sustained import newest_offset

from warren.demo.broker import Broker, free_ports

COMMITS_A_SECOND = 10  # on each broker
PARTITIONS = 5
ROUNDS = 3
SAMPLE_S = 2.0
SHOWN_S = 120.0
GENERAL = """
[general]
pidfile = "{place}/warren.pid"
[logging]
level = "error"
[httpserver.default]
address = "127.0.0.1:{port}"
"""
SECTIONS = """
[cluster.{name}]
class-name = "kafka"
servers = ["{bootstrap}"]
[consumer.{name}]
class-name = "kafka"
cluster = "{name}"
servers = ["{bootstrap}"]
"""


class Run(NamedTuple):
    dead: int
    ready_s: float
    ready_cpu_s: float
    ticks_s: list[float]
    cpu: float  # of one core
    machine: float
    memory: Memory
    threads: tuple[int, int]
    ages: list[float]
    late: int  # probes not shown in time


class Committing:
    """A few commits a second on every broker, and the probes among them."""

    def __init__(self, bootstraps: Sequence[str]) -> None:
        self._writers = [Writer(bootstrap) for bootstrap in bootstraps]
        self._lock = threading.Lock()
        self._count = 0

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(1 / COMMITS_A_SECOND):
            for number in range(len(self._writers)):
                self.commit(number, f"steady-{random.randrange(10)}")  # noqa: S311  # no secret

    def commit(self, number: int, group: str) -> int:
        """The offset that the group has committed on partition 0."""
        with self._lock:
            self._count += 1
            count = self._count
            self._writers[number].write(group, TOPIC, [count])
        self._writers[number].flush()
        return count


@click.command()
@click.option("--clusters", default=50)
@click.option("--brokers", default=5, help="Each stands for as many of the clusters.")
@click.option("--groups", default=400, help="On each broker.")
@click.option("--dead", default=10, help="More clusters, where nobody answers, in the second run.")
@click.option("--seconds", default=120.0, help="Of measuring, when all is read.")
@click.option("--warm-up", default=60.0, help="Seconds before that.")
@click.option("--probes", default=20)
@click.option("--offsets-partitions", default=50)
@click.option("--at-most", default=900.0, help="Seconds until all is read.")
def main(
    clusters: int,
    brokers: int,
    groups: int,
    dead: int,
    seconds: float,
    warm_up: float,
    probes: int,
    offsets_partitions: int,
    at_most: float,
) -> None:
    about = where()
    with ExitStack() as stack:
        bootstraps = []
        for _ in range(brokers):  # one by one: all at once they would be late
            broker = Broker(offsets_partitions=offsets_partitions, heap="256m")
            bootstraps.append(stack.enter_context(broker).bootstrap)
            fill(bootstraps[-1], groups, PARTITIONS, ROUNDS)
        directory = stack.enter_context(scratch())
        limits = (warm_up, seconds, probes, at_most)
        committing, stop = Committing(bootstraps), threading.Event()
        thread = threading.Thread(target=committing.run, args=(stop,))
        thread.start()
        try:
            runs = [
                _run(directory, bootstraps, clusters, each, committing, limits)
                for each in ([0, dead] if dead else [0])
            ]
        finally:
            stop.set()
            thread.join()
    sizes = (
        f"{brokers} brokers, each standing for {clusters / brokers:g} clusters and with {groups} "
        f"groups of {PARTITIONS} partitions and an offsets topic of {offsets_partitions}"
    )
    write("clusters.md", _report(about, clusters, sizes, seconds, runs))


def _run(
    directory: Path,
    bootstraps: Sequence[str],
    clusters: int,
    dead: int,
    committing: Committing,
    limits: tuple[float, float, int, float],
) -> Run:
    warm_up, seconds, probes, at_most = limits
    place, url = _configure(directory, bootstraps, clusters, dead)
    program, began = warren(), time.monotonic()
    with running(program.command("--config-dir", str(place)), program.environment) as pid:
        wait_until(partial(_are_read, url, clusters), 0.5, at_most)
        ready_s, ready_cpu_s = time.monotonic() - began, cpu_seconds(pid)
        time.sleep(warm_up)
        busy, ticks = Busy(pid), []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ticks.append(float(get(f"{url}/v4/health")[1]["tick_seconds"]))
            time.sleep(SAMPLE_S)
        shares, held, counted = busy.so_far(), memory(pid), threads(pid)
        ages = [_age(url, committing, clusters, len(bootstraps)) for _ in range(probes)]
    shown = sorted(age for age in ages if age is not None)
    late = len(ages) - len(shown)
    return Run(dead, ready_s, ready_cpu_s, sorted(ticks), *shares, held, counted, shown, late)


def _configure(
    directory: Path, bootstraps: Sequence[str], clusters: int, dead: int
) -> tuple[Path, str]:
    port, *nobody = free_ports(1 + dead)
    place = directory / f"dead-{dead}"
    place.mkdir()
    text = GENERAL.format(place=place, port=port)
    for number in range(clusters):
        bootstrap = bootstraps[number % len(bootstraps)]
        text += SECTIONS.format(name=f"c{number}", bootstrap=bootstrap)
    for number, closed in enumerate(nobody):
        text += SECTIONS.format(name=f"dead{number}", bootstrap=f"127.0.0.1:{closed}")
    (place / "burrow.toml").write_text(text)
    return place, f"http://127.0.0.1:{port}"


def _are_read(url: str, clusters: int) -> bool:
    """All consumers of living clusters have caught up."""
    code, health = get(f"{url}/v4/health")
    states = health.get("consumers", {}) if code == 200 else {}
    return all(states.get(f"c{n}", {}).get("state") == "caught up" for n in range(clusters))


def _age(url: str, committing: Committing, clusters: int, brokers: int) -> float | None:
    """Seconds from a commit to the answer that shows it, of any cluster; None: too long."""
    number = random.randrange(clusters)  # noqa: S311  # no secret
    offset = committing.commit(number % brokers, "probe")
    try:
        return wait_until(
            lambda: newest_offset(url, "probe", f"c{number}") >= offset, 0.05, SHOWN_S
        )
    except TimeoutError:
        return None
    finally:
        time.sleep(offset % 7 / 10)  # meet the streams at every point of their rhythm


def _report(about: str, clusters: int, sizes: str, seconds: float, runs: list[Run]) -> str:
    how = (
        f"{COMMITS_A_SECOND} commits a second on each. "
        f"Measured for {seconds:g} s after all was read"
    )
    lines = [
        f"# {clusters} clusters in one Warren",
        "",
        f"{about}. {sizes}. {how}. The brokers share the machine.",
        "",
        "| | " + " | ".join(f"{run.dead} more are dead" for run in runs) + " |",
        "|---|" + "---:|" * len(runs),
    ]
    rows = {
        "seconds until the living are read": [f"{run.ready_s:.1f}" for run in runs],
        "CPU seconds until then": [f"{run.ready_cpu_s:.0f}" for run in runs],
        "tick, median s": [f"{median(run.ticks_s):.3f}" for run in runs],
        "tick, worst s": [f"{run.ticks_s[-1]:.3f}" for run in runs],
        "CPU, of one core": [f"{run.cpu:.0%}" for run in runs],
        "the whole machine, of one core": [f"{run.machine:.0%}" for run in runs],
        "Python MB (pages shared counted once)": [_mb(run.memory[0::2]) for run in runs],
        "Java MB (the same)": [_mb(run.memory[1::2]) for run in runs],
        "threads of Python": [str(run.threads[0]) for run in runs],
        "threads of Java": [str(run.threads[1]) for run in runs],
        "commit to answer, median s": [
            f"{median(run.ages):.2f}" if run.ages else "" for run in runs
        ],
        "commit to answer, worst s": [_worst(run) for run in runs],
    }
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def _mb(both: tuple[float, ...]) -> str:
    return f"{both[0]:,.0f} ({both[1]:,.0f})"


def _worst(run: Run) -> str:
    return f"{run.late} not in {SHOWN_S:.0f} s" if run.late else f"{run.ages[-1]:.2f}"


if __name__ == "__main__":
    main()
