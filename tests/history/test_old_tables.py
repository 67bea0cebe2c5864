"""Tables that an older Warren wrote go on; their rows have nulls for what it did not know."""

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from support.history_rows import MINUTE_MS, START_MS, group, log_end, minute, moment, partition

from warren.history import group_history, spark_queries, table, upkeep
from warren.history.past_ends import past_ends
from warren.history.recent_hours import Recent
from warren.history.refill import Refill
from warren.history.report import summary
from warren.history.table_files import TableFiles, small
from warren.model.period import Period
from warren.model.tables import GROUP_NUMBERS, HISTORY, NUMBERS, WORDS

LATER = {*NUMBERS, *GROUP_NUMBERS, *WORDS, "log_start"}
OLD = pa.schema([field for field in HISTORY if field.name not in LATER])
HOUR = Period(START_MS, START_MS + 60 * MINUTE_MS)
KNOWN = {
    "lag_low": 4,
    "lag_high": 6,
    "age_s": 12.5,
    "age_low_s": 11.0,
    "age_high_s": 13.0,
    "age_method": 1,
    "drain_low_s": float("inf"),
    "drain_high_s": float("inf"),
    "margin_s": 3600.0,
    "lost": 2,
    "scalable_lag": 5,
    "expires_s": 86_400.0,
}


def rows_at(number: int, **more: Any) -> pa.Table:
    every = [
        group("billing", 1, 5, offset=number, **more),
        log_end("orders", 0, 100 + number),
        partition("billing", "orders", 0, 1, 5, **more),
    ]
    return moment(minute(number), every)


def append_as_before(own: SparkSession, directory: str, number: int) -> None:
    """As an older Warren does: it knows of fewer columns."""
    frame = own.createDataFrame(rows_at(number).select(OLD.names))
    writer = frame.write.format("delta").mode("append").partitionBy(*table.PARTITIONED_BY)
    writer.options(txnAppId="old", txnVersion=str(number)).save(directory)


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    return table.session(spark)


@pytest.fixture
def old(own: SparkSession, tmp_path: Path) -> str:
    directory = str(tmp_path / "history")
    for number in (0, 1):
        append_as_before(own, directory, number)
    assert own.read.format("delta").load(directory).columns == OLD.names
    return directory


def ages(rows: Any) -> dict[int, Any]:
    found = {row["moment_ms"]: row["age_s"] for row in rows if row["kind"] == "group"}
    return {(at - START_MS) // MINUTE_MS: found[at] for at in sorted(found)}


def test_every_reader_reads_a_table_that_has_not_grown_yet(
    spark: SparkSession, own: SparkSession, old: str
) -> None:
    by_spark, by_files = spark_queries.kept(own, old, HOUR), small(TableFiles(old), HOUR)
    recent = Recent(clock=lambda: minute(2) / 1000)
    Refill(spark, TableFiles(old), recent, 60, lambda: minute(2) / 1000).fill(threading.Event())
    in_memory = recent.kept("local", "billing", HOUR, partitions=True)
    assert by_files
    assert in_memory

    curves = [group_history.curve(kept, HOUR) for kept in (by_spark, by_files, in_memory)]
    with by_spark.cached():
        reports = [summary.make(kept, HOUR, top=5) for kept in (by_spark, by_files)]

    assert [curve["moments"] for curve in curves] == [2, 2, 2]
    assert [{*curve["age_s"]} for curve in curves] == [{None}] * 3
    assert [report.groups[0]["lag"] for report in reports] == [5, 5]


def test_the_first_moment_adds_the_columns_and_old_rows_have_nulls(
    own: SparkSession, old: str
) -> None:
    files = TableFiles(old)
    files.holding(HOUR)  # it follows the table from before

    table.make(own, old)
    table.append(own, old, rows_at(2, **KNOWN), "us")
    append_as_before(own, old, 3)  # an older instance took over for a while
    table.append(own, old, rows_at(4, **KNOWN), "us")

    expected = {0: None, 1: None, 2: 12.5, 3: None, 4: 12.5}
    frame = own.read.format("delta").load(old)
    assert frame.columns == HISTORY.names
    by_spark = spark_queries.kept(own, old, HOUR).rows
    assert ages(row.asDict() for row in by_spark.collect()) == expected
    by_files = small(files, HOUR)
    assert by_files
    assert ages(by_files.rows.to_pylist()) == expected
    (newest,) = by_spark.where(f"kind = 'group' AND moment_ms = {minute(4)}").collect()
    assert {name: newest[name] for name in (*NUMBERS, *GROUP_NUMBERS)} == KNOWN


def test_upkeep_merges_old_and_new_files(own: SparkSession, old: str) -> None:
    table.append(own, old, rows_at(2, **KNOWN), "us")

    upkeep.merge(own, old, "day >= DATE '2000-01-01'")

    merged = own.read.format("delta").load(old)
    assert len(merged.inputFiles()) == 1
    expected = {0: None, 1: None, 2: 12.5}
    assert ages(row.asDict() for row in merged.collect()) == expected
    by_files = small(TableFiles(old), HOUR)
    assert by_files
    assert ages(by_files.rows.to_pylist()) == expected
    upkeep.expire(own, old, datetime.fromtimestamp(START_MS / 1000, UTC).date())


def test_log_ends_of_before_are_remembered(spark: SparkSession, old: str) -> None:
    found = [*past_ends(TableFiles(old), spark, "local", minute(1), 10 * MINUTE_MS)]

    assert [each.ends["offset"].to_pylist() for each in found] == [[100], [101]]
