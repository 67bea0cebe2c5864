"""Fills the last hours in memory from the table: after a start, and when another instance writes.

From the newest hour back, a slice at a time: the most requested hours come first, and no slice
takes much memory.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from warren.errors import NoHistory
from warren.history import spark_queries
from warren.history.keeper import FAR_AHEAD_MS
from warren.history.recent_hours import GROUPS_MS, HOUR_MS, PARTITIONS_MS, ROWS, Recent
from warren.history.table import POOL, failures
from warren.history.table_files import QUERIED, UNREADABLE, File, TableFiles, read, small
from warren.model.health import RecentHealth
from warren.model.period import Period
from warren.model.tables import GROUP, PARTITION

BOTH = (GROUP, PARTITION)
SLICE_ROWS = 1_000_000
LATE_MS = 60_000  # another instance may write a moment after a newer one of ours
POLL_S = 5.0  # for tables on this machine, where a look for new files is cheap


class Refill:
    """Runs beside the pipeline, on every instance."""

    kind, name = "history", "recent"

    def __init__(
        self,
        spark: SparkSession,
        files: TableFiles,
        recent: Recent,
        interval_s: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.problem = ""
        self.restarts = 0
        self._spark = spark
        self._files = files
        self._recent = recent
        self._pause_s = min(POLL_S, interval_s) if files.are_here else float(interval_s)
        self._clock = clock
        self._seen_ms = 0  # everything in the table up to then is in memory
        self._is_written_here = False

    def run(self, stop: threading.Event) -> None:
        with failures(f"the last hours of history cannot be read from {self._files.directory}"):
            self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", POOL)
            self.fill(stop)
            self.problem = ""
            while not stop.wait(self._pause_s):
                self._follow()
                self.problem = ""

    def health(self) -> RecentHealth:
        return self._recent.health(self.problem, self.restarts)

    def fill(self, stop: threading.Event) -> None:
        """Read the last hours from the table, as far as they fit into memory."""
        now_ms = int(self._clock() * 1000)
        self._seen_ms = now_ms - GROUPS_MS
        for period, kinds in self._slices(now_ms):
            if stop.is_set():
                return
            self._add(self._rows(period, kinds))
            if not self._recent.reach(period.since_ms, partitions=PARTITION in kinds):
                return  # memory is full

    def _slices(self, now_ms: int) -> Iterator[tuple[Period, Sequence[str]]]:
        """Backwards in time: hours with partitions, in slices of limited size, then groups only."""
        until, first = now_ms + FAR_AHEAD_MS, now_ms - PARTITIONS_MS
        count = self._count(Period(first, until))
        step = max(PARTITIONS_MS * SLICE_ROWS // max(count, SLICE_ROWS), 1000)
        since = now_ms
        while since > first:
            since = max(since - step, first)
            yield Period(since, until), BOTH
            until = since - 1
        while until > now_ms - GROUPS_MS:
            since = max(until - HOUR_MS, now_ms - GROUPS_MS)
            yield Period(since, until), (GROUP,)
            until = since - 1

    def _add(self, rows: pa.Table) -> None:
        self._recent.add(rows)
        self._seen_ms = max([self._seen_ms, *rows["moment_ms"].unique().to_pylist()])

    def _follow(self) -> None:
        """Add what another instance has written; what this one writes is in memory already."""
        period = Period(self._seen_ms + 1, int(self._clock() * 1000) + FAR_AHEAD_MS)
        try:
            holding = self._files.holding(period)
            missing = [file for file in holding if not self._has(file)]
            rows = read(missing, period, kinds=BOTH) if missing else ROWS.empty_table()
        except NoHistory:
            return
        except UNREADABLE:
            self._follow_with_spark(period)
        else:
            self._add(rows)
            # When these files are merged later, they need not be read again.
            newest = max((file.moments[1] or 0 for file in holding), default=0)
            self._seen_ms = max(self._seen_ms, newest - LATE_MS)

    def _has(self, file: File) -> bool:
        """Whether memory has all of a file; known only for a file of one moment."""
        first, last = file.moments
        return first is not None and first == last and self._recent.has(first, file.cluster)

    def _follow_with_spark(self, period: Period) -> None:
        """Spark is slow, so it reads nothing while this instance is the one that writes.

        It reads once more when this instance starts to: the last writer wrote until then.
        """
        is_written_here = self._recent.newest_ms > self._seen_ms
        if is_written_here and self._is_written_here:
            self._seen_ms = self._recent.newest_ms
        else:
            self._add(self._rows(period, BOTH))
        self._is_written_here = is_written_here

    def _rows(self, period: Period, kinds: Sequence[str]) -> pa.Table:
        try:
            found = small(self._files, period, kinds=kinds)
            if found is not None:
                return found.rows
            rows = spark_queries.kept(self._spark, self._files.directory, period).rows
            return rows.where(F.col("kind").isin(*kinds)).select(*QUERIED).toArrow()
        except NoHistory:
            return ROWS.empty_table()

    def _count(self, period: Period) -> int:
        try:
            return sum(file.rows for file in self._files.holding(period))
        except NoHistory:
            return 0
        except UNREADABLE:
            return self._count_with_spark(period)

    def _count_with_spark(self, period: Period) -> int:
        try:
            return spark_queries.kept(self._spark, self._files.directory, period).rows.count()
        except NoHistory:
            return 0
