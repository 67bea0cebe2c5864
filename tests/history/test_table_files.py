"""The table's files, found and read without Spark, whatever has become of the table meanwhile."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.history_rows import START_MS, group, minute, moment

from warren.errors import NoHistory
from warren.history import spark_queries, table, upkeep
from warren.history.table_files import NeedsSpark, TableFiles, read, small
from warren.model.period import Period
from warren.model.tables import GROUP

DAY_MS = 86_400_000
ALWAYS = Period(START_MS - 400 * DAY_MS, START_MS + 400 * DAY_MS)
ODD = "odd/name=%20 &x"  # of a cluster; the table's folders are named after them


def moments(files: TableFiles) -> list[tuple[str, int]]:
    found = read(files.holding(ALWAYS), ALWAYS, kinds=(GROUP,))
    return sorted(zip(*(found[name].to_pylist() for name in ("cluster", "moment_ms")), strict=True))


def of_spark(spark: SparkSession, directory: Path) -> list[tuple[str, int]]:
    rows = spark_queries.kept(spark, str(directory), ALWAYS).rows.select("cluster", "moment_ms")
    return sorted((row[0], row[1]) for row in rows.collect())


def test_files_are_those_that_spark_sees(spark: SparkSession, tmp_path: Path) -> None:
    """Through appends, merging, deletion and checkpoints; who follows and who comes anew."""
    own = table.session(spark)
    own.conf.set("spark.databricks.delta.properties.defaults.checkpointInterval", "3")
    table.make(own, str(tmp_path))
    follower = TableFiles(str(tmp_path))
    seen = []

    def look(what: str) -> None:
        expected = of_spark(spark, tmp_path)
        wrong = {
            who: moments(files)
            for who, files in {"follows": follower, "is new": TableFiles(str(tmp_path))}.items()
            if moments(files) != expected
        }
        assert wrong == {}, what
        seen.append(len(expected))

    look("empty")
    for number in range(4):
        at = START_MS + (number // 2) * DAY_MS + number * 60_000
        rows = [group("billing", 1, number), group("other", 1, 0, cluster=ODD)]
        table.append(own, str(tmp_path), moment(at, rows), "test")
    look("appended")
    upkeep.merge(own, str(tmp_path), "day >= DATE '2000-01-01'")
    look("merged")
    upkeep.expire(own, str(tmp_path), date(2026, 11, 2))
    look("a day dropped")
    # As the log is tidied up: what a checkpoint sums up goes.
    checkpoint = max((tmp_path / "_delta_log").glob("*.checkpoint.parquet"))
    for old in (tmp_path / "_delta_log").glob("*.json"):
        if old.name < checkpoint.name[:20]:
            old.unlink()
    look("tidied up")

    assert seen == [0, 8, 8, 4, 4]


def test_what_we_cannot_read_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    own = table.session(spark)
    table.make(own, str(tmp_path / "table"))
    table.append(own, str(tmp_path / "table"), moment(START_MS, [group("billing", 1, 0)]), "test")

    def changed(name: str, *actions: object) -> TableFiles:
        copy = tmp_path / name
        shutil.copytree(tmp_path / "table", copy)
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        (copy / "_delta_log" / f"{2:020}.json").write_text(lines)
        return TableFiles(str(copy))

    newer = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": []}}
    elsewhere = {"add": {"path": "/somewhere/else.parquet", "partitionValues": {}}}
    torn = changed("torn")
    (tmp_path / "torn" / "_delta_log" / f"{1:020}.json").unlink()
    cases = {
        "a newer table": changed("newer", newer),
        "files of another table": changed("clone", elsewhere),
        "a log with a gap": torn,
        "not on this disk": TableFiles("s3a://bucket/history"),
    }

    for name, files in cases.items():
        with pytest.raises(NeedsSpark):
            pytest.fail(f"{name}: {files.holding(ALWAYS)}")
        assert small(files, ALWAYS) is None
    lost = changed("lost")
    for file in (tmp_path / "lost").rglob("*.parquet"):
        file.unlink()
    assert small(lost, ALWAYS) is None


def test_a_table_that_goes_and_comes_back_is_another(spark: SparkSession, tmp_path: Path) -> None:
    own, place = table.session(spark), tmp_path / "table"
    files = TableFiles(str(place))

    with pytest.raises(NoHistory):
        files.holding(ALWAYS)
    table.make(own, str(place))
    table.append(own, str(place), moment(minute(0), [group("billing", 1, 0)]), "test")
    first = moments(files)
    shutil.rmtree(place)
    with pytest.raises(NoHistory):
        files.holding(ALWAYS)
    table.make(own, str(place))

    assert (first, moments(files)) == ([("local", minute(0))], [])


def test_only_files_of_the_period_are_opened(spark: SparkSession, tmp_path: Path) -> None:
    own = table.session(spark)
    table.make(own, str(tmp_path))
    for number in range(3):
        table.append(
            own, str(tmp_path), moment(minute(number), [group("billing", 1, number)]), "test"
        )
    files = TableFiles(str(tmp_path))

    assert [file.moments for file in files.holding(Period(minute(1), minute(1)))] == [
        (minute(1), minute(1))
    ]
    assert files.holding(ALWAYS, "other") == []
    assert sum(file.rows for file in files.holding(ALWAYS)) == 3
