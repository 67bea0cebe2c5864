"""The offsets topic no longer holds where reading stood: retention took it, or it is another."""

import time
from pathlib import Path

from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession
from support import records
from support.batches import NOW, Record, batch, log_ends
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.config import Consumer, Storage
from warren.demo.broker import Broker
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.starting_positions import starting_positions
from warren.pipeline.steps import refresh_ends, refresh_progress, refresh_topics
from warren.sources.group_offsets import partition_of

TOPIC = "lost-read"
EXPIRED, REMADE = "expired-offsets", "remade-offsets"
LOST = "the offsets topic no longer holds our position; reading from its earliest record"
ANEW = "the offsets topic was deleted and created again; reading from its start"


def test_it_is_read_from_the_earliest_and_that_is_told(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 9)
    config = f'[general]\nstate-dir = "{tmp_path / "state"}"\n' + storage(4)
    for name in (EXPIRED, REMADE):
        kafka.make_topic(name, 0, 0)
        kafka.write(name, [commit("moves", 1), commit("moves", 2)])
        kafka.write(name, [commit("stays", 1)], partition=1)
        config += source(name, broker.bootstrap, f'offsets-topic = "{name}"')
    with watching(spark, folder(tmp_path, "first"), config) as first:
        for name in (EXPIRED, REMADE):
            wait_for(first, name, "moves", [1, 2])
            wait_for(first, name, "stays", [1])

    kafka.write(EXPIRED, [commit("moves", 3), commit("moves", 4)])
    kafka.admin.delete_records([TopicPartition(EXPIRED, 0, 3)])
    # As long as the old one was, or longer: by the positions alone it could be the same.
    make_anew(kafka, REMADE, [commit("moves", 5), commit("moves", 6), commit("moves", 7)])

    with watching(spark, folder(tmp_path, "second"), config) as second:
        wait_for(second, EXPIRED, "moves", [1, 2, 4])
        wait_for(second, EXPIRED, "stays", [1])
        wait_for(second, REMADE, "moves", [5, 6, 7])
        wait_for(second, REMADE, "stays", [])

        make_anew(kafka, REMADE, [commit("moves", 8)])
        wait_for(second, REMADE, "moves", [8])

        (lost,) = second.logged(LOST)
        assert (lost["name"], lost["partitions"]) == (EXPIRED, [0])
        assert [line["name"] for line in second.logged(ANEW)] == [REMADE, REMADE]


def test_a_partition_that_lost_its_end_costs_its_own_groups_only(broker: Broker) -> None:
    kafka, topic = Kafka(broker.bootstrap), "shortened-offsets"
    kafka.make_topic(topic, 0, 0)
    for partition in range(2):
        kafka.write(topic, [commit("any", 1)] * 3, partition)
    cluster = new_cluster("c", Storage(name="default"))
    settings = Consumer(name="c", cluster="c", servers=(broker.bootstrap,), offsets_topic=topic)
    topic_consumer = TopicConsumer(settings, cluster, Accepts())
    refresh_topics(cluster, kafka.admin, time.time())
    refresh_ends(cluster, kafka.admin, time.time(), 10)
    cluster.windows.set_log_ends(log_ends(9, topic="shortened"), {"shortened": 1})
    groups = [f"group-{number}" for number in range(8)]
    commits = [Record(50, 1, group=group, topic="shortened") for group in groups]
    cluster.windows.fold(batch(*commits), NOW)
    topic_consumer.progress.position.update({0: 51, 1: 2})
    topic_consumer.progress.read_s.update({0: NOW, 1: NOW})

    refresh_progress(topic_consumer, kafka.admin, time.time())
    noticed = set(topic_consumer.progress.shortened)
    start = starting_positions(topic_consumer, kafka.admin)

    assert (noticed, topic_consumer.progress.shortened) == ({0}, set())
    assert topic_consumer.progress.read_s.keys() == {1}
    assert start == {0: 0, 1: 2}
    left = {group for group in groups if partition_of(group, 2) == 1}
    assert {*cluster.windows.pairs.groups.ids} == left
    assert left


def folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir()
    return made


def make_anew(kafka: Kafka, topic: str, commits: list[tuple[bytes, bytes]]) -> None:
    """Delete a topic and make it again, with these records."""
    kafka.delete_topic(topic)
    kafka.make_topic(topic, 0, 0)
    Kafka(kafka.bootstrap).write(topic, commits)  # the old producer may still mean the old topic


def commit(group: str, offset: int) -> tuple[bytes, bytes]:
    value = records.commit_value(offset, int(time.time() * 1000))
    return records.commit_key(group, TOPIC, 0), value


def wait_for(watched: Watching, cluster: str, group: str, expected: list[int]) -> None:
    """Wait until the window of a group's only partition holds these commits."""
    eventually(lambda: offsets(watched, cluster, group), expected)


def offsets(watched: Watching, cluster: str, group: str) -> list[int]:
    answer = watched.json(f"/v3/kafka/{cluster}/consumer/{group}")
    parts = answer["topics"][TOPIC] if "topics" in answer else [{"offsets": []}]
    return [each["offset"] for each in parts[0]["offsets"] if each]
