"""What a back-test costs: seven days of 100,000 partitions, on two cores.

    PYTHONPATH=src .venv/bin/python benchmarks/backtest.py [--partitions N] [--hours H] [--keep DIR]

The history would take Warren seven days to keep. It is written without Spark, a file an hour, in
the layout that merging leaves: the rows are those that Warren keeps, in the same order. One
partition in five lags, one in a thousand stands still for good, and one group in twenty does for
the first ten minutes of every hour. `--keep` leaves the history in a directory, for another run.

Replayed is it under policies that change the limits of every partition.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from boards import MINUTE_MS, board
from history import FINE, HOUR, START_MS, WIDTH, size
from measured import cpu_seconds, where, write

from warren.backtest.replay import Where, moments_of, replay
from warren.backtest.stance import Stance
from warren.evaluate.word_rules import say
from warren.history import table
from warren.history.board_rows import ROWS, rows
from warren.model.board import ClusterBoard
from warren.model.figures import Figures
from warren.model.grounds import Grounds, LineSettings, Sign
from warren.model.judgement import Judgement, Word
from warren.model.period import Period
from warren.model.policies import Policy
from warren.notify import incidents
from warren.spark.session import start_session, stop_session

DAY = 24
FULL_HOURS, FULL_PARTITIONS = 7 * DAY, 100_000
STANDS, TROUBLED = 1000, 20  # one partition, one group in so many
TROUBLE = 10  # minutes of an hour
PAGER = {"page": incidents.Policy("page", send_once=True)}
IN_FORCE = Stance(says_words=True, allowed_lag=0, policies=(), silences=(), notifiers=PAGER)
POLICIES = (
    Policy("few", groups=("group-00000[0-4].*",), max_time_lag_s=180.0, grace_s=60.0),
    Policy("many", groups=("group-.*",), allowed_lag=50, max_time_lag_s=120.0, grace_s=300.0),
)


def judged(cluster: ClusterBoard, moment_ms: int) -> ClusterBoard:
    """With words: what stands does so since the start, or since the hour began."""
    partitions = cluster.verdicts.partitions
    lines = len(partitions.status)
    line, minute = np.arange(lines), (moment_ms - START_MS) // MINUTE_MS % HOUR
    troubled = (partitions.topic % TROUBLED == 0) & (minute < TROUBLE)
    since_ms = np.where(line % STANDS == 0, START_MS, moment_ms - minute * MINUTE_MS)
    stands = (line % STANDS == 0) | troubled
    last_ms = np.where(stands, since_ms, partitions.end.committed_ms)
    edge = replace(partitions.end, committed_ms=last_ms)
    lag = np.where(stands, np.maximum(partitions.current_lag, 100), partitions.current_lag)
    age_s = np.where(stands, (moment_ms - last_ms) / 1000, lag % 60).astype(np.float32)
    grounds = Grounds(
        as_of_ms=np.full(lines, moment_ms - 2_000),
        last_ms=last_ms,
        held_ms=np.where(lag > 0, last_ms, 0),
        unread=lag,
        age_low_s=age_s,
        learned_s=np.full(lines, np.float32(240)),
        signs=np.full(lines, np.int16(Sign.COMMITTED)),
    )
    nan = np.full(lines, np.nan)
    settings = LineSettings(np.zeros(lines, np.int64), nan, nan)
    word = say(grounds, settings).word
    nothing, none = np.zeros(lines, np.float32), np.zeros(lines, np.uint8)
    since_s = np.where(word == Word.OK, 0, since_ms // 1000 + 240).astype(np.uint32)
    judgement = Judgement(
        word=word,
        before=word,
        since_s=since_s,
        burrow=partitions.status,
        silent_s=nothing,
        held_s=nothing,
        limit_s=nothing,
        longest_pause_s=nothing,
        period_s=nothing,
        usual_gap_s=nothing,
        former=partitions.end.offset,
        group_word=none,
        group_burrow=none,
        pages=none,
        figures=Figures.join([]),
        grounds=grounds,
        settings=settings,
    )
    told = replace(partitions, current_lag=lag, end=edge)
    numbers = replace(
        cluster.numbers, partitions=replace(cluster.numbers.partitions, age_low_s=age_s)
    )
    verdicts = replace(cluster.verdicts, partitions=told)
    return replace(cluster, verdicts=verdicts, numbers=numbers, judgement=judgement)


def moment(partitions: int, minute: int) -> pa.Table:
    moment_ms = START_MS + minute * MINUTE_MS
    made = board(max(partitions // WIDTH, 1), min(WIDTH, partitions), moment_ms)
    with_words = replace(made, clusters={"local": judged(made.clusters["local"], moment_ms)})
    return rows(with_words, ["local"], FINE)


def an_hour(directory: str, partitions: int, hour: int) -> None:
    """A file as merging leaves it."""
    folder = Path(directory, f"day=2026-11-{1 + hour // DAY:02}", "cluster=local")
    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([field for field in ROWS if field.name not in table.PARTITIONED_BY])
    file = folder / f"part-{hour:05}.zstd.parquet"
    if file.exists():
        return
    with pq.ParquetWriter(
        f"{file}.part",
        schema,
        compression="zstd",
        data_page_version="2.0",
        max_rows_per_page=10_000,
        write_page_index=True,
        store_schema=False,
    ) as writer:
        for minute in range(hour * HOUR, (hour + 1) * HOUR):
            writer.write_table(moment(partitions, minute).select(schema.names))
    Path(f"{file}.part").rename(file)


def make_history(directory: str, partitions: int, hours: int) -> float:
    began = time.perf_counter()
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        pool.starmap(an_hour, [(directory, partitions, hour) for hour in range(hours)])
    return time.perf_counter() - began


def measure(directory: str, hours: int) -> Sequence[str]:
    started = start_session("local[2]", "benchmark", {}, "2g")
    try:
        spark = table.session(started)
        shutil.rmtree(f"{directory}/_delta_log", ignore_errors=True)  # of fewer hours, if kept
        by = "PARTITIONED BY (day DATE, cluster STRING)"
        spark.sql(f"CONVERT TO DELTA parquet.`{directory}` NO STATISTICS {by}")
        asked = Where(directory, Period(START_MS, START_MS + hours * HOUR * MINUTE_MS - 1))
        began, used = time.perf_counter(), cpu_seconds(os.getpid())
        moments = moments_of(spark, asked)
        listed = time.perf_counter() - began
        found = replay(spark, asked, moments, (IN_FORCE, IN_FORCE._replace(policies=POLICIES)))
        took, cpu = time.perf_counter() - began, cpu_seconds(os.getpid()) - used
    finally:
        stop_session(started)
    assert found.differing == 0
    assert len(moments["local"]) == hours * HOUR
    sides = found.pages["side"].to_pylist()
    return [
        f"| back-test, s | {took:.1f} ({cpu:.1f} CPU s of this process and Spark's) |",
        f"| of these until the moments were known, s | {listed:.1f} |",
        f"| verdicts replayed | {found.replayed:,} |",
        f"| verdicts a second | {found.replayed / took:,.0f} |",
        f"| pages as configured, as proposed | {sides.count('did'):,}, {sides.count('would'):,} |",
        f"| the full size at this pace, s | {full_size_s(took, found.replayed):,.0f} |",
    ]


def full_size_s(took: float, replayed: int) -> float:
    return took * FULL_PARTITIONS * FULL_HOURS * HOUR / replayed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, default=FULL_PARTITIONS)
    parser.add_argument("--hours", type=int, default=FULL_HOURS)
    parser.add_argument("--keep", metavar="DIR", default="")
    options = parser.parse_args()
    machine, folder = where(), options.keep or tempfile.mkdtemp(prefix="warren-backtest-")
    try:
        made = make_history(f"{folder}/table", options.partitions, options.hours)
        lines = [
            f"| making the history, s | {made:.0f} |",
            f"| its size, GB | {size(f'{folder}/table') / 1e9:.2f} |",
            *measure(f"{folder}/table", options.hours),
        ]
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    title = f"# Back-test of {options.hours} h of {options.partitions:,} partitions"
    text = [title, "", f"{machine}.", "", "| | |", "|---|---:|", *lines, ""]
    write("backtest.md", "\n".join(text))


if __name__ == "__main__":
    main()
