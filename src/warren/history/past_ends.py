"""Reads log ends of the last week back, for who remembers them and was away for long.

Of the moments some are read: one of the last minute, then each about 10 % older than the one after
it. So a week is a hundred moments, and one is in memory at a time, whatever the table's size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from warren.errors import NoHistory
from warren.history import spark_queries
from warren.history.table import failures
from warren.history.table_files import UNREADABLE, TableFiles, read
from warren.model.period import Period
from warren.model.tables import GROUP, LOG_END, LOG_ENDS

WEEK_MS = 7 * 24 * 3_600_000
DENSE_MS, GROWTH = 60_000, 1.1
# Where in a span its newest moment is looked for: at first where it is if none is missing.
LOOKS_MS = (600_000, 3_600_000, WEEK_MS)


class PastRound(NamedTuple):
    """What was known at a moment: every end had been read shortly before it."""

    moment_ms: int
    ends: pa.Table  # LOG_ENDS; without topics whose partitions history adds up


def past_ends(
    files: TableFiles, spark: SparkSession, cluster: str, now_ms: int, back_ms: int = WEEK_MS
) -> Iterator[PastRound]:
    """Rounds of log ends, the oldest first; none if there is no table.

    Raises NotKept if the table cannot be read.
    """
    table = _Table(files, spark, cluster)
    with failures(f"log ends cannot be read from {files.directory}"):
        for span in reversed([*spans(now_ms, back_ms)]):
            moment_ms = _newest(table, span)
            if moment_ms is not None:
                ends = table.rows(Period(moment_ms, moment_ms), LOG_END)
                yield PastRound(moment_ms, _whole_topics(ends))


def spans(now_ms: int, back_ms: int) -> Iterator[Period]:
    """Times that follow each other backwards, each longer than the one after it."""
    age_ms = 0
    while age_ms < back_ms:
        older_ms = min(max(int(age_ms * GROWTH), age_ms + DENSE_MS), back_ms)
        yield Period(now_ms - older_ms + 1, now_ms - age_ms)
        age_ms = older_ms


def _newest(table: "_Table", span: Period) -> int | None:
    until_ms = span.until_ms
    for back_ms in LOOKS_MS:
        since_ms = max(until_ms - back_ms + 1, span.since_ms)
        newest: int | None = pc.max(
            table.rows(Period(since_ms, until_ms), GROUP)["moment_ms"]
        ).as_py()
        if newest is not None or since_ms == span.since_ms:
            return newest
    return None


class _Table:
    """Rows of one cluster: from the files, or from Spark where we cannot read those."""

    def __init__(self, files: TableFiles, spark: SparkSession, cluster: str) -> None:
        self._files, self._spark, self._cluster = files, spark, cluster

    def rows(self, period: Period, kind: str) -> pa.Table:
        columns = ["moment_ms"] if kind == GROUP else ["moment_ms", *LOG_ENDS.names]
        try:
            holding = self._files.holding(period, self._cluster)
            return read(holding, period, kinds=(kind,), columns=columns)
        except NoHistory:
            return pa.table({name: [] for name in columns})
        except UNREADABLE:
            return self._rows_by_spark(period, kind, columns)

    def _rows_by_spark(self, period: Period, kind: str, columns: list[str]) -> pa.Table:
        found = spark_queries.kept(self._spark, self._files.directory, period, self._cluster)
        some = found.rows.where(F.col("kind") == kind).select(*columns)
        return (some.distinct() if kind == GROUP else some).toArrow()


def _whole_topics(ends: pa.Table) -> pa.Table:
    single = ends.filter(ends["partition"].is_valid()).select(LOG_ENDS.names)
    return single.cast(LOG_ENDS)
