"""Every query of the dashboards for InfluxDB finds points, and so do the articles' own queries."""

import re
import time
from typing import Any

import pytest
import yaml
from deploy.conftest import DATABASE
from deploy.dashboards import Target, filled, targets, variables
from deploy.story import CLUSTER
from deploy.thresholds import exceeds
from generator.made import OTHER_ALERTING
from support.servers.influxdb import InfluxDB

from warren.model.board import Board

RANGE_S = 3600
CHOSEN = {
    "one of each": {"cluster": CLUSTER, "group": "billing", "topic": "(orders|bills)"},
    "several": {"cluster": CLUSTER, "group": r"(billing|with\.dots)", "topic": "(orders|bills)"},
    "all": {"cluster": ".*", "group": ".*", "topic": ".*"},
}
Series = list[dict[str, Any]]


def ask(store: InfluxDB, query: str, values: dict[str, str], seconds: int = RANGE_S) -> Series:
    end_ms = int(time.time() * 1000)
    within = f"time >= {end_ms - seconds * 1000}ms and time <= {end_ms}ms"
    macros = {"timeFilter": within, "__interval": "1m"}
    return store.query(filled(query, {**values, **macros}), DATABASE)


def wanted_names(target: Target) -> set[str]:
    """The tags that the legend shows, and the columns that the table shows."""
    columns = {"time" if name == "Time" else name for name in target.columns}
    return {*re.findall(r"\$tag_(\w+)", target.query["alias"]), *columns}


def is_answered(store: InfluxDB, target: Target, values: dict[str, str]) -> bool:
    found = ask(store, target.query["query"], values)
    return bool(found) and all(
        {*each.get("tags", {}), *each["columns"]} >= wanted_names(target) for each in found
    )


@pytest.mark.parametrize("choice", CHOSEN)
def test_every_query_finds_points_with_what_the_legend_shows(
    store_of_points: InfluxDB, choice: str
) -> None:
    asked = list(targets("influxdb"))
    if choice != "one of each":
        asked = [each for each in asked if not each.dashboard.endswith("-group")]

    unanswered = [e for e in asked if not is_answered(store_of_points, e, CHOSEN[choice])]

    assert asked
    assert [str(each) for each in unanswered] == []


def test_variables_offer_what_there_is(store_of_points: InfluxDB) -> None:
    expected = {
        "cluster": {CLUSTER},
        "group": {"billing", "bulk-load", "falls behind", "stands still", "silent", "with.dots"},
        "topic": {"orders", "bills"},
    }
    found = {}
    for dashboard, name, query in variables("influxdb"):
        (series,) = store_of_points.query(filled(query, CHOSEN["all"]), DATABASE)
        found[dashboard, name] = {value for _, value in series["values"]}

    assert len(found) == 7
    assert {key: value for key, value in found.items() if value != expected[key[1]]} == {}


def lags_of(board: Board) -> dict[tuple[str, str], int]:
    """By group and topic."""
    verdicts = board.clusters[CLUSTER].verdicts
    lags: dict[tuple[str, str], int] = {}
    for at, group in enumerate(verdicts.names):
        for line in range(*verdicts.groups.first[at : at + 2]):
            key = group, verdicts.topics[verdicts.partitions.topic[line]]
            lags[key] = lags.get(key, 0) + int(verdicts.partitions.current_lag[line])
    return lags


def test_lags_are_those_of_the_board(store_of_points: InfluxDB, past: list[Board]) -> None:
    (asked,) = [t for t in targets("influxdb") if t.panel == "Lag by group and topic"]

    series = ask(store_of_points, asked.query["query"], CHOSEN["all"])

    found = {(s["tags"]["group"], s["tags"]["topic"]): s["values"][-1][1] for s in series}
    assert found == lags_of(past[-1])


def test_what_was_produced_is_counted_once(store_of_points: InfluxDB) -> None:
    (asked,) = [t for t in targets("influxdb") if t.panel == "Messages produced a minute"]

    series = ask(store_of_points, asked.query["query"], CHOSEN["all"])

    # Two partitions of orders with forty messages each, one of bills with twenty.
    steady = {s["tags"]["topic"]: {value for _, value in s["values"][1:-1]} for s in series}
    assert steady == {"orders": {80}, "bills": {20}}


def test_the_articles_own_queries_give_the_right_numbers(
    store_of_points: InfluxDB, past: list[Board]
) -> None:
    queries = {
        'SELECT difference(mean("offset")) FROM "burrow_topic" WHERE time >= now() - 30m '
        'GROUP BY time(1m), "topic" fill(previous)': 2,
        'SELECT sum("lag") FROM "burrow_partition" WHERE time >= now() - 30m '
        'GROUP BY time(2s), "group", "topic" fill(none)': 12,
        "select * from burrow_group order by time desc limit 5": 1,
        "select * from burrow_partition where topic = 'orders' order by time desc limit 5": 1,
        "select * from burrow_topic where topic = 'orders' order by time desc limit 5": 1,
    }

    answers = {query: store_of_points.query(query, DATABASE) for query in queries}

    assert {query: len(series) for query, series in answers.items()} == queries
    rates, lags, *_ = answers.values()
    last = past[-1].moment_ms  # minutes after it are filled with what was before
    moved = {
        s["tags"]["topic"]: {value for at, value in s["values"][2:] if at <= last} for s in rates
    }
    assert moved == {"orders": {40}, "bills": {20}}  # the mean of a topic's partitions
    newest = {(s["tags"]["group"], s["tags"]["topic"]): s["values"][-1][1] for s in lags}
    assert newest == lags_of(past[-1])


def test_alerts_find_the_groups_in_trouble(store_of_points: InfluxDB) -> None:
    (group,) = yaml.safe_load((OTHER_ALERTING / "influxdb.yaml").read_text())["groups"]
    firing = {}
    for rule in group["rules"]:
        query, reduction, threshold = (step["model"] for step in rule["data"])
        seconds = rule["data"][0]["relativeTimeRange"]["from"]
        assert reduction["reducer"] == "last"
        firing[rule["title"]] = {
            each["tags"]["group"]
            for each in ask(store_of_points, query["query"], {}, seconds)
            if exceeds(each["values"][-1][1], threshold)
        }

    assert firing == {
        "ConsumerGroupError (influxdb)": {"silent", "stands still"},
        "ConsumerGroupWarning (influxdb)": {"falls behind"},
        "ConsumerGroupLagGrows (influxdb)": {"falls behind", "silent", "stands still"},
        "ConsumerGroupReadsLate (influxdb)": {"falls behind", "stands still"},
        "ConsumerGroupNeverDrains (influxdb)": {"falls behind", "silent", "stands still"},
        "ConsumerGroupWillLose (influxdb)": {"falls behind", "stands still"},
        "ConsumerGroupLost (influxdb)": {"stands still"},
        "ConsumerGroupOffsetsExpire (influxdb)": {"silent"},
    }
