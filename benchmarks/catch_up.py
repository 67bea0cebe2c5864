"""Reading millions of commits to correct verdicts, beside Burrow and kminion on the same broker.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/catch_up.py --burrow PATH --kminion PATH

*Cold* is from process start. *Warm* is the same Spark session reading the topic again, as after a
cluster was away. `--baseline DIR` is a checkout of an older commit, for a cold run too. What is not
given is left out, and the result says so.

kminion says that it is ready 15 s after its start at the soonest, however soon it has read all: a
row of its own has the moment when it rests, by its CPU.
"""

import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from measured import cpu_seconds, get, peak_mb, wait_until, where, write
from monitors import (
    AT_MOST_S,
    GIVEN,
    Program,
    configure,
    fill,
    not_given,
    programs,
    scratch,
)

from warren.app import Monitor, monitoring, spark_session
from warren.config import load
from warren.demo.broker import Broker

PAUSE_S = {"warren": 0.1, "burrow": 1.0, "kminion": 0.2}
AT_REST = 0.2  # of a core; who reads takes more


class Run(NamedTuple):
    name: str
    seconds: float
    cpu_s: float
    peak_mb: float
    note: str = ""


@click.command()
@click.option("--baseline", type=GIVEN, help="A checkout of an older commit.")
@click.option("--burrow", type=GIVEN)
@click.option("--kminion", type=GIVEN)
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
@click.option("--repeat", default=3, help="Warm runs; the median counts.")
def main(
    baseline: Path | None,
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
        runs = [
            run
            for program in programs(baseline, burrow, kminion)
            for run in _cold(program, broker.bootstrap, directory, expect)
        ]
        runs[1:1] = _warren_warm(broker.bootstrap, directory, expect, repeat)
    left_out = not_given(baseline=baseline, Burrow=burrow, kminion=kminion)
    write("catch_up.md", _report(runs, groups * partitions * rounds, about, left_out))


def _cold(
    program: Program, bootstrap: str, directory: Path, expect: tuple[int, int, int]
) -> Iterator[Run]:
    with program.start(directory, bootstrap) as (pid, url):
        work = Work(pid)
        seconds = wait_until(
            lambda: work.look() and program.is_ready(url), PAUSE_S[program.kind], AT_MOST_S
        )
        used, peak = cpu_seconds(pid), peak_mb(pid)
        if program.kind == "warren":
            _check_answers(url, expect)
            yield Run(f"{program.name}, cold", seconds, used, peak)
            return
        if program.kind == "kminion":
            yield Run(f"{program.name}, at rest", work.until_s, work.cpu_s, peak, program.version)
        yield Run(program.name, seconds, used, peak, program.version)


class Work:
    """Until when a process was busy, by its CPU."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = self._looked = time.monotonic()
        self.until_s = self.cpu_s = 0.0
        self._cpu_s = cpu_seconds(pid)

    def look(self) -> bool:
        now, used = time.monotonic(), cpu_seconds(self._pid)
        if used - self._cpu_s > AT_REST * (now - self._looked):
            self.until_s, self.cpu_s = now - self._began, used
        self._looked, self._cpu_s = now, used
        return True


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


def _report(runs: list[Run], commits: int, about: str, left_out: str) -> str:
    ours = {"Warren, cold", "Warren, warm"}
    peers = [run for run in runs if run.name not in ours]
    beside = "".join(f" times {run.name} |" for run in peers)
    lines = [
        f"# Reading {commits:,} commits to verdicts",
        "",
        f"{about}. One broker, the same for all.",
        "",
        f"| | seconds | commits/s |{beside} CPU µs/commit | peak MB | |",
        "|---|---|---|" + "---|" * len(peers) + "---|---|---|",
    ]
    for run in runs:
        times = "".join(f" {peer.seconds / run.seconds:.2f} |" for peer in peers)
        lines.append(
            f"| {run.name} | {run.seconds:.1f} | {commits / run.seconds:,.0f} |{times} "
            f"{run.cpu_s / commits * 1e6:.1f} | {run.peak_mb:,.0f} | {run.note} |"
        )
    return "\n".join([*lines, *(["", left_out] if left_out else [])]) + "\n"


if __name__ == "__main__":
    main()
