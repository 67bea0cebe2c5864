"""The Delta table: what is appended is there once, in order, and stays readable."""

from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.history_rows import START_MS, group, minute, moment, partition, write

from warren.history import table, upkeep

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def own(spark: SparkSession) -> SparkSession:
    return table.session(spark)


def rows(spark: SparkSession, directory: str) -> list[tuple[int, str, str]]:
    kept = spark.read.format("delta").load(directory)
    return sorted(kept.select("moment_ms", "cluster", "group").collect())


def versions(directory: str) -> int:
    return len([*Path(directory, "_delta_log").glob("*.json")])


def test_a_moment_of_several_clusters_is_one_commit(own: SparkSession, tmp_path: Path) -> None:
    directory = str(tmp_path / "with a space")
    table.make(own, directory)
    both = [group("billing", 1, 0), group("billing", 1, 0, cluster="other")]

    table.append(own, directory, moment(START_MS, both), "us")

    assert versions(directory) == 2
    assert rows(own, directory) == [(START_MS, "local", "billing"), (START_MS, "other", "billing")]


def test_the_same_moment_is_added_once(own: SparkSession, tmp_path: Path) -> None:
    directory = str(tmp_path)
    table.make(own, directory)
    table.make(own, directory)
    first = moment(START_MS, [group("billing", 1, 0)])

    for _ in range(2):
        table.append(own, directory, first, "us")
    table.append(own, directory, first, "somebody else")

    assert len(rows(own, directory)) == 2
    assert table.newest_moment(own, directory) == START_MS


def test_merging_keeps_rows_and_their_order(own: SparkSession, tmp_path: Path) -> None:
    directory = str(tmp_path)
    table.make(own, directory)
    names = [f"group-{number:04}" for number in range(2000)]
    for at in range(4):
        every = [partition(name, "orders", 0, 1, 0) for name in names]
        table.append(own, directory, moment(minute(at), every), "us")
    before = rows(own, directory)

    upkeep.merge(own, directory, "day >= DATE '2026-11-01'")

    merged = own.read.format("delta").load(directory)
    assert len(merged.inputFiles()) == 1
    assert rows(own, directory) == before
    order = [row.group for row in merged.select("group").collect()]
    assert order == names * 4


def test_old_days_are_dropped(own: SparkSession, tmp_path: Path) -> None:
    directory = str(tmp_path)
    days = {START_MS + day * DAY_MS: [group("billing", 1, 0)] for day in range(3)}
    write(own, tmp_path, days)

    upkeep.expire(own, directory, date(2026, 11, 3))

    assert rows(own, directory) == [(START_MS + 2 * DAY_MS, "local", "billing")]
    # Whoever is reading the files, a sink or a report, goes on doing so.
    assert len([*tmp_path.glob("day=2026-11-01/*/*.parquet")]) == 1


def test_files_say_where_a_group_is(own: SparkSession, tmp_path: Path) -> None:
    directory = str(tmp_path)
    table.make(own, directory)
    for at in range(2):
        table.append(own, directory, moment(minute(at), [group(f"g-{at}", 1, 0)]), "us")

    found = own.read.format("delta").load(directory).where("kind = 'group' and group = 'g-1'")

    plan = found._jdf.queryExecution().executedPlan()  # noqa: SLF001  where Spark tells what it read
    found.collect()
    scan = plan.collectLeaves().head()
    assert scan.metrics().apply("numFiles").value() == 1
