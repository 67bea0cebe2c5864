"""What history costs: an append, the disk, merging, a report over a day.

    PYTHONPATH=src .venv/bin/python benchmarks/history.py [--partitions N] [--hours H]

The day for the report is written ten moments at a time, much as merging leaves it. A whole day of
500,000 partitions takes more than an hour to make and 10 GB; fewer hours or partitions take less.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
from boards import MINUTE_MS, board
from measured import cpu_seconds, where, write
from pyspark.sql import SparkSession

from warren.config import History
from warren.history import queries, report, table, upkeep
from warren.history.granularity import Granularity
from warren.history.period import Period
from warren.history.rows import rows
from warren.session import start_session, stop_session

WIDTH = 1000  # partitions of a group
WARM, MEASURED = 4, 6  # appends
START_MS = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 60
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


def merging(spark: SparkSession, directory: str, partitions: int) -> list[str]:
    began, used = time.perf_counter(), cpu_seconds(os.getpid())
    upkeep.merge(spark, directory, "day >= DATE '2026-11-01'")
    took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    files = spark.read.format("delta").load(directory).inputFiles()
    merged = sum(Path(urlsplit(name).path).stat().st_size for name in files)
    moments = WARM + MEASURED
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
    made = report.make(queries.kept(spark, directory, period), period, top=20)
    took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    assert len(made.topics) > 0
    count = hours * HOUR * partitions
    return [
        f"| report over {hours} h, {count:,} rows of partitions, s | {took:.1f} ({cpu:.1f} CPU s) |"
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, default=500_000)
    parser.add_argument("--hours", type=int, default=2)
    options = parser.parse_args()
    machine, folder = where(), tempfile.mkdtemp(prefix="warren-history-")
    started = start_session("local[2]", "benchmark", {}, "2g")
    try:
        spark = table.session(started)
        lines = [
            *appends(spark, f"{folder}/appended", options.partitions),
            *merging(spark, f"{folder}/appended", options.partitions),
            *a_report(spark, f"{folder}/day", options.partitions, options.hours),
        ]
    finally:
        stop_session(started)
        shutil.rmtree(folder)
    title = f"# History of {options.partitions:,} partitions, each with a log end of its own"
    write(
        "history.md", "\n".join([title, "", f"{machine}.", "", "| | |", "|---|---:|", *lines, ""])
    )


if __name__ == "__main__":
    main()
