"""Keeps the table small and fast to read: merges small files, drops old days.

In a thread of its own, as merging an hour of a large cluster takes minutes; one task at a time, to
use one core at most. Appends continue meanwhile, and readers see no difference: Delta keeps
replaced files for as long as somebody may read them.
"""

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

import structlog
from pyspark.sql import Row, SparkSession

from warren.errors import NotKept
from warren.history import table
from warren.history.table import failures
from warren.model.health import UpkeepHealth

log = structlog.get_logger()

MERGE_S = 3600
AFTER_S = 300  # past the hour, when its last moments have been appended
DONE = ("merged_ms", "expired_ms", "merged_older_ms")  # when each task last succeeded
HOURS_KEPT = 7 * 24  # of files that were replaced; as table.KEPT_FILES


class Upkeep:
    """Runs beside the pipeline, once an hour."""

    kind, name = "history", "upkeep"

    def __init__(
        self,
        spark: SparkSession,
        directory: str,
        days: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.problem = ""
        self.restarts = 0
        self._spark = spark
        self._directory = directory
        self._days = days
        self._clock = clock
        self._done_ms: dict[str, int | None] = dict.fromkeys(DONE)

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(_until_due(self._clock())):
            self._work(datetime.fromtimestamp(self._clock(), UTC))

    def health(self) -> UpkeepHealth:
        return UpkeepHealth(
            self.problem,
            self.restarts,
            merged_ms=self._done_ms["merged_ms"],
            expired_ms=self._done_ms["expired_ms"],
            merged_older_ms=self._done_ms["merged_older_ms"],
        )

    def _work(self, now: datetime) -> None:
        """Run all due tasks; one that fails does not stop the others."""
        with failures(self._failed()):
            spark = table.session(self._spark)
        now_ms, problems = int(now.timestamp() * 1000), []
        for name, work in self._due(spark, now):
            try:
                with failures(self._failed()):
                    work()
                self._done_ms[name] = now_ms
            except NotKept as problem:
                problems.append(problem)
        if problems:
            raise problems[0]
        self.problem = ""

    def _failed(self) -> str:
        return f"the upkeep of history in {self._directory} failed"

    def _due(self, spark: SparkSession, now: datetime) -> Iterator[tuple[str, Callable[[], None]]]:
        yesterday = now.date() - timedelta(days=1)
        yield "merged_ms", lambda: merge(spark, self._directory, f"day >= DATE '{yesterday}'")
        if now.hour == 0 or self._done_ms["expired_ms"] is None:
            before = now.date() - timedelta(days=self._days)
            yield "expired_ms", lambda: expire(spark, self._directory, before)
            # They were merged before, unless Warren was down then.
            older = f"day < DATE '{yesterday}'"
            yield "merged_older_ms", lambda: merge(spark, self._directory, older)


def _until_due(now: float) -> float:
    return MERGE_S - (now - AFTER_S) % MERGE_S


def merge(spark: SparkSession, directory: str, days: str) -> None:
    """Merge the small files of these days into few; rows keep their order."""
    began = time.monotonic()
    metrics = _first(spark, f"OPTIMIZE {_table(directory)} WHERE {days}").metrics
    log.info(
        "history: small files were merged",
        files=metrics.numFilesRemoved,
        into=metrics.numFilesAdded,
        bytes=metrics.filesAdded.totalSize,
        seconds=round(time.monotonic() - began, 1),
    )


def expire(spark: SparkSession, directory: str, before: date) -> None:
    """Drop the days before this one, and files that nobody can still be reading."""
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
