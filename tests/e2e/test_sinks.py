"""A whole Warren with sinks: what the stores hold of a moment is what the API says of it.

The clock is stopped at a moment that history keeps; then the answers stay as they are, in whatever
state the groups were.
"""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.servers.influxdb import InfluxDB
from support.servers.opensearch import OpenSearch
from support.servers.store_receiver import Receiver, receiver
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.sinks.points import OWN

TOPIC, QUIET, ENDS = "sinks-orders", "sinks-quiet", (100, 200, 300)
INTERVAL_S = 2
DELIVERED_S = 180.0  # at most, on a busy machine
# By group: what it commits on partition 0 as the log grows; partition 1 it always reads to the end.
COMMITS = {
    "sinks-well": ENDS,
    "sinks-behind": (10, 20, 30),
    "sinks-stalled": (10, 10, 10),
    "sinks-rewound": (50, 80, 20),
}
CODES = {"OK": 1, "NOTFOUND": 2, "WARN": 3, "ERR": 4, "STOP": 5, "STALL": 6, "REWIND": 0}
Point = dict[str, Any]  # tags and fields


class Stores(NamedTuple):
    influx: InfluxDB
    search: OpenSearch
    silent: Receiver


@pytest.fixture(scope="module")
def stores(opensearch: OpenSearch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    with InfluxDB(tmp_path_factory.mktemp("influxdb")) as influx, receiver() as silent:
        silent.silent = True  # takes requests and never answers
        yield Stores(influx, opensearch, silent)


def sinks(stores: Stores) -> str:
    influx, search, silent = stores
    return f"""
[history]
history-interval = {INTERVAL_S}
[sink.influx]
class-name = "influxdb"
url = "{influx.url}"
database = "burrow"
[sink.search]
class-name = "elasticsearch"
url = "{search.url}"
index = "burrow-%Y.%m.%d"
[sink.hangs]
class-name = "influxdb"
url = "{silent.url}"
database = "burrow"
"""


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, stores: Stores, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    folder = tmp_path_factory.mktemp("sinks")
    text = source("local", broker.bootstrap, 'group-allowlist = "^sinks-"') + storage(intervals=3)
    with watching(spark, folder, f"{state_in(folder)}{text}{sinks(stores)}") as watched:
        yield watched


def state_in(folder: Path) -> str:
    return f'[general]\nstate-dir = "{folder}"\n'


@pytest.fixture(scope="module")
def moment_ms(watched: Watching, broker: Broker) -> Iterator[int]:
    """Groups come into their states; then time stands still, and both stores get that moment."""
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 0, 0)
    kafka.make_topic(QUIET, 7)
    kafka.commit("sinks-well", QUIET, {0: 7})
    with ExitStack() as stack:
        members = {
            name: stack.enter_context(kafka.member(name, TOPIC, CLASSIC, client=f"{name}-1"))
            for name in COMMITS
        }
        wait_assigned(*members.values())
        for number, end in enumerate(ENDS):
            kafka.produce(TOPIC, 100, 100)
            eventually(partial(watched.ends, "local", TOPIC), [end, end])
            for name, member in members.items():
                commit(member, TOPIC, {0: COMMITS[name][number], 1: end})
            for name in members:
                ahead = partial(committed, watched, name)
                eventually(ahead, [COMMITS[name][number], end])
        stopped_s = math.ceil(time.time() / INTERVAL_S) * INTERVAL_S
        watched.monitor.clock = lambda: float(stopped_s)
        for name in ("influx", "search"):
            eventually(partial(delivered, watched, name), stopped_s * 1000, DELIVERED_S)
        yield stopped_s * 1000


def committed(watched: Watching, group: str) -> list[int | None] | None:
    return watched.committed("local", group).get(TOPIC)


def delivered(watched: Watching, sink: str) -> Any:
    return watched.health()["sinks"].get(sink, {}).get("delivered_ms")


def told(watched: Watching) -> dict[str, list[Point]]:
    """What Telegraf would make of the answers."""
    points: dict[str, list[Point]] = {name: [] for name in MEASUREMENTS}
    for topic in watched.json("/v3/kafka/local/topic")["topics"]:
        for partition, log_end in enumerate(watched.ends("local", topic)):
            tags = {"cluster": "local", "topic": topic, "partition": str(partition)}
            points["burrow_topic"].append(tags | {"offset": log_end})
    for name in watched.groups("local"):
        group = watched.group("local", name)
        ends = [part["end"] or {"offset": 0, "timestamp": 0} for part in group["partitions"]]
        points["burrow_group"].append(
            {
                "cluster": "local",
                "group": name,
                "lag": group["maxlag"]["current_lag"],
                "offset": sum(end["offset"] for end in ends),
                "partition_count": group["partition_count"],
                "status": group["status"],
                "status_code": CODES[group["status"]],
                "timestamp": max(end["timestamp"] for end in ends),
                "total_lag": group["totallag"],
            }
        )
        for part, end in zip(group["partitions"], ends, strict=True):
            points["burrow_partition"].append(
                {
                    "cluster": "local",
                    "group": name,
                    **({"owner": part["owner"]} if part["owner"] else {}),
                    "partition": str(part["partition"]),
                    "topic": part["topic"],
                    "lag": part["current_lag"],
                    "offset": end["offset"],
                    "status": part["status"],
                    "status_code": CODES[part["status"]],
                    "timestamp": end["timestamp"],
                }
            )
    return points


