"""Reports and histories of a group, from a known past; Spark and we ourselves tell the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.history_rows import MINUTE_MS, START_MS, Row, group, log_end, minute, partition, write

from warren.errors import NoHistory
from warren.history import group_history, spark_queries
from warren.history.memory_queries import Kept
from warren.history.report import summary
from warren.history.report.summary import Report
from warren.history.table_files import TableFiles, small
from warren.model.period import Period

OK, WARN, ERR, STOP = 1, 2, 3, 4
HOUR = Period(START_MS, START_MS + 60 * MINUTE_MS)
# Ten minutes, then twenty in which nobody watched, then five more.
MINUTES = [*range(10), *range(30, 35)]
BAD = {3: WARN, 4: ERR, 5: ERR, 8: ERR, 9: ERR, 30: ERR, 34: WARN}
HOSTILE = "<script>alert(1)</script>"
Ask = Callable[..., Kept]  # (period, cluster, group)


def rows_at(number: int) -> list[Row]:
    status = BAD.get(number, OK)
    return [
        group("billing", status, number * 10, offset=1000 + number, partitions=2, age_s=number),
        group(HOSTILE, OK, 0),
        group("elsewhere", ERR, 7, cluster="other"),
        log_end("orders", 0, 500 + number * 60),
        log_end("orders", 1, 0),
        log_end("quiet", 0, 3),
        partition("billing", "orders", 0, STOP if status == ERR else OK, number * 9, age_s=12.3),
        partition("billing", "orders", 1, OK, number),
    ]


@pytest.fixture(scope="module")
def past(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("history")
    write(spark, directory, {minute(number): rows_at(number) for number in MINUTES})
    return directory


@pytest.fixture(scope="module", params=["spark", "files"])
def ask(request: pytest.FixtureRequest, spark: SparkSession, past: Path) -> Ask:
    def with_spark(*what: Any) -> Kept:
        return spark_queries.kept(spark, str(past), *what)

    def from_files(*what: Any) -> Kept:
        found = small(TableFiles(str(past)), *what)
        assert found
        return found

    return with_spark if request.param == "spark" else from_files


@pytest.fixture(scope="module")
def made(ask: Ask) -> Report:
    return summary.make(ask(HOUR), HOUR, top=10)


def test_the_worst_groups_come_first(made: Report) -> None:
    names = [(row["cluster"], row["group"]) for row in made.groups]

    assert names == [("other", "elsewhere"), ("local", "billing"), ("local", HOSTILE)]


def test_a_moment_lasts_until_the_next_and_silence_does_not_count(made: Report) -> None:
    billing = made.groups[1]

    watched = 15
    assert billing["err_seconds"] == 5 * 60
    assert billing["err"] == pytest.approx(5 / watched)
    assert billing["warn"] == pytest.approx(2 / watched)
    assert billing["ok"] == pytest.approx(8 / watched)


def test_lag_has_percentiles(made: Report) -> None:
    billing = made.groups[1]

    assert (billing["lag_p50"], billing["lag_max"], billing["lag"]) == (70, 340, 340)
    assert billing["lag_p95"] <= billing["lag_p99"] <= billing["lag_max"]
    assert [row["groups"] for row in made.clusters] == [2, 1]


def test_incidents_are_runs_of_bad_moments(made: Report) -> None:
    found = sorted(
        (row["began_ms"], row["ended_ms"], row["status"], row["lag_max"])
        for row in made.incidents
        if row["group"] == "billing"
    )

    assert found == [
        (minute(3), minute(6), "ERR", 50),
        (minute(8), minute(10), "ERR", 90),  # nobody saw how it went on
        (minute(30), minute(31), "ERR", 300),
        (minute(34), None, "WARN", 340),  # not over
    ]


def test_topics_are_busy_by_what_was_written(made: Report) -> None:
    found = [(row["topic"], row["partitions"], row["messages"]) for row in made.topics]

    assert found == [("orders", 2, 34 * 60), ("quiet", 1, 0)]
    assert made.topics[0]["per_second"] == pytest.approx(1.0)


def test_series_show_where_nothing_was_kept(made: Report) -> None:
    billing = next(series for series in made.lags if series.name == "billing")

    per_minute = 2  # steps
    assert len(made.times_ms) == 120
    assert billing.values[9 * per_minute : 11 * per_minute] == [90, 90, None, None]
    assert billing.values[20 * per_minute] is None


def test_what_was_seen_holds_until_the_next_moment() -> None:
    cases = {
        "every step": ({0: "a", 1: "b"}, "ab--"),
        "every second step": ({0: "a", 2: "b", 4: "c"}, "aabbcc--"),
        "one missed": ({0: "a", 1: "b", 3: "c", 4: "d"}, "abbcd-"),
        "nobody watched": ({0: "a", 1: "b", 5: "c", 6: "d"}, "ab---cd-"),
        "a single moment": ({1: "a"}, "-a--"),
        "nothing": ({}, "---"),
    }

    found = {
        name: "".join(
            row.get("is", "-")
            for row in group_history.spread_out(
                {at: {"is": is_} for at, is_ in seen.items()}, len(to)
            )
        )
        for name, (seen, to) in cases.items()
    }

    assert found == {name: expected for name, (_, expected) in cases.items()}


def test_only_what_was_asked_for_is_told(ask: Ask) -> None:
    early = Period(minute(0), minute(2))
    found = ask(early, "local", "billing").steps(early.since_ms, MINUTE_MS)

    assert found.select(["group", "step", "lag"]).to_pylist() == [
        {"group": "billing", "step": number, "lag": number * 10} for number in range(3)
    ]


def test_one_group_over_time(ask: Ask) -> None:
    kept = ask(HOUR, "local", "billing")

    curve = group_history.curve(kept, HOUR, 60)
    heat = group_history.heat_map(kept, HOUR, 1)

    assert curve["moments"] == 15
    assert curve["lag"][:4] == [0, 10, 20, 30]
    assert curve["status"][8:12] == ["ERR", "ERR", None, None]  # nobody watched from then on
    assert curve["offset"][34] == 1034
    assert curve["age_s"][8:12] == [8.0, 9.0, None, None]
    assert len(group_history.incidents(kept)) == 4
    assert heat["total"] == 2
    assert heat["partitions"] == [{"topic": "orders", "partition": 0, "max_lag": 34 * 9}]
    assert len(heat["times_ms"]) == len(heat["lag"][0]) == len(heat["status"][0]) == 100
    assert {word for word in heat["status"][0] if word} == {"OK", "STOP"}


def test_partitions_of_a_topic_taken_together(ask: Ask) -> None:
    kept = ask(HOUR, "local", "billing").together("orders", None)

    curve = group_history.curve(kept, HOUR, 60)

    assert kept.clusters() == ["local"]
    assert (curve["lag"][9], curve["max_lag"][9], curve["status"][9]) == (90, 81, "STOP")
    assert curve["age_s"][9] == 12.3  # the greatest that is known


def test_sums_stop_at_what_a_number_holds(spark: SparkSession, tmp_path: Path) -> None:
    most = 2**63 - 1
    lags = [partition("billing", "orders", number, OK, most - 1, offset=most) for number in (0, 1)]
    write(spark, tmp_path, {START_MS: [group("billing", OK, most), *lags]})
    of_files = small(TableFiles(str(tmp_path)), HOUR, "local", "billing")
    assert of_files

    for kept in (of_files, spark_queries.kept(spark, str(tmp_path), HOUR, "local", "billing")):
        curve = group_history.curve(kept.together("orders", None), HOUR, 60)
        assert (curve["lag"][0], curve["offset"][0]) == (most, most)


def test_no_table_is_said_in_a_line(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="there is no history in"):
        spark_queries.kept(spark, str(tmp_path), HOUR)
    with pytest.raises(NoHistory, match="there is no history in"):
        small(TableFiles(str(tmp_path)), HOUR)


def test_an_empty_period_has_an_empty_report(ask: Ask) -> None:
    before = Period(START_MS - 2 * MINUTE_MS, START_MS - MINUTE_MS)

    made = summary.make(ask(before), before, top=10)

    tables: list[list[Any]] = [made.clusters, made.groups, made.incidents, made.topics, made.lags]
    assert tables == [[], [], [], [], []]


def test_sums_that_no_number_holds_are_the_greatest_there_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    most, least = 2**63 - 1, -(2**63)
    rows = [
        group("absurd", ERR, most, offset=least),
        group("billing", OK, 5),
        *(partition("absurd", "orders", n, STOP, most, offset=least) for n in range(3)),
    ]
    write(spark, tmp_path, {minute(0): rows, minute(1): rows})
    from_files = small(TableFiles(str(tmp_path)), HOUR)
    assert from_files

    for past in (spark_queries.kept(spark, str(tmp_path), HOUR), from_files):
        together = past.together("orders", None).steps(HOUR.since_ms, MINUTE_MS).to_pylist()
        worst = summary.make(past, HOUR, top=10).groups[0]

        assert {(row["lag"], row["offset"]) for row in together} == {(most, least)}
        assert (worst["group"], worst["lag_max"]) == ("absurd", most)
