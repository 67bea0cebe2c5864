"""A batch in pieces that fit into memory, and those in requests.

While a store is slow or down it is our own thread that waits: a Spark task would keep a core from
the pipeline.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

CHUNK_ROWS = 250_000  # some 50 MB of text; two such are there at a time


class Span(NamedTuple):
    """Moments that are taken together; `parts` > 1: one part of a moment that is too large."""

    first_ms: int
    last_ms: int
    part: int = 0
    parts: int = 1


def chunks(rows: DataFrame, limit: int = CHUNK_ROWS) -> Iterator[tuple[int, DataFrame]]:
    """Yield the batch moment after moment, with the moment that each piece completes, or 0."""
    counts = rows.groupBy("moment_ms").count().toArrow().sort_by("moment_ms").to_pylist()
    for span in spans([(row["moment_ms"], row["count"]) for row in counts], limit):
        some = rows.where(F.col("moment_ms").between(span.first_ms, span.last_ms))
        if span.parts > 1:
            part = F.pmod(F.xxhash64("group", "topic", "partition"), F.lit(span.parts))
            some = some.where(part == span.part)
        yield span.last_ms if span.part == span.parts - 1 else 0, some


def spans(counts: Iterable[tuple[int, int]], limit: int) -> Iterator[Span]:
    """Put moments together, in order, as long as their rows are no more than `limit`."""
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
    """Put texts one behind the other, which is how they lie in memory already."""
    _, places, data = texts.buffers()
    offsets = memoryview(places).cast("i")
    return memoryview(data)[offsets[texts.offset] : offsets[texts.offset + len(texts)]]
