"""What was in the offsets topic before us is read to its end, however often we are kept from it."""

import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession
from structlog.testing import capture_logs
from support import records
from support.kafka_clients import Kafka
from support.waiting import eventually

from warren.config import ClientProfile, Connection, Consumer, Storage
from warren.demo.broker import Broker
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.follow_offsets_topic import TopicReader
from warren.pipeline.snapshots import Snapshots
from warren.pipeline.starting_positions import starting_positions
from warren.pipeline.steps import refresh_ends, refresh_topics
from warren.process.beside import beside

TOPIC, PAST = "back-filled", "interrupted-offsets"
STORAGE = Storage(name="default")


def commit(group: str, offset: int) -> tuple[bytes, bytes]:
    value = records.commit_value(offset, int(time.time() * 1000))
    return records.commit_key(group, TOPIC, 0), value


def beginning(kafka: Kafka) -> TopicConsumer:
    """A consumer whose live reading has begun, at the end of the topic."""
    cluster = new_cluster("c", STORAGE)
    settings = Consumer(
        name="c",
        cluster="c",
        servers=(kafka.bootstrap,),
        offsets_topic=PAST,
        start_latest=True,
        backfill_earliest=True,
    )
    topic_consumer = TopicConsumer(settings, cluster, Accepts())
    refresh_topics(cluster, kafka.admin, time.time())
    refresh_ends(cluster, kafka.admin, time.time(), 10)
    return topic_consumer


def follower(spark: SparkSession, topic_consumer: TopicConsumer) -> TopicReader:
    connection = Connection(profile=ClientProfile(name=""))
    return TopicReader(spark, topic_consumer, connection, lambda: None)


def test_it_is_done_when_all_partitions_are_read_and_not_before(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 9)
    kafka.make_topic(PAST, 0, 0)
    for partition, group in enumerate(("first", "second")):
        kafka.write(PAST, [commit(group, 3)], partition)

    with capture_logs() as told:
        stopped, stop = beginning(kafka), threading.Event()
        interrupted = follower(spark, stopped)
        stopped.progress.begin(starting_positions(stopped, kafka.admin), time.time())
        stop.set()
        interrupted.backfill(stop)
    snapshots = Snapshots(tmp_path, 60, {"c": stopped.cluster}, {"c": stopped}, STORAGE)
    snapshots.save()

    assert [line["event"] for line in told] == [
        "backfill interrupted; it starts again at the next start"
    ]
    assert [*tmp_path.iterdir()] == []

    with capture_logs() as told:
        again = beginning(kafka)
        with beside("backfill", follower(spark, again).backfill):
            listed = again.cluster.topics
            assert listed is not None
            leaders = {at: leader for at, leader in listed.leaders.items() if at != (PAST, 1)}
            again.cluster.topics = listed._replace(leaders=leaders)  # the other one's is away
            again.progress.begin(starting_positions(again, kafka.admin), time.time())
            eventually(lambda: groups(again), {"first"})
            eventually(lambda: [line["partitions"] for line in told if "partitions" in line], [[1]])
            assert again.live_events is not None

            again.cluster.topics = listed
            again.progress.begin(starting_positions(again, kafka.admin), time.time())
            eventually(lambda: again.live_events, expected=None)

    assert groups(again) == {"first", "second"}
    assert [line["records"] for line in told if line["event"] == "backfill done"] == [2]


def groups(topic_consumer: TopicConsumer) -> set[str]:
    return {*topic_consumer.cluster.windows.pairs.groups.ids} - {topic_consumer.own_group}
