"""What history costs: an append, a tick beside it, the disk, merging, a report, a question.

    PYTHONPATH=src .venv/bin/python benchmarks/history.py [--partitions N] [--hours H]
    PYTHONPATH=src .venv/bin/python benchmarks/history.py --questions

`--questions` asks a small table (11 groups of 3 partitions, 130 moments, each a commit of its own)
in all the ways there are, and times the commands, Python's start included.

Ticks are judgements of as many partitions as history is kept of, one after the other in a thread of
this process, as in Warren; once with nothing beside them, once while moments are appended.

The day for the report would take Warren a day to keep. It is written without Spark, a file an hour,
in the layout that merging leaves: the rows are those that Warren keeps, in the same order.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from boards import MINUTE_MS, board
from measured import cpu_seconds, where, write
from pyspark.sql import SparkSession
from tick import INTERVALS, NOW, Logs

from warren.config import HistorySettings
from warren.evaluate.judge import JudgeSettings, judge
from warren.history import spark_queries, table, table_files, upkeep
from warren.history.board_rows import ROWS, row_granularity, rows
from warren.history.refill import Refill
from warren.history.report import summary
from warren.history.service import HistoryService
from warren.model.history_question import HistoryQuestion
from warren.model.period import Period
from warren.spark.session import start_session, stop_session
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

WIDTH = 1000  # partitions of a group
WARM, MEASURED = 4, 6  # appends
START_MS = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 60
ONE = "group-000000-of-some-service"
MOMENTS = 130  # of the small table
BESIDE = 6  # appends
ALONE_S, BETWEEN_S = 10.0, 0.2  # of ticks
FINE = row_granularity(HistorySettings())


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
        logs = Logs(partitions)
        self._windows.set_log_ends(logs.ends(NOW), logs.counts)
        for turn in range(INTERVALS):
            for batch in logs.commits(turn):
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
            judge(window_arrays(self._windows), JudgeSettings(), NOW + 5 * INTERVALS)
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


def an_hour(directory: str, partitions: int, hour: int) -> None:
    """A file as merging leaves it."""
    folder = Path(directory, "day=2026-11-01", "cluster=local")
    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([field for field in ROWS if field.name not in table.PARTITIONED_BY])
    with pq.ParquetWriter(
        folder / f"part-{hour:05}.zstd.parquet",
        schema,
        compression="zstd",
        data_page_version="2.0",
        max_rows_per_page=10_000,
        write_page_index=True,
        store_schema=False,
    ) as writer:
        for minute in range(hour * HOUR, (hour + 1) * HOUR):
            writer.write_table(moment(partitions, minute).select(schema.names))


def a_report(spark: SparkSession, directory: str, partitions: int, hours: int) -> list[str]:
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        pool.starmap(an_hour, [(directory, partitions, hour) for hour in range(hours)])
    by = "PARTITIONED BY (day DATE, cluster STRING)"  # a single day, of which all is read
    spark.sql(f"CONVERT TO DELTA parquet.`{directory}` NO STATISTICS {by}")
    period = Period(START_MS, START_MS + hours * HOUR * MINUTE_MS)
    began, used = time.perf_counter(), cpu_seconds(os.getpid())
    kept = spark_queries.kept(spark, directory, period)
    with kept.cached():
        made = summary.make(kept, period, top=20)
    took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    assert len(made.topics) > 0
    what = f"report over {hours} h, {kept.rows.count():,} rows, {size(directory) / 1e9:.1f} GB, s"
    return [f"| {what} | {took:.1f} ({cpu:.1f} CPU s) |"]


def small_table(spark: SparkSession, directory: str, until_ms: int) -> None:
    table.make(spark, directory)
    for number in range(MOMENTS):
        made = board(11, 3, until_ms - (MOMENTS - number) * MINUTE_MS)
        table.append(spark, directory, rows(made, ["local"], FINE), "benchmark")


def timed(ask: Callable[[], object], times: int) -> str:
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        assert ask()
        seconds.append(time.perf_counter() - began)
    return f"{statistics.median(seconds):.3f} (most {max(seconds):.3f})"


def questions(spark: SparkSession, directory: str) -> list[str]:
    now_ms = int(time.time() * 1000)
    small_table(spark, directory, now_ms)
    reader = HistoryService(directory)
    reader.begin(spark)
    Refill(spark, reader.files, reader.recent, 60).fill(threading.Event())
    asked = HistoryQuestion("local", ONE, Period(now_ms - 6 * HOUR * MINUTE_MS, now_ms), 200)
    lines = [
        f"| 6 h of a group from memory, s | {timed(lambda: reader.from_memory(asked), 20)} |",
        f"| from the table's files, s | {timed(lambda: reader.from_table(asked), 20)} |",
    ]
    table_files.SMALL_ROWS = -1
    lines.append(f"| by Spark, s | {timed(lambda: reader.from_table(asked), 5)} |")
    for command in (["report"], ["history", ONE]):
        full = [sys.executable, "-m", "warren", *command, "--directory", directory]
        took = timed(lambda: subprocess.run(full, check=True, capture_output=True), 3)  # noqa: B023  at once; ours
        lines.append(f"| `warren {' '.join(command)}`, s | {took} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", action="store_true")
    parser.add_argument("--partitions", type=int, default=500_000)
    parser.add_argument("--hours", type=int, default=24)
    options = parser.parse_args()
    machine, folder = where(), tempfile.mkdtemp(prefix="warren-history-")
    started = start_session("local[2]", "benchmark", {}, "2g")
    try:
        spark = table.session(started)
        if options.questions:
            lines = ["| | |", "|---|---:|", *questions(spark, f"{folder}/small")]
            title = "# Questions about the past, of a table of 11 groups and 130 moments"
            write("history_questions.md", "\n".join([title, "", f"{machine}.", "", *lines, ""]))
            return
        lines = [
            *appends(spark, f"{folder}/appended", options.partitions),
            *ticks_beside_appends(spark, f"{folder}/appended", options.partitions),
            *merging(spark, f"{folder}/appended", options.partitions),
        ]
        lines += a_report(spark, f"{folder}/past", options.partitions, options.hours)
    finally:
        stop_session(started)
        shutil.rmtree(folder)
    title = f"# History of {options.partitions:,} partitions, each with a log end of its own"
    write(
        "history.md", "\n".join([title, "", f"{machine}.", "", "| | |", "|---|---:|", *lines, ""])
    )


if __name__ == "__main__":
    main()
