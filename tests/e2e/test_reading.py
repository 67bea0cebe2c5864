"""What each setting of a consumer makes Warren read, and leave out.

Every cluster here is the same broker. Some consumers read topics that a test has filled itself, and
so knows to the last record.
"""

import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from support import records
from support.kafka_clients import CLASSIC, Kafka, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

PAST, GHOSTS = "past-offsets", "ghost-offsets"
TOPIC = "read-about"


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    """A broker with a past: a partition of one commit, a partition of three."""
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 9)
    kafka.make_topic(PAST, 0, 0)
    kafka.make_topic(GHOSTS, 0)
    kafka.commit("listed-one", TOPIC, {0: 1})
    kafka.write(PAST, [commit("single", 4)])
    kafka.write(PAST, [commit("several", offset) for offset in (1, 2, 3)], partition=1)
    return kafka


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    at, past, latest = kafka.bootstrap, f'offsets-topic = "{PAST}"', "start-latest = true"
    lists = ('group-allowlist = "^listed-"', 'group-denylist = "-secret$"')
    reaper = ("groups-reaper-refresh = 2",)
    config = (
        source("latest", at, past, latest)
        + source("backfill", at, past, latest, "backfill-earliest = true")
        + source("listed", at, *lists)
        + source("reaped", at, f'offsets-topic = "{GHOSTS}"', on_cluster=reaper)
        + storage(4, 'group-denylist = "^(unstored|burrow-backfill)"')
    )
    with watching(spark, tmp_path_factory.mktemp("reading"), config) as watched:
        eventually(watched.is_ready, expected=True)
        yield watched


def commit(group: str, offset: int) -> tuple[bytes, bytes]:
    value = records.commit_value(offset, int(time.time() * 1000))
    return records.commit_key(group, TOPIC, 0), value


def test_start_latest_reads_what_comes_and_backfill_what_was_there_too(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.write(PAST, [commit("several", 4)], partition=1)

    eventually(lambda: offsets(watched, "latest", "several"), [4])
    eventually(lambda: offsets(watched, "backfill", "several"), [1, 2, 3, 4])
    eventually(lambda: offsets(watched, "backfill", "single"), [4])
    assert offsets(watched, "latest", "single") == []


def test_lists_hold_for_commits_and_for_members(watched: Watching, kafka: Kafka) -> None:
    for group in ("listed-secret", "other", "listed-two"):
        kafka.commit(group, TOPIC, {0: 5})
        with kafka.member(group, TOPIC, CLASSIC, client="one") as consumer:
            wait_assigned(consumer)
    kafka.commit("listed-last", TOPIC, {0: 5})

    eventually(lambda: offsets(watched, "listed", "listed-last"), [5])
    eventually(
        lambda: watched.groups("listed"),
        ["burrow-listed", "listed-last", "listed-one", "listed-two"],
    )
    assert set(watched.monitor.clusters["listed"].membership.groups) == {"listed-two"}


def test_the_storage_lists_hold_for_every_consumer(watched: Watching, kafka: Kafka) -> None:
    kafka.write(PAST, [commit("unstored", 4), commit("stored", 4)])

    eventually(lambda: offsets(watched, "latest", "stored"), [4])
    assert "unstored" not in watched.groups("latest")
    assert "burrow-backfill" not in watched.groups("backfill")


def test_a_consumer_reports_its_own_reading(watched: Watching, kafka: Kafka) -> None:
    kafka.write(PAST, [commit("reported", 4)])

    eventually(lambda: offsets(watched, "latest", "reported"), [4])
    end = watched.health()["consumers"]["latest"]["positions"]["0"]
    eventually(lambda: watched.committed("latest", "burrow-latest")[PAST][0], end)


def test_the_reaper_removes_the_groups_that_the_brokers_do_not_know(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.commit("alive", TOPIC, {0: 5})
    kafka.write(GHOSTS, [commit("ghost", 5), commit("alive", 5)])

    message = "removed a group the brokers no longer know"
    eventually(lambda: [line["group"] for line in watched.logged(message)], ["ghost"])
    eventually(lambda: watched.groups("reaped"), ["alive", "burrow-reaped"])


def offsets(watched: Watching, cluster: str, group: str) -> list[int]:
    """All commits in the window of a group's only partition."""
    answer = watched.json(f"/v3/kafka/{cluster}/consumer/{group}")
    parts = answer["topics"][TOPIC] if "topics" in answer else [{"offsets": []}]
    return [each["offset"] for each in parts[0]["offsets"] if each]
