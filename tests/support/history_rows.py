"""Histories for tests, written row by row."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from warren.history import table
from warren.model.tables import GROUP, HISTORY, LOG_END, PARTITION

START_MS = 1_793_536_200_000  # 2026-11-01 12:30:00
MINUTE_MS = 60_000
Row = Mapping[str, Any]


def minute(number: int) -> int:
    return START_MS + number * MINUTE_MS


def group(name: str, status: int, lag: int, **more: Any) -> Row:
    return {"kind": GROUP, "group": name, "status": status, "lag": lag, "max_lag": lag} | more


def partition(name: str, topic: str, number: int | None, status: int, lag: int, **more: Any) -> Row:
    which = {"kind": PARTITION, "group": name, "topic": topic, "partition": number}
    return which | {"status": status, "lag": lag} | more


def log_end(topic: str, number: int, offset: int, **more: Any) -> Row:
    which = {"kind": LOG_END, "topic": topic, "partition": number}
    return which | {"offset": offset} | more


def moment(moment_ms: int, rows: Iterable[Row]) -> pa.Table:
    day = datetime.fromtimestamp(moment_ms / 1000, UTC).date()
    same = {"day": day, "cluster": "local", "moment_ms": moment_ms}
    return pa.Table.from_pylist([same | dict(row) for row in rows], HISTORY)


def write(spark: SparkSession, directory: Path, moments: Mapping[int, Iterable[Row]]) -> None:
    """All moments with one commit: a test does not care how they came, and Spark takes its time."""
    own = table.session(spark)
    table.make(own, str(directory))
    every = pa.concat_tables([moment(at, rows) for at, rows in moments.items()])
    table.append(own, str(directory), every, "test")
