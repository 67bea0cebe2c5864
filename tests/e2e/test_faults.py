"""Three brokers that make one cluster; some of them die, or freeze.

The offsets topic is laid out by hand: one partition moves when broker 3 is lost, one when broker 2
is, one stays, one is broker 2's alone. A second one, filled by hand, has no replicas: a partition
is broker 2's alone.
"""

import time
from collections.abc import Iterator
from itertools import count, groupby
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import NewTopic
from pyspark.sql import SparkSession
from support.batches import NOW, Record, batch
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.raw_protocol import STREAMS_PROPERTIES, Connection
from support.records import commit_key, commit_value
from support.servers.broker_cluster import BrokerCluster
from support.signals import freeze, thaw
from support.waiting import WAIT_S, eventually

from warren.config import Storage
from warren.pipeline.cluster import new_cluster
from warren.pipeline.steps import reap_groups, refresh_ends, refresh_topics
from warren.sources.group_offsets import OFFSETS_TOPIC, list_groups, partition_of
from warren.sources.log_ends import renew_leaders

MOVES_FROM_3, MOVES_FROM_2, STAYS, GOES_WITH_2 = range(4)
REPLICAS = [[3, 1, 2], [2, 1, 3], [1, 2, 3], [2, 1, 3]]
IMPATIENT = {"socket.timeout.ms": "5000", "socket.connection.setup.timeout.ms": "2000"}
FRESH_S = 30.0
LONELY, ON_1, ON_2 = "lonely-offsets", 0, 1
QUICK = "[client-profile.quick]\nread-timeout = 5\ndial-timeout = 2\n"
FROZEN_S = 150.0  # a client that is asked to do something gives up on several brokers in turn


@pytest.fixture(scope="module")
def brokers() -> Iterator[BrokerCluster]:
    partitions = len(REPLICAS)
    with BrokerCluster(3, offsets_partitions=partitions, properties=STREAMS_PROPERTIES) as brokers:
        yield brokers


@pytest.fixture(scope="module")
def kafka(brokers: BrokerCluster) -> Kafka:
    kafka = Kafka(brokers.bootstrap)
    for topic, replicas in ((OFFSETS_TOPIC, REPLICAS), (LONELY, [[1], [2]]), ("read", [[1, 2, 3]])):
        new = NewTopic(topic, len(replicas), replica_assignment=replicas)
        kafka.admin.create_topics([new])[topic].result(30)
    with Connection(brokers[1].bootstrap) as connection:
        connection.leave_to(2, OFFSETS_TOPIC, GOES_WITH_2)
    kafka.produce("read", 9)
    return kafka


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    at, quick = kafka.bootstrap.replace(",", '","'), 'client-profile = "quick"'
    config = QUICK + storage(intervals=4)
    config += source("three", at, quick, on_cluster=(quick,))
    config += source("lonely", at, quick, f'offsets-topic = "{LONELY}"', on_cluster=(quick,))
    with watching(spark, tmp_path_factory.mktemp("faults"), config) as watched:
        eventually(watched.is_ready, expected=True)
        for offset in (1, 2):  # with seven to go it has stopped as soon as it is silent
            commit(kafka, "stopped", offset)
        eventually(lambda: is_stopped(watched), expected=True)
        yield watched


def test_no_living_group_is_taken_for_a_dead_one(kafka: Kafka, brokers: BrokerCluster) -> None:
    """Of these the brokers list two: one that was deleted, and after its coordinator has died one
    without a leader, are as absent as groups of Connect and of Streams, which the client hides."""
    at_1 = ("tool", "connect", "streams", "deleted", "secret")
    tool, connect, streams, deleted, secret = (group_at(STAYS, f"lives-{name}") for name in at_1)
    away = group_at(GOES_WITH_2, "lives-away")
    for group in (tool, deleted, away):
        commit(kafka, group, 3)
    kafka.delete_group(deleted)
    cluster = new_cluster("three", Storage(intervals=2))
    refresh_topics(cluster, kafka.admin, NOW)
    refresh_ends(cluster, kafka.admin, NOW, 10)
    known = [tool, connect, streams, deleted, secret, away]
    cluster.windows.fold(batch(*(Record(1, 3, group=name, topic="read") for name in known)), NOW)

    def reap() -> list[str]:
        return reap_groups(cluster, kafka.admin, {secret}, timeout_s=5)

    with Connection(brokers[1].bootstrap) as worker, Connection(brokers[1].bootstrap) as app:
        worker.join_connect(connect).commit("read", 0, 3)
        app.allow_streams()
        app.join_streams(streams, "read").commit("read", 0, 3)
        listed = list_groups(kafka.admin, 10).groups
        reaped = [reap()]
        brokers[2].kill()
        try:
            eventually(lambda: is_listed(kafka, away), expected=False)
            reaped.append(reap())
            refresh_topics(cluster, kafka.admin, NOW)
            reaped.append(reap())
        finally:
            brokers[2].start()
            brokers.wait_for_all()

    assert listed & {*known} == {tool, away}
    assert reaped == [[deleted], [], []]
    assert {*cluster.windows.pairs.groups.ids} == {*known} - {deleted}


