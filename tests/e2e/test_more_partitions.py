"""The offsets topic gains partitions: groups move to others when the broker is started again."""

from functools import partial
from pathlib import Path

from confluent_kafka import KafkaException
from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker, make_offsets_topic
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of

TOPIC = "read-on"
BEFORE, AFTER = 2, 5


def test_groups_go_on_where_they_are_taken(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"group-{number}" for number in range(30)]
    moves = [name for name in names if partition_of(name, BEFORE) != partition_of(name, AFTER)]
    groups = [
        next(name for name in names if name not in moves),
        next(name for name in moves if partition_of(name, AFTER) >= BEFORE),
        next(name for name in moves if partition_of(name, AFTER) < BEFORE),
    ]
    with Broker(offsets_partitions=BEFORE) as broker:
        make_offsets_topic(broker.bootstrap)
        kafka = Kafka(broker.bootstrap)
        kafka.make_topic(TOPIC, 9)
        config = source("local", broker.bootstrap) + storage(intervals=4)
        with watching(spark, tmp_path, config) as watched:
            for offset in (1, 2, 3):
                for group in groups:
                    kafka.commit(group, TOPIC, {0: offset})
            eventually(lambda: [offsets(watched, group) for group in groups], [[1, 2, 3]] * 3)

            kafka.add_partitions(OFFSETS_TOPIC, AFTER)
            eventually(lambda: len(read_to(watched)), AFTER)
            broker.stop()
            broker.start()
            for group in groups:
                eventually(partial(is_taken, kafka, group, 4), expected=True)

            eventually(lambda: [offsets(watched, group) for group in groups], [[1, 2, 3, 4]] * 3)


def is_taken(kafka: Kafka, group: str, offset: int) -> bool:
    """Whether the broker, which may be loading its groups, takes a commit."""
    try:
        kafka.commit(group, TOPIC, {0: offset})
    except KafkaException:
        return False
    return True


def read_to(watched: Watching) -> dict[str, int]:
    found: dict[str, int] = watched.health()["consumers"]["local"]["positions"]
    return found


def offsets(watched: Watching, group: str) -> list[int]:
    """All commits in the window of a group's only partition."""
    answer = watched.json(f"/v3/kafka/local/consumer/{group}")
    parts = answer["topics"][TOPIC] if "topics" in answer else [{"offsets": []}]
    return [each["offset"] for each in parts[0]["offsets"] if each]
