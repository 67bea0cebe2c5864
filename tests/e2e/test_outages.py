"""Two clusters in one process; one of them is not always there."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.signals import freeze, thaw
from support.waiting import eventually

from warren.demo.broker import Broker

FRESH_S = 30.0
THREADS = 10  # more than there were, for requests that are under way


@pytest.fixture(scope="module")
def shaky() -> Iterator[Broker]:
    """Another broker, not started yet."""
    broker = Broker(offsets_partitions=4)
    yield broker
    broker.close()


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, shaky: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    steady, other = broker.bootstrap, shaky.bootstrap
    config = source("steady", steady) + source("shaky", other) + storage(intervals=4)
    with watching(spark, tmp_path_factory.mktemp("outages"), config) as watched:
        yield watched


@pytest.fixture(scope="module")
def steady(broker: Broker) -> Kafka:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("steady", 100)
    return kafka


def test_a_cluster_that_is_not_there_at_the_start_is_read_when_it_comes(
    watched: Watching, steady: Kafka, shaky: Broker
) -> None:
    steady.commit("before", "steady", {0: 1})

    eventually(lambda: watched.committed("steady", "before"), {"steady": [1]})
    eventually(lambda: shaky_cluster(watched)["problem"].endswith("Connection refused"))
    assert shaky_cluster(watched)["data_age_s"] is None
    assert watched.health()["clusters"]["steady"]["problem"] == ""
    assert not watched.is_ready()
    assert watched.groups("shaky") == []

    shaky.start()
    late = Kafka(shaky.bootstrap)
    late.make_topic("late", 9)
    late.commit("after", "late", {0: 3})

    eventually(lambda: watched.committed("shaky", "after"), {"late": [3]})
    eventually(lambda: is_in_trouble(watched), expected=False)
    eventually(watched.is_ready, expected=True)


def test_a_cluster_that_dies_keeps_its_verdicts_and_is_read_on_when_it_is_back(
    watched: Watching, steady: Kafka, shaky: Broker
) -> None:
    if shaky.pid is None:
        shaky.start()
    kafka = Kafka(shaky.bootstrap)
    kafka.make_topic("shaky", 9)
    kafka.commit("survivor", "shaky", {0: 3})
    eventually(lambda: watched.committed("shaky", "survivor"), {"shaky": [3]})
    for offset in (1, 2):  # with seven to go it has stopped as soon as it is silent
        kafka.commit("stopped", "shaky", {0: offset})
    eventually(lambda: status(watched, "stopped"), "STOP")
    restarts, threads = shaky_cluster(watched)["restarts"], threading.active_count()

    shaky.kill()
    eventually(lambda: is_in_trouble(watched), expected=True)
    eventually(lambda: "READY\ncluster shaky: no broker answers: " in ready(watched), expected=True)
    steady.commit("meanwhile", "steady", {0: 50})

    eventually(lambda: watched.committed("steady", "meanwhile"), {"steady": [50]})
    assert watched.committed("shaky", "survivor") == {"shaky": [3]}
    eventually(lambda: shaky_cluster(watched)["data_age_s"] > 5, expected=True)
    assert watched.metric('warren_log_ends_age_seconds{cluster="shaky"}') > 5  # type: ignore[operator]
    assert watched.health()["clusters"]["steady"]["data_age_s"] < FRESH_S
    assert threading.active_count() <= threads + THREADS
    assert status(watched, "stopped") == "STOP"

    shaky.start()
    Kafka(shaky.bootstrap).commit("survivor", "shaky", {0: 8})

    eventually(lambda: watched.committed("shaky", "survivor"), {"shaky": [8]}, seconds=150)
    eventually(lambda: is_in_trouble(watched), expected=False)
    assert watched.group("shaky", "survivor")["partitions"][0]["start"]["offset"] == 3
    assert status(watched, "stopped") == "STOP"
    assert shaky_cluster(watched)["restarts"] > restarts
    assert len(watched.logged("brokers answer again")) >= 1
    assert watched.health()["consumers"]["steady"]["restarts"] == 0
    eventually(lambda: ready(watched), "READY")


def test_a_broker_that_is_frozen_is_told_of_while_it_is_read_and_after(
    spark: SparkSession, shaky: Broker, tmp_path: Path
) -> None:
    if shaky.pid is None:
        shaky.start()
    kafka = Kafka(shaky.bootstrap)
    kafka.make_topic("frozen", 9)
    kafka.commit("reader", "frozen", {0: 3})
    seldom = source("cold", shaky.bootstrap).replace("offset-refresh = 1", "offset-refresh = 60")
    with watching(spark, tmp_path, seldom + storage(intervals=4)) as watched:
        eventually(lambda: bool(watched.monitor.clusters["cold"].ends_s), expected=True)
        words = []
        for _ in ("before all is read", "after"):
            freeze(shaky.pid)
            try:
                eventually(lambda: is_in_trouble(watched, "cold"), expected=True)
                word, line, *_ = ready(watched).splitlines()
                told = words_of_clusters(watched)
            finally:
                thaw(shaky.pid)
            eventually(lambda: is_in_trouble(watched, "cold"), expected=False)
            eventually(lambda: ready(watched), "READY")
            words.append(word)
            assert line.startswith("cluster cold: no broker answers: ")
            assert told == {"cold": line.removeprefix("cluster cold: ")}
        logged = [
            line["msg"]
            for message in ("brokers do not answer", "brokers answer again")
            for line in watched.logged(message)
            if line["name"] == "cold"
        ]

    assert words[1] == "READY"
    assert logged == ["brokers do not answer"] * 2 + ["brokers answer again"] * 2


def status(watched: Watching, group: str) -> str | None:
    parts = watched.group("shaky", group)["partitions"]
    return parts[0]["status"] if parts else None


def shaky_cluster(watched: Watching) -> Any:
    return watched.health()["clusters"]["shaky"]


def words_of_clusters(watched: Watching) -> dict[str, str]:
    """What the page and `warren status` say of each cluster."""
    return {each["name"]: each["problem"] for each in watched.json("/v4/overview")["clusters"]}


def ready(watched: Watching) -> str:
    return watched.ask("/burrow/admin/ready")[1].decode()


def is_in_trouble(watched: Watching, cluster: str = "shaky") -> bool:
    return bool(watched.health().get("clusters", {}).get(cluster, {}).get("problem"))
