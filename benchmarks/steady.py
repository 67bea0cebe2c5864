"""Caught up, ten commits a second, 50 offsets partitions: what it costs, how old answers are.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/steady.py --after-catch-up \
        --baseline DIR --burrow PATH --kminion PATH

`--baseline DIR` is a checkout of an older commit. What is given is measured after this tree, on the
same broker; kminion shows no single commits, so that the age of its answers is left out.
`--after-catch-up` adds the memory after many commits were read: at once, and when nothing happened
for some minutes. Memory is what processes hold, added up; in brackets, with shared pages counted
once.
"""

import threading
import time
from pathlib import Path
from typing import NamedTuple

import click
from confluent_kafka import Consumer, TopicPartition
from measured import Busy, Memory, memory, peak_mb, wait_until, where, write
from monitors import AT_MOST_S, GIVEN, Program, fill, not_given, programs, scratch
from support.loader import Load, create_topics
from sustained import newest_offset

from warren.demo.broker import Broker, make_offsets_topic
from warren.process.beside import beside

COMMITS_A_SECOND = 10
GROUPS = 10
TOPIC_PARTITIONS = 10
START_S = 300
READ = (500, 1_000, 2)  # groups, partitions, rounds: a million commits


class Steady(NamedTuple):
    name: str
    cpu: float  # of one core
    ages: list[float]
    memory: Memory
    peak_mb: float


class AfterReading(NamedTuple):
    name: str
    at_once: Memory
    idle: Memory


