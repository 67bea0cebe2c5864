"""What history costs: an append, a tick beside it, the disk, merging, a report.

    PYTHONPATH=src .venv/bin/python benchmarks/history.py [--partitions N] [--hours H ...]

Ticks are judgements of as many partitions as history is kept of, one after the other in a thread of
this process, as in Warren; once with nothing beside them, once while moments are appended.

The past for the report is written ten moments at a time, much as merging leaves it. A whole day of
500,000 partitions takes more than an hour to make, and 10 GB: so reports are measured over a few
hours of them, each of which tells how many rows of the table it went through in a second, and over
a whole day of a thirtieth as many partitions.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pyarrow as pa
from boards import MINUTE_MS, board
from measured import cpu_seconds, where, write
from pyspark.sql import SparkSession
from tick import INTERVALS, NOW, commits, log_ends

from warren.config import History
from warren.evaluate.verdicts import Settings, judge
from warren.history import queries, report, table, upkeep
from warren.history.granularity import Granularity
from warren.history.period import Period
from warren.history.rows import rows
from warren.session import start_session, stop_session
from warren.windows.view import histories
from warren.windows.windows import Windows

WIDTH = 1000  # partitions of a group
WARM, MEASURED = 4, 6  # appends
START_MS = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 60
DAY, FEWER = 24, 30  # hours, and of how many times fewer partitions they are
BESIDE = 6  # appends
ALONE_S, BETWEEN_S = 10.0, 0.2  # of ticks
TOGETHER = 10  # moments of a file, in the day for the report: more would not fit in memory
FINE = Granularity(History())


def moment(partitions: int, minute: int) -> pa.Table:
    made = board(max(partitions // WIDTH, 1), min(WIDTH, partitions), START_MS + minute * MINUTE_MS)
    return rows(made, ["local"], FINE)


def size(directory: str) -> int:
    return sum(file.stat().st_size for file in Path(directory).glob("day=*/*/*.parquet"))


def appends(spark: SparkSession, directory: str, partitions: int) -> list[str]:
    table.make(spark, directory)
    seconds, cpu, bytes_ = [], [], []
    for minute in range(WARM + MEASURED):
        made = board(
            max(partitions // WIDTH, 1), min(WIDTH, partitions), START_MS + minute * MINUTE_MS
        )
        before, used, began = size(directory), cpu_seconds(os.getpid()), time.perf_counter()
        table.append(spark, directory, rows(made, ["local"], FINE), "benchmark")
        if minute >= WARM:
            seconds.append(time.perf_counter() - began)
            cpu.append(cpu_seconds(os.getpid()) - used)
            bytes_.append(size(directory) - before)
    return [
        f"| append, warm, s | {statistics.median(seconds):.2f} (most {max(seconds):.2f}) |",
        f"| append, CPU s | {statistics.median(cpu):.2f} |",
        f"| a partition with its log end, bytes a moment | {bytes_[-1] / partitions:.1f} |",
    ]


class Ticks:
    """Judges again and again, in a thread, and notes how long it takes each time."""

    def __init__(self, partitions: int) -> None:
        self._windows = Windows(INTERVALS)
        counts = {f"topic-{number}": WIDTH for number in range(partitions // WIDTH)}
        self._windows.set_log_ends(log_ends(partitions), counts)
        for turn in range(INTERVALS):
            for batch in commits(partitions, turn):
                self._windows.fold(batch, NOW)
        self._seconds: list[float] = []
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        self._seconds, self._stop = [], threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(BETWEEN_S):
            began = time.perf_counter()
            judge(histories(self._windows), Settings(), NOW + 5 * INTERVALS)
            self._seconds.append(time.perf_counter() - began)

    def told(self) -> str:
        return f"{statistics.median(self._seconds):.3f} (most {max(self._seconds):.3f})"


def ticks_beside_appends(spark: SparkSession, directory: str, partitions: int) -> list[str]:
    ticks = Ticks(partitions)
    with ticks:
        time.sleep(ALONE_S)
    alone = ticks.told()
    first = WARM + MEASURED
    moments = [moment(partitions, minute) for minute in range(first, first + BESIDE)]
    with ticks:
        for rows_of_moment in moments:
            table.append(spark, directory, rows_of_moment, "benchmark")
    return [
        f"| tick, nothing beside it, s | {alone} |",
        f"| tick while moments are appended without a pause, s | {ticks.told()} |",
    ]


def merging(spark: SparkSession, directory: str, partitions: int) -> list[str]:
    began, used = time.perf_counter(), cpu_seconds(os.getpid())
    upkeep.merge(spark, directory, "day >= DATE '2026-11-01'")
    took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    files = spark.read.format("delta").load(directory).inputFiles()
    merged = sum(Path(urlsplit(name).path).stat().st_size for name in files)
    moments = WARM + MEASURED + BESIDE
    day_mb = merged / moments / partitions * 1440 / 1e6
    return [
        f"| merging, s a moment | {took / moments:.2f} ({cpu / moments:.2f} CPU s) |",
        f"| a partition with its log end, MB a day, merged | {day_mb:.4f} |",
    ]


def a_report(spark: SparkSession, directory: str, partitions: int, hours: int) -> list[str]:
    table.make(spark, directory)
    for first in range(0, hours * HOUR, TOGETHER):
        some = [moment(partitions, minute) for minute in range(first, first + TOGETHER)]
        table.append(spark, directory, pa.concat_tables(some).unify_dictionaries(), "benchmark")
    period = Period(START_MS, START_MS + hours * HOUR * MINUTE_MS)
    began, used = time.perf_counter(), cpu_seconds(os.getpid())
    kept = queries.kept(spark, directory, period)
    made = report.make(kept, period, top=20)
    took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    assert len(made.topics) > 0
    count = kept.count()
    what = f"report over {hours} h of {partitions:,} partitions, {count:,} rows, s"
    return [f"| {what} | {took:.1f} ({cpu:.1f} CPU s), {count / took:,.0f} rows/s |"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, default=500_000)
    parser.add_argument("--hours", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args()
    machine, folder = where(), tempfile.mkdtemp(prefix="warren-history-")
    started = start_session("local[2]", "benchmark", {}, "2g")
    try:
        spark = table.session(started)
        lines = [
            *appends(spark, f"{folder}/appended", options.partitions),
            *ticks_beside_appends(spark, f"{folder}/appended", options.partitions),
            *merging(spark, f"{folder}/appended", options.partitions),
        ]
        for hours in options.hours:
            lines += a_report(spark, f"{folder}/{hours}h", options.partitions, hours)
            shutil.rmtree(f"{folder}/{hours}h")
        few = max(options.partitions // FEWER, WIDTH)
        lines += a_report(spark, f"{folder}/day", few, DAY)
    finally:
        stop_session(started)
        shutil.rmtree(folder)
    title = f"# History of {options.partitions:,} partitions, each with a log end of its own"
    write(
        "history.md", "\n".join([title, "", f"{machine}.", "", "| | |", "|---|---:|", *lines, ""])
    )


if __name__ == "__main__":
    main()
