"""Sinks as streams over history: nothing lost, nothing twice, nobody disturbed."""

import socket
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.servers.influxdb import InfluxDB
from support.servers.opensearch import OpenSearch
from support.servers.store_receiver import receiver
from support.sink_streams import (
    FIRST_MS,
    MINUTE_MS,
    append,
    config,
    moment,
    running,
    sink_health,
)
from support.waiting import eventually

from warren.history import table
from warren.model.health import known
from warren.model.tables import HISTORY, NUMBERS, WORDS
from warren.sinks.stream import SinkStream

PER_MOMENT = 41
AWAY, MOMENTS = 10, 12  # a store is away from the second moment until the tenth
IN_TWO_YEARS = 1_000_000  # minutes


def counts(influx: InfluxDB, database: str) -> dict[int, int]:
    """How many points each moment has, by number of the moment."""
    found: dict[int, int] = {}
    for name in ("burrow_group", "burrow_partition", "burrow_topic"):
        for series in influx.query(f'SELECT "offset" FROM {name}', database):  # noqa: S608  our names
            for at_ms, _ in series["values"]:
                number = (at_ms - FIRST_MS) // MINUTE_MS
                found[number] = found.get(number, 0) + 1
    return found


def reached(sinks: dict[str, SinkStream]) -> dict[str, int]:
    """The number of the newest moment that each sink delivered, if any."""
    return {
        name: (until - FIRST_MS) // MINUTE_MS
        for name, sink in sinks.items()
        if isinstance(until := sink.health().delivered_ms, int)
    }


def influxdb(name: str, url: str, **keys: str) -> str:
    more = "".join(f'{key} = "{value}"\n' for key, value in keys.items())
    return f'[sink.{name}]\nclass-name = "influxdb"\nurl = "{url}"\ndatabase = "{name}"\n{more}'


def elasticsearch(name: str, url: str) -> str:
    return (
        f'[sink.{name}]\nclass-name = "elasticsearch"\nurl = "{url}"\n'
        f'index = "{name}-%Y"\nsince = "earliest"\n'
    )


def documents(search: OpenSearch) -> dict[int, int]:
    """How many documents each moment has, by number of the moment."""
    found: dict[int, int] = {}
    for hit in search.documents("search-*"):
        at = datetime.fromisoformat(hit["_source"]["@timestamp"])
        number = (int(at.timestamp() * 1000) - FIRST_MS) // MINUTE_MS
        found[number] = found.get(number, 0) + 1
    return found


def files(class_name: str, directory: Path) -> str:
    return (
        f'[sink.{class_name}]\nclass-name = "{class_name}"\n'
        f'directory = "{directory}"\nsince = "earliest"\n'
    )


