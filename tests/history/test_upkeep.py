"""Upkeep by the clock: what is due when, and what a failure keeps from being done."""

import itertools
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.history_rows import group, moment

from warren.errors import NotKept
from warren.history import table
from warren.history.upkeep import Upkeep
from warren.model.health import UpkeepHealth

DEADLINE_S = 240
DAYS = 10


def at(day: int, hour: int, minute: int = 5) -> float:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp()


def fill(spark: SparkSession, directory: Path, *days: int) -> None:
    """Two moments, each in a file of its own, on each of these days of November."""
    own = table.session(spark)
    table.make(own, str(directory))
    for day, hour in itertools.product(days, (1, 2)):
        rows = moment(int(at(day, hour) * 1000), [group("billing", 1, 0)])
        table.append(own, str(directory), rows, "test")


def files(spark: SparkSession, directory: Path) -> dict[int, int]:
    """How many files each day has."""
    kept = spark.read.format("delta").load(str(directory))
    days = [name.split("day=2026-11-")[1][:2] for name in kept.inputFiles()]
    return {int(day): days.count(day) for day in days}


def run_at(upkeep: Upkeep, is_done: threading.Event) -> None:
    thread = threading.Thread(target=upkeep.run, args=(is_done,))
    thread.start()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()


def test_small_files_are_merged_and_old_days_dropped_when_due(
    spark: SparkSession, tmp_path: Path
) -> None:
    fill(spark, tmp_path, 1, 12, 15, 16)
    stop, asked = threading.Event(), iter((at(16, 9) - 0.05, at(16, 9)))

    def clock() -> float:
        """Nearly due, then due; whoever asks again has done the work."""
        now = next(asked, None)
        if now is None:
            stop.set()
        return now or at(16, 9, 30)

    upkeep = Upkeep(spark, str(tmp_path), DAYS, clock)

    run_at(upkeep, stop)

    # Of the day before yesterday as well: nobody was there to merge it when it was young.
    assert files(spark, tmp_path) == {12: 1, 15: 1, 16: 1}
    due_ms = int(at(16, 9) * 1000)
    assert upkeep.health() == UpkeepHealth("", 0, None, due_ms, due_ms, due_ms)


def test_days_are_dropped_though_merging_fails(spark: SparkSession, tmp_path: Path) -> None:
    fill(spark, tmp_path, 1, 15)
    for file in tmp_path.glob("day=2026-11-15/*/*.parquet"):
        file.write_bytes(b"damaged")
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    times = iter((at(16, 9) - 0.05, at(16, 9)))
    upkeep = Upkeep(spark, str(tmp_path), DAYS, lambda: next(times))

    with pytest.raises(NotKept, match=r"the upkeep of history in .* failed"):
        upkeep.run(threading.Event())

    assert files(spark, tmp_path) == {15: 2}
    assert upkeep.health().merged_ms is None
    assert upkeep.health().expired_ms == int(at(16, 9) * 1000)
