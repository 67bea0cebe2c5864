"""Small batches of commits and log ends, as the pipeline would hand them over."""

from typing import NamedTuple

import pyarrow as pa

from warren.model.tables import LOG_ENDS

NOW = 2_000_000_000

COMMITS = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("committed_ms", pa.int64()),
        ("order", pa.int64()),
    ]
)


class Record(NamedTuple):
    order: int
    offset: int | None = 0  # None: a tombstone
    after_ms: int = 0  # NOW
    partition: int = 0
    group: str = "g"
    topic: str = "t"


def batch(*records: Record) -> pa.Table:
    lines = [
        record._asdict() | {"committed_ms": NOW * 1000 + record.after_ms} for record in records
    ]
    return pa.Table.from_pylist(lines, COMMITS)


def log_ends(*ends: int | None, topic: str = "t") -> pa.Table:
    """The ends of partitions 0, 1, ... of a topic."""
    lines = [{"topic": topic, "partition": p, "offset": end} for p, end in enumerate(ends)]
    return pa.Table.from_pylist(lines, LOG_ENDS)