class Committer:
    """Real clients that commit evenly, each time one higher than the last."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic = topic
        self._consumers = [
            Consumer(
                {"bootstrap.servers": bootstrap, "group.id": f"g{n}", "enable.auto.commit": False}
            )
            for n in range(GROUPS)
        ]
        self._count = 0

    def commit(self) -> tuple[str, int]:
        """The group and the offset it has just committed to partition 0."""
        self._count += 1
        number = self._count % GROUPS
        place = TopicPartition(self.topic, 0, self._count)
        self._consumers[number].commit(offsets=[place], asynchronous=False)
        return f"g{number}", self._count

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(1 / COMMITS_A_SECOND):
            self.commit()

    def close(self) -> None:
        """Without a broker they would go on looking for it."""
        for consumer in self._consumers:
            consumer.close()


@click.command()
@click.option("--baseline", type=GIVEN, help="A checkout of an older commit.")
@click.option("--burrow", type=GIVEN)
@click.option("--kminion", type=GIVEN)
@click.option("--warm-up", default=120, help="Seconds before measuring; the JIT needs them.")
@click.option("--seconds", default=60)
@click.option("--probes", default=60, help="Commits whose way into an answer is timed.")
@click.option("--after-catch-up", is_flag=True, help="Memory after a million commits, too.")
@click.option("--rounds", default=READ[2], help="Of half a million commits each, for that.")
@click.option("--idle", default=180, help="Seconds without commits, for that.")
def main(
    baseline: Path | None,
    burrow: Path | None,
    kminion: Path | None,
    warm_up: int,
    seconds: int,
    probes: int,
    rounds: int,
    idle: int,
    *,
    after_catch_up: bool,
) -> None:
    about, every = where(), programs(baseline, burrow, kminion)
    with Broker(offsets_partitions=50) as broker, scratch() as directory:
        load = Load(newest_ms=0, partitions=TOPIC_PARTITIONS)
        create_topics(broker.bootstrap, load)
        make_offsets_topic(broker.bootstrap)
        committer = Committer(broker.bootstrap, load.topic_names[0])
        limits = (warm_up, seconds, probes)
        steady = [_steady(each, directory, broker.bootstrap, committer, limits) for each in every]
        committer.close()
    read = []
    if after_catch_up:
        with Broker(offsets_partitions=50, heap="1g") as broker, scratch() as directory:
            fill(broker.bootstrap, *READ[:2], rounds)
            read = [_after_reading(each, directory, broker.bootstrap, idle) for each in every]
    commits = READ[0] * READ[1] * rounds
    text = _report(about, warm_up, steady) + _report_reading(commits, idle, read)
    left_out = not_given(baseline=baseline, Burrow=burrow, kminion=kminion)
    write("steady.md", text + (f"\n{left_out}\n" if left_out else ""))


def _steady(
    program: Program,
    directory: Path,
    bootstrap: str,
    committer: Committer,
    limits: tuple[int, int, int],
) -> Steady:
    warm_up, seconds, probes = limits
    with program.start(directory, bootstrap) as (pid, url):
        wait_until(lambda: program.is_ready(url), 0.5, START_S)
        cpu, held = cost(pid, committer, warm_up, seconds)
        asked = range(probes if program.kind != "kminion" else 0)
        ages = sorted(_age(url, committer) for _ in asked)
        return Steady(program.name, cpu, ages, held, peak_mb(pid))


def cost(pid: int, committer: Committer, warm_up: int, seconds: int) -> tuple[float, Memory]:
    with beside("commits", committer.run):
        time.sleep(warm_up)
        busy = Busy(pid)
        time.sleep(seconds)
        return busy.so_far()[0], memory(pid)


def _after_reading(program: Program, directory: Path, bootstrap: str, idle: int) -> AfterReading:
    with program.start(directory, bootstrap) as (pid, url):
        wait_until(lambda: program.is_ready(url), 0.2, AT_MOST_S)
        at_once = memory(pid)
        time.sleep(idle)
        return AfterReading(program.name, at_once, memory(pid))


def _age(url: str, committer: Committer) -> float:
    """Seconds from a commit to the answer that shows it."""
    group, offset = committer.commit()
    seconds = wait_until(
        lambda: newest_offset(url, group, topic=committer.topic) >= offset, 0.05, 60
    )
    time.sleep(offset % 7 / 10)  # meet the stream at every point of its rhythm
    return seconds


def _report(about: str, warm_up: int, runs: list[Steady]) -> str:
    probes = len(runs[0].ages)
    rows: dict[str, list[float] | list[float | None]] = {
        "CPU, of one core": [run.cpu for run in runs],
        f"commit to answer, median of {probes}, s": [_at(run.ages, probes // 2) for run in runs],
        "commit to answer, worst, s": [_at(run.ages, -1) for run in runs],
        "memory, all, MB": [_all(run.memory) for run in runs],
        "memory, shared pages once, MB": [_once(run.memory) for run in runs],
        "memory of Python, or Go, MB": [run.memory.python for run in runs],
        "of it, shared pages once, MB": [run.memory.shared_python for run in runs],
        "memory of Java, MB": [run.memory.java for run in runs],
        "peak memory, all, MB": [run.peak_mb for run in runs],
    }
    lines = [
        f"# Caught up, {COMMITS_A_SECOND} commits a second, 50-partition offsets topic",
        "",
        f"{about}. After {warm_up} s of warming up.",
        "",
        f"| | {' | '.join(run.name for run in runs)} |",
        "|---|" + "---:|" * len(runs),
    ]
    for name, values in rows.items():
        cells = " | ".join(_cell(name, value) for value in values)
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines) + "\n"


def _at(ages: list[float], number: int) -> float | None:
    return ages[number] if ages else None


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name.startswith("CPU"):
        return f"{value:.1%}"
    return f"{value:,.0f}" if name.endswith("MB") else f"{value:.2f}"


def _report_reading(commits: int, idle: int, runs: list[AfterReading]) -> str:
    if not runs:
        return ""
    lines = [
        "",
        f"## Memory after {commits:,} commits were read",
        "",
        "| | Python or Go MB | Java MB | all MB | times |",
        "|---|---:|---:|---:|---:|",
    ]
    for moment in ("at_once", "idle"):
        first: Memory = getattr(runs[0], moment)
        when = "when all was read" if moment == "at_once" else f"{idle} s later"
        for run in runs:
            held: Memory = getattr(run, moment)
            lines.append(
                f"| {run.name}, {when} | {held.python:,.0f} ({held.shared_python:,.0f}) "
                f"| {held.java:,.0f} ({held.shared_java:,.0f}) "
                f"| {_all(held):,.0f} ({_once(held):,.0f}) | {_all(held) / _all(first):.2f} |"
            )
    return "\n".join(lines) + "\n"


def _all(held: Memory) -> float:
    return held.python + held.java


def _once(held: Memory) -> float:
    return held.shared_python + held.shared_java


if __name__ == "__main__":
    main()