MEASUREMENTS = ("burrow_group", "burrow_partition", "burrow_topic")


def in_order(points: dict[str, list[Point]]) -> dict[str, list[str]]:
    return {
        name: sorted(str(sorted(each.items())) for each in some) for name, some in points.items()
    }


def test_every_point_in_influxdb_is_what_the_api_says(
    watched: Watching, stores: Stores, moment_ms: int
) -> None:
    stored: dict[str, list[Point]] = {}
    for name in MEASUREMENTS:
        query = f"SELECT * FROM {name} WHERE time = {moment_ms}ms"  # noqa: S608  our names
        (series,) = stores.influx.query(query, "burrow")
        rows = (dict(zip(series["columns"], row, strict=True)) for row in series["values"])
        stored[name] = [
            {
                key: value
                for key, value in row.items()
                if value is not None and key not in {"time", *OWN}
            }
            for row in rows
        ]

    answered = told(watched)

    assert in_order(stored) == in_order(answered)
    assert watched.json("/v4/groups?cluster=local")["board"]["moment_ms"] == moment_ms
    statuses = {point["status"] for point in answered["burrow_partition"]}
    assert {point["group"] for point in answered["burrow_group"]} >= COMMITS.keys()
    assert len(statuses) > 1


def test_every_document_in_opensearch_is_what_the_api_says(
    watched: Watching, stores: Stores, moment_ms: int
) -> None:
    stored: dict[str, list[Point]] = {name: [] for name in MEASUREMENTS}
    for hit in stores.search.documents("burrow-*"):
        document = hit["_source"]
        if datetime.fromisoformat(document["@timestamp"]).timestamp() * 1000 == moment_ms:
            name = document["measurement_name"]
            tags = {tag: value for tag, value in document["tag"].items() if value}
            fields = {key: value for key, value in document[name].items() if key not in OWN}
            stored[name].append(tags | fields)

    assert in_order(stored) == in_order(told(watched))


def test_the_articles_queries_give_the_numbers_of_the_api(
    watched: Watching, stores: Stores, moment_ms: int
) -> None:
    lags = stores.influx.query(
        'SELECT sum("lag") FROM "burrow_partition" WHERE time >= now() - 30m '
        'GROUP BY time(2s), "group", "topic" fill(none)',
        "burrow",
    )
    rates = stores.influx.query(
        'SELECT difference(mean("offset")) FROM "burrow_topic" WHERE time >= now() - 30m '
        'GROUP BY time(2s), "topic" fill(previous)',
        "burrow",
    )

    means = stores.influx.query(
        f"SELECT mean(\"offset\") FROM burrow_topic WHERE topic = '{TOPIC}' "  # noqa: S608  our name
        "AND time >= now() - 30m GROUP BY time(2s) fill(none)",
        "burrow",
    )

    now = {
        (series["tags"]["group"], series["tags"]["topic"]): value
        for series in lags
        for at_ms, value in series["values"]
        if at_ms == moment_ms
    }
    grown = {
        series["tags"]["topic"]: sum(value or 0 for _, value in series["values"])
        for series in rates
    }
    expected: dict[tuple[str, str], int] = {}
    for point in told(watched)["burrow_partition"]:
        key = (point["group"], point["topic"])
        expected[key] = expected.get(key, 0) + point["lag"]
    assert now == expected
    assert expected["sinks-stalled", TOPIC] == ENDS[-1] - 10
    assert grown[TOPIC] == ENDS[-1] - means[0]["values"][0][1]
    assert grown[QUIET] == 0


def test_a_store_that_hangs_disturbs_nobody(
    watched: Watching, stores: Stores, moment_ms: int
) -> None:
    health = watched.health()

    assert stores.silent.requests
    assert health["sinks"]["hangs"]["delivered_ms"] is None
    assert health["sinks"]["hangs"]["behind_s"] > 0
    assert {health["sinks"][name]["restarts"] for name in ("influx", "search", "hangs")} == {0}
    assert health["history"]["keeper"]["last_moment_ms"] == moment_ms
