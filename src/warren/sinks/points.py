"""History as points, with the measurements, tags and fields of Telegraf's burrow input.

A batch is cut into chunks that fit into memory, and each chunk into requests.

One shape for every store of time series, so that what was built on Telegraf goes on working. Warren
adds fields of its own for the numbers that Telegraf has no names for. A null is a tag or a field
that the point does not have; no store gets a number that is not finite. While a store is slow or
down a thread of ours waits: a Spark task would keep a core from the pipeline.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.model.numbers import Method
from warren.model.status import Status
from warren.model.tables import GROUP, LOG_END, PARTITION

CHUNK_ROWS = 250_000  # some 50 MB of text; two are in memory at a time


class Span(NamedTuple):
    """Consecutive moments; `parts` > 1: one part of a moment that is too large."""

    first_ms: int
    last_ms: int
    part: int = 0
    parts: int = 1


def chunks(rows: DataFrame, limit: int = CHUNK_ROWS) -> Iterator[tuple[int, DataFrame]]:
    """Yield the batch in chunks, each with the last moment that it completes, or 0."""
    counts = rows.groupBy("moment_ms").count().toArrow().sort_by("moment_ms").to_pylist()
    for span in spans([(row["moment_ms"], row["count"]) for row in counts], limit):
        some = rows.where(F.col("moment_ms").between(span.first_ms, span.last_ms))
        if span.parts > 1:
            part = F.pmod(F.xxhash64("group", "topic", "partition"), F.lit(span.parts))
            some = some.where(part == span.part)
        yield span.last_ms if span.part == span.parts - 1 else 0, some


def spans(counts: Iterable[tuple[int, int]], limit: int) -> Iterator[Span]:
    """Combine moments, in order, up to `limit` rows."""
    first = last = None
    held = 0
    for moment_ms, count in counts:
        if first is not None and last is not None and held + count > limit:
            yield from _parts(first, last, held, limit)
            first, held = None, 0
        first = moment_ms if first is None else first
        last, held = moment_ms, held + count
    if first is not None and last is not None:
        yield from _parts(first, last, held, limit)


def _parts(first: int, last: int, held: int, limit: int) -> Iterator[Span]:
    parts = -(-held // limit)
    for part in range(parts):
        yield Span(first, last, part, parts)


def slices(texts: pa.ChunkedArray, size: int) -> Iterator[pa.Array]:
    """Yield at most `size` texts at a time."""
    for chunk in texts.chunks:
        for begin in range(0, len(chunk), size):
            yield chunk[begin : begin + size]


def body(texts: pa.Array) -> memoryview:
    """The texts joined, without a copy: that is how they lie in memory already."""
    _, places, data = texts.buffers()
    offsets = memoryview(places).cast("i")
    return memoryview(data)[offsets[texts.offset] : offsets[texts.offset + len(texts)]]


MEASUREMENTS = {GROUP: "burrow_group", PARTITION: "burrow_partition", LOG_END: "burrow_topic"}
TAGS = ("cluster", "group", "owner", "partition", "topic")  # sorted, as Telegraf writes them
COUNTS = ("lag", "offset", "partition_count", "timestamp", "total_lag")  # whole numbers
# Warren's own fields, named as the columns of history.
OWN_COUNTS = (  # whole numbers
    *("lag_low", "lag_high", "lost", "scalable_lag", "never_drains", "will_lose"),
)
OWN_SECONDS = (
    *("age_s", "age_low_s", "age_high_s"),
    *("drain_low_s", "drain_high_s", "margin_s", "expires_s"),
)
OWN_WORDS = ("age_method",)
OWN = (*OWN_COUNTS, *OWN_SECONDS, *OWN_WORDS)
# Telegraf's numbers, not Burrow's; it has none for REWIND and writes 0.
STATUS_CODES = {
    Status.OK: 1,
    Status.NOTFOUND: 2,
    Status.WARN: 3,
    Status.ERR: 4,
    Status.STOP: 5,
    Status.STALL: 6,
    Status.REWIND: 0,
}


def points(history: DataFrame) -> DataFrame:
    """Turn each row of history into a point."""
    is_group, is_end = F.col("kind") == GROUP, F.col("kind") == LOG_END
    return history.select(
        "moment_ms",
        _translated("kind", MEASUREMENTS).alias("measurement"),
        *("cluster", "group", "topic", "owner"),
        F.col("partition").cast("string").alias("partition"),
        F.when(is_group, F.col("max_lag")).when(~is_end, F.col("lag")).alias("lag"),
        _known("offset").alias("offset"),
        F.when(is_group, F.col("partitions").cast("long")).alias("partition_count"),
        F.when(~is_end, _known("committed_ms")).alias("timestamp"),
        F.when(is_group, F.col("lag")).alias("total_lag"),
        _translated("status", {status: status.name for status in Status}).alias("status"),
        _translated("status", STATUS_CODES).alias("status_code"),
        *("lag_low", "lag_high", "lost", "scalable_lag"),
        # No store could hold the time until something that will never be, or compares two fields.
        (F.col("drain_low_s") == _ENDLESS).cast("long").alias("never_drains"),
        (F.col("margin_s") < F.col("drain_low_s")).cast("long").alias("will_lose"),
        *(_finite(name).alias(name) for name in OWN_SECONDS),
        _translated("age_method", _METHODS).alias("age_method"),
    )


_ENDLESS = float("inf")
_METHODS = {each: each.name.lower() for each in Method if each is not Method.UNKNOWN}


def _finite(column: str) -> Column:
    # For Spark, NaN is greater than everything.
    return F.when(F.abs(column) < _ENDLESS, F.col(column))


def _known(column: str) -> Column:
    """Telegraf writes unknown values, as of a partition without commits, as 0."""
    return F.coalesce(column, F.lit(0).cast("long"))


def _translated(column: str, words: Mapping[Any, str | int]) -> Column:
    (first, value), *rest = words.items()
    chosen = F.when(F.col(column) == first, value)
    for word, value in rest:
        chosen = chosen.when(F.col(column) == word, value)
    return chosen