def is_listed(kafka: Kafka, group: str) -> bool | None:
    """Whether the brokers list a group; None while one of them does not answer."""
    try:
        renew_leaders(kafka.admin)  # a client goes on asking a broker that is no more
    except KafkaException:  # a busy machine takes longer to fail over
        return None
    listed = list_groups(kafka.admin, 5)
    return None if listed.problem else group in listed.groups


def test_a_change_of_leader_loses_no_commit(
    watched: Watching, kafka: Kafka, brokers: BrokerCluster
) -> None:
    moving, staying = group_at(MOVES_FROM_3, "leader"), group_at(STAYS, "leader")
    for group in (moving, staying):
        commit(kafka, group, 3)
        wait_for(watched, group, [3])

    brokers[3].kill()
    try:
        for group in (moving, staying):
            commit(kafka, group, 4)
        for group in (moving, staying):
            wait_for(watched, group, [3, 4], seconds=FROZEN_S)
        assert is_stopped(watched)
    finally:
        brokers[3].start()
        brokers.wait_for_all()

    commit(kafka, moving, 5)
    wait_for(watched, moving, [3, 4, 5])
    eventually(lambda: cluster(watched)["leaderless"], 0)
    eventually(lambda: cluster(watched)["problem"], "")


def test_a_frozen_broker_costs_nothing_but_what_it_alone_has(
    watched: Watching, kafka: Kafka, brokers: BrokerCluster
) -> None:
    moving = group_at(MOVES_FROM_2, "frozen")
    commit(kafka, moving, 3)
    kafka.write(LONELY, [record("on-one", 3)], ON_1)
    kafka.write(LONELY, [record("on-two", 3)], ON_2)
    wait_for(watched, moving, [3])
    wait_for(watched, "on-one", [3], "lonely")
    wait_for(watched, "on-two", [3], "lonely")

    freeze(brokers[2].pid)
    try:
        commit(kafka, moving, 4)
        kafka.write(LONELY, [record("on-one", 4)], ON_1)
        eventually(lambda: cluster(watched, "lonely")["leaderless"], 2)  # one of each topic
        wait_for(watched, moving, [3, 4], seconds=FROZEN_S)
        wait_for(watched, "on-one", [3, 4], "lonely", seconds=FROZEN_S)
        assert offsets(watched, "on-two", "lonely") == [3]
        assert is_stopped(watched)
        assert cluster(watched)["data_age_s"] < FRESH_S
        assert watched.is_ready()
    finally:
        thaw(brokers[2].pid)

    kafka.write(LONELY, [record("on-two", 4)], ON_2)
    wait_for(watched, "on-two", [3, 4], "lonely", seconds=FROZEN_S)
    for consumer in ("three", "lonely"):
        wait_for_state(watched, consumer, "caught up")


def test_when_all_are_frozen_the_age_of_what_is_known_is_told(
    watched: Watching, kafka: Kafka, brokers: BrokerCluster
) -> None:
    group = group_at(STAYS, "all-frozen")
    commit(kafka, group, 3)
    wait_for(watched, group, [3])

    for broker in brokers.brokers:
        freeze(broker.pid)
    try:
        eventually(lambda: bool(cluster(watched)["problem"]), expected=True)
        eventually(lambda: cluster(watched)["data_age_s"] > 5, expected=True)
        assert offsets(watched, group) == [3]
        assert is_stopped(watched)
    finally:
        for broker in brokers.brokers:
            thaw(broker.pid)

    commit(kafka, group, 4)
    wait_for(watched, group, [3, 4], seconds=FROZEN_S)
    eventually(lambda: cluster(watched)["problem"], "")


def group_at(partition: int, name: str) -> str:
    """A name of a group that this partition of the offsets topic holds."""
    names = (f"{name}-{number}" for number in count())
    return next(each for each in names if partition_of(each, len(REPLICAS)) == partition)


def commit(kafka: Kafka, group: str, offset: int) -> None:
    """Commit as soon as the brokers take it."""

    def is_taken() -> bool:
        try:
            kafka.commit(group, "read", {0: offset}, IMPATIENT)
        except KafkaException:
            return False
        return True

    eventually(is_taken, expected=True, seconds=FROZEN_S)


def record(group: str, offset: int) -> tuple[bytes, bytes]:
    return commit_key(group, "read", 0), commit_value(offset, int(time.time() * 1000))


def wait_for(
    watched: Watching,
    group: str,
    expected: list[int],
    cluster: str = "three",
    seconds: float = WAIT_S,
) -> None:
    eventually(lambda: offsets(watched, group, cluster), expected, seconds)


def wait_for_state(watched: Watching, consumer: str, expected: str) -> None:
    eventually(lambda: watched.health()["consumers"][consumer]["state"], expected)


def offsets(watched: Watching, group: str, cluster: str = "three") -> list[int]:
    """All commits in the window of a group; one whose answer was lost may have been made twice."""
    answer = watched.json(f"/v3/kafka/{cluster}/consumer/{group}")
    parts = answer["topics"]["read"] if "topics" in answer else [{"offsets": []}]
    return [offset for offset, _ in groupby(each["offset"] for each in parts[0]["offsets"] if each)]


def is_stopped(watched: Watching) -> bool:
    """Whether the group that has stopped is said to have."""
    parts = watched.group("three", "stopped")["partitions"]
    return [part["status"] for part in parts] == ["STOP"]


def cluster(watched: Watching, name: str = "three") -> Any:
    return watched.health()["clusters"][name]