def test_a_store_that_dies_and_comes_back_lacks_nothing_and_holds_nothing_twice(
    spark: SparkSession,
    opensearch: OpenSearch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    history = tmp_path / "history"
    append(spark, history, 0, 1)
    with socket.socket() as closed, InfluxDB(tmp_path / "influx") as influx, receiver() as silent:
        silent.silent = True  # takes requests and does not answer
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        settings = config(
            tmp_path,
            influxdb("all", influx.url, since="earliest"),
            influxdb("hangs", silent.url, since="earliest"),
            elasticsearch("search", opensearch.url),
            influxdb("nobody", nobody, since="earliest"),
            files("delta", tmp_path / "delta"),
            files("parquet", tmp_path / "parquet"),
            '[sink.look]\nclass-name = "console"\nsince = "earliest"\n',
        )
        well = ("all", "search", "delta", "parquet", "look")
        with running(spark, settings) as sinks:
            eventually(
                lambda: reached(sinks) == dict.fromkeys(well, 1), more=partial(sink_health, sinks)
            )
            influx.kill()
            append(spark, history, *range(2, AWAY))
            eventually(lambda: sinks["all"].problem != "", more=partial(sink_health, sinks))
            problems = {name: sinks[name].problem for name in ("all", "nobody")}
            others = [name for name in well if name != "all"]
            eventually(
                lambda: {reached(sinks)[name] for name in others} == {AWAY - 1},
                more=partial(sink_health, sinks),
            )
            influx.start()
            append(spark, history, *range(AWAY, MOMENTS))
            eventually(
                lambda: reached(sinks) == dict.fromkeys(well, MOMENTS - 1),
                more=partial(sink_health, sinks),
            )
            health = {name: sink.health() for name, sink in sinks.items()}
            silent.released.set()
        stored, found = counts(influx, "all"), documents(opensearch)

    delta = spark.read.format("delta").load(str(tmp_path / "delta"))
    parquet = spark.read.parquet(str(tmp_path / "parquet"))
    assert stored == found == dict.fromkeys(range(MOMENTS), PER_MOMENT)
    assert delta.count() == parquet.count() == MOMENTS * PER_MOMENT
    assert all("cannot be reached" in problem for problem in problems.values())
    assert health["nobody"].state == "retrying"
    behind = {name: known(health[name].behind_s) or 0 for name in ("all", "nobody", "hangs")}
    late_s = (MOMENTS - 1) * MINUTE_MS / 1000  # by this much those are further behind
    assert behind["nobody"] == pytest.approx(behind["all"] + late_s, abs=60)
    assert behind["hangs"] == pytest.approx(behind["nobody"], abs=60)
    assert {name: sink.restarts for name, sink in sinks.items()} == dict.fromkeys(sinks, 0)
    assert capfd.readouterr().out.count("billing") == MOMENTS


def test_a_stopped_sink_goes_on_where_it_stood_whatever_upkeep_did(
    spark: SparkSession, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    append(spark, history, 0, 1)
    with InfluxDB(tmp_path / "influx") as influx:
        settings = config(
            tmp_path,
            influxdb("filled", influx.url, since=str(FIRST_MS + MINUTE_MS)),
            influxdb("new", influx.url),
        )
        with running(spark, settings) as sinks:
            eventually(lambda: reached(sinks) == {"filled": 1}, more=partial(sink_health, sinks))
            eventually(
                lambda: sinks["new"].health().state == "running",
                more=partial(sink_health, sinks),
            )
            # Until Spark has noted that a batch was taken, it would be sent again.
            noted = history / "_sinks" / "filled"
            eventually(lambda: any(noted.rglob("commits/0")), more=partial(sink_health, sinks))
        influx.query("DROP SERIES FROM burrow_group", "filled")  # nobody sends it again
        append(spark, history, 2)
        spark.sql(f"OPTIMIZE delta.`{history}`")
        spark.sql(f"DELETE FROM delta.`{history}` WHERE moment_ms = {FIRST_MS}")  # noqa: S608  a number
        append(spark, history, IN_TWO_YEARS)
        with running(spark, settings) as sinks:
            last = dict.fromkeys(("filled", "new"), IN_TWO_YEARS)
            eventually(lambda: reached(sinks) == last, more=partial(sink_health, sinks))
            restarts = [sink.restarts for sink in sinks.values()]
        stored = {name: counts(influx, name) for name in settings.sinks}

    assert stored == {
        "filled": {1: PER_MOMENT - 1, 2: PER_MOMENT, IN_TWO_YEARS: PER_MOMENT},
        "new": {IN_TWO_YEARS: PER_MOMENT},
    }
    assert restarts == [0, 0]


def test_a_sink_that_was_away_for_too_long_begins_anew(spark: SparkSession, tmp_path: Path) -> None:
    history = tmp_path / "history"
    append(spark, history, 0)
    with InfluxDB(tmp_path / "influx") as influx:
        settings = config(tmp_path, influxdb("late", influx.url, since="earliest"))
        with running(spark, settings) as sinks:
            eventually(lambda: reached(sinks) == {"late": 0}, more=partial(sink_health, sinks))
        append(spark, history, 1)
        drop_replaced_files(spark, history)
        with running(spark, settings) as sinks:
            eventually(lambda: reached(sinks) == {"late": 1}, more=partial(sink_health, sinks))
            problem, restarts = sinks["late"].problem, sinks["late"].restarts
        stored = counts(influx, "late")

    assert stored == {0: PER_MOMENT, 1: PER_MOMENT}
    assert (problem, restarts) == ("", 1)


def test_a_table_of_an_older_version_grows_columns_while_sinks_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    history, copy = tmp_path / "history", tmp_path / "delta"
    for number in (0, 1):
        append_as_before(spark, history, number)
    with InfluxDB(tmp_path / "influx") as influx:
        settings = config(
            tmp_path, influxdb("all", influx.url, since="earliest"), files("delta", copy)
        )
        with running(spark, settings) as sinks:
            eventually(
                lambda: reached(sinks) == {"all": 1, "delta": 1}, more=partial(sink_health, sinks)
            )
            append(spark, history, 2, 3)
            eventually(
                lambda: reached(sinks) == {"all": 3, "delta": 3}, more=partial(sink_health, sinks)
            )
            append(spark, history, 4)
            eventually(
                lambda: reached(sinks) == {"all": 4, "delta": 4}, more=partial(sink_health, sinks)
            )
            health = {name: (sink.problem, sink.restarts) for name, sink in sinks.items()}
        stored = counts(influx, "all")

    assert stored == dict.fromkeys(range(5), PER_MOMENT)
    copied = spark.read.format("delta").load(str(copy))
    assert copied.count() == 5 * PER_MOMENT
    assert set(copied.columns) == set(HISTORY.names)
    assert health == {"all": ("", 0), "delta": ("", 0)}


def append_as_before(spark: SparkSession, history: Path, number: int) -> None:
    """As a Warren that does not know the numbers."""
    old = [name for name in HISTORY.names if name not in {*NUMBERS, *WORDS, "log_start"}]
    frame = table.session(spark).createDataFrame(moment(number).select(old))
    writer = frame.write.format("delta").mode("append").partitionBy(*table.PARTITIONED_BY)
    writer.save(str(history))


def drop_replaced_files(spark: SparkSession, history: Path) -> None:
    """What upkeep does a week after merging, at once."""
    spark.sql(f"OPTIMIZE delta.`{history}`")
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    spark.sql(f"VACUUM delta.`{history}` RETAIN 0 HOURS")
    spark.conf.unset(check)
