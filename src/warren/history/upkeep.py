"""Keeps the table small and quick to read: merges small files, drops old days.

A thread of its own, as merging an hour of a large cluster takes minutes; one task at a time, so
that it takes one core at most. Appends go on meanwhile, and readers see no difference: Delta keeps
replaced files for as long as anybody may be reading them.
"""

import threading
import time
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

import structlog
from pyspark.sql import Row, SparkSession

from warren.history import table
from warren.history.failures import failures

log = structlog.get_logger()

MERGE_S = 3600
AFTER_S = 300  # the hour: its last moments have been appended by then
HOURS_KEPT = 7 * 24  # of files that were replaced; as table.KEPT_FILES


class Upkeep:
    """Works beside the pipeline, once in an hour."""

    kind, name = "history", "upkeep"

    def __init__(self, spark: SparkSession, directory: str, days: int) -> None:
        self.problem = ""
        self.restarts = 0
        self._spark = spark
        self._directory = directory
        self._days = days
        self._told: dict[str, object] = {"merged_ms": None, "expired_ms": None}

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(_until_due(time.time())):
            with failures(f"the upkeep of history in {self._directory} failed"):
                self._work(datetime.now(UTC))

    def health(self) -> Mapping[str, object]:
        return self._told

    def _work(self, now: datetime) -> None:
        spark = table.session(self._spark)
        today, now_ms = now.date(), int(now.timestamp() * 1000)
        merge(spark, self._directory, today - timedelta(days=1))
        self._told["merged_ms"] = now_ms
        if now.hour == 0 or self._told["expired_ms"] is None:
            expire(spark, self._directory, today - timedelta(days=self._days))
            self._told["expired_ms"] = now_ms
        self.problem = ""


def _until_due(now: float) -> float:
    return MERGE_S - (now - AFTER_S) % MERGE_S


def merge(spark: SparkSession, directory: str, since: date) -> None:
    """Make the small files of these days into few; what they hold stays in its order."""
    began = time.monotonic()
    # Older days were merged when they were young.
    query = f"OPTIMIZE {_table(directory)} WHERE day >= DATE '{since}'"
    metrics = _first(spark, query).metrics
    log.info(
        "history: small files were merged",
        files=metrics.numFilesRemoved,
        into=metrics.numFilesAdded,
        bytes=metrics.filesAdded.totalSize,
        seconds=round(time.monotonic() - began, 1),
    )


def expire(spark: SparkSession, directory: str, before: date) -> None:
    """Drop the days before this one, and the files that nobody can be reading any more."""
    began = time.monotonic()
    dropped = _first(spark, f"DELETE FROM {_table(directory)} WHERE day < DATE '{before}'")  # noqa: S608  a date
    spark.sql(f"VACUUM {_table(directory)} RETAIN {HOURS_KEPT} HOURS")
    log.info(
        "history: old days were dropped",
        before=str(before),
        rows=dropped[0],
        seconds=round(time.monotonic() - began, 1),
    )


def _table(directory: str) -> str:
    return f"delta.`{directory.replace('`', '``')}`"


def _first(spark: SparkSession, query: str) -> Row:
    row = spark.sql(query).first()
    assert row is not None  # noqa: S101  these commands answer with one row
    return row
