"""Readers that share a query each get what is in their own topic, whoever else comes or goes."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from threading import Event

import pytest
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
from warren.pipeline.shared_query import SharedQuery, root_cause
from warren.pipeline.steps import refresh_ends, refresh_topics
from warren.pipeline.threads import keep_running
from warren.process.beside import beside
from warren.sources.offsets_topic import HandOver, TopicSource, TopicStream

TOPIC = "read-together"
OFFSETS = ("first-offsets", "second-offsets", "third-offsets")
CONNECTION = Connection(profile=ClientProfile(name=""))
REFUSED = """An exception was raised by the Python Proxy. Return Message: Traceback:
  File "clientserver.py", line 642, in _call_proxy
py4j.protocol.Py4JJavaError: An error occurred while calling o99.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 1 times
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)
Caused by: org.apache.spark.SparkException: somewhere in between
\t... 1 more
Caused by: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized: [offsets]
"""


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    made = Kafka(broker.bootstrap)
    made.make_topic(TOPIC, 9)
    return made


def consumers_of(kafka: Kafka, offsets_topics: Sequence[str]) -> list[TopicConsumer]:
    """One for each topic, each of a cluster of its own."""
    found = []
    for name in offsets_topics:
        settings = Consumer(name=name, cluster=name, servers=(kafka.bootstrap,), offsets_topic=name)
        cluster = new_cluster(name, Storage(name="default"))
        refresh_topics(cluster, kafka.admin, time.time())
        refresh_ends(cluster, kafka.admin, time.time(), 10)
        found.append(TopicConsumer(settings, cluster, Accepts()))
    return found


def read_on(reader: TopicReader, topic_consumer: TopicConsumer, stop: Event) -> None:
    """As in production: failures are noted, and reading goes on."""
    name = topic_consumer.settings.name
    keep_running(name, reader.run, topic_consumer.progress, stop).join()


def commit(kafka: Kafka, offsets_topic: str, group: str, offset: int) -> None:
    key = records.commit_key(group, TOPIC, 0)
    value = records.commit_value(offset, int(time.time() * 1000))
    kafka.write(offsets_topic, [(key, value)], partition=offset % 2)


def groups(topic_consumer: TopicConsumer) -> set[str]:
    return {*topic_consumer.cluster.windows.pairs.groups.ids} - {topic_consumer.own_group}


def test_each_reader_gets_its_own_topic_and_nothing_is_lost_when_another_comes_or_goes(
    spark: SparkSession, kafka: Kafka
) -> None:
    for number, topic in enumerate(OFFSETS):
        kafka.make_topic(topic, 0, 0)
        commit(kafka, topic, f"early-{number}", number)
    consumers = consumers_of(kafka, OFFSETS)
    query = SharedQuery(spark, gather_s=0.2)
    readers = [TopicReader(spark, each, CONNECTION, lambda: None, query) for each in consumers]

    with capture_logs() as told, ExitStack() as stack:
        for reader, each in zip(readers[:2], consumers[:2], strict=True):
            stack.enter_context(
                beside("reader", lambda stop, r=reader, c=each: read_on(r, c, stop))  # type: ignore[misc]
            )
        eventually(lambda: [groups(each) for each in consumers], [{"early-0"}, {"early-1"}, set()])
        with beside("comes and goes", lambda stop: read_on(readers[2], consumers[2], stop)):
            eventually(lambda: groups(consumers[2]), {"early-2"})
            for number, topic in enumerate(OFFSETS):
                commit(kafka, topic, f"meanwhile-{number}", number)
            eventually(
                lambda: [groups(each) for each in consumers],
                [{f"early-{n}", f"meanwhile-{n}"} for n in range(3)],
            )
        commit(kafka, OFFSETS[0], "late", 7)
        eventually(lambda: groups(consumers[0]), {"early-0", "meanwhile-0", "late"})
        consumers[1].cluster.problem = "nobody answers"
        commit(kafka, OFFSETS[0], "later", 8)
        eventually(lambda: "later" in groups(consumers[0]))

    assert [each.progress.records for each in consumers] == [4, 2, 2]
    assert [line for line in told if line["log_level"] != "info"] == []


def test_one_with_a_silent_broker_reads_alone_and_disturbs_nobody(
    spark: SparkSession, kafka: Kafka
) -> None:
    offsets = ("sound-offsets", "silent-offsets", "unanswered-offsets")
    for topic in (*offsets, "probe-offsets"):
        kafka.make_topic(topic, 0, 0)
    consumers = consumers_of(kafka, offsets)
    query = SharedQuery(spark, gather_s=0.2)
    readers = [TopicReader(spark, each, CONNECTION, lambda: None, query) for each in consumers]
    options = {"kafka.bootstrap.servers": kafka.bootstrap}
    probe = TopicStream(TopicSource("probe-offsets", options, {0: 0}), HandOver())
    of_silent, of_unanswered = consumers[1].cluster, consumers[2].cluster
    of_silent.silent_brokers = [7]
    topics = of_unanswered.topics
    assert topics
    of_unanswered.topics = topics._replace(  # with a partition that nobody answers for
        counts={**topics.counts, offsets[2]: 3},
        leaders={**topics.leaders, (offsets[2], 2): topics.leaders[offsets[2], 0]},
    )

    with ExitStack() as stack:
        for reader, each in zip(readers, consumers, strict=True):
            stack.enter_context(
                beside("reader", lambda stop, r=reader, c=each: read_on(r, c, stop))  # type: ignore[misc]
            )
        turn = stack.enter_context(query.reading(probe, Event()))
        for number in range(3):
            for topic in offsets:
                commit(kafka, topic, f"group-{number}", number)
            eventually(lambda: [len(groups(each)) for each in consumers], [number + 1] * 3)
        seen = [stream.source.topic for stream in turn.streams], turn.is_reading

    assert sorted(seen[0]) == ["probe-offsets", "sound-offsets"]
    assert seen[1]
    assert consumers[2].progress.unanswered == [2]


def test_one_that_cannot_be_read_makes_the_others_read_alone(
    spark: SparkSession, kafka: Kafka
) -> None:
    kafka.make_topic("readable-offsets", 0, 0)
    (topic_consumer,) = consumers_of(kafka, ["readable-offsets"])
    query = SharedQuery(spark, gather_s=1.0)
    reader = TopicReader(spark, topic_consumer, CONNECTION, lambda: None, query)
    options = {"kafka.bootstrap.servers": kafka.bootstrap, "kafka.security.protocol": "nonsense"}
    unreadable = TopicStream(TopicSource("readable-offsets", options, {0: 0}), HandOver())
    failed = []

    def read_nonsense(stop: Event) -> None:
        with query.reading(unreadable, stop) as turn:
            eventually(lambda: turn.is_reading, expected=False)
            failed.append((len(turn.streams), "nonsense" in turn.failure))

    with (
        capture_logs() as told,
        beside("reader", lambda stop: read_on(reader, topic_consumer, stop)),
        beside("nonsense", read_nonsense),
    ):
        commit(kafka, "readable-offsets", "a-group", 1)
        eventually(lambda: groups(topic_consumer), {"a-group"})

    assert failed == [(2, True)]
    assert [line for line in told if line["log_level"] != "info"] == []


def test_the_innermost_cause_is_told() -> None:
    cases = {
        REFUSED: "Not authorized: [offsets]",
        "Query terminated: no leader\n\tat somewhere": "Query terminated: no leader",
        "Failed\nCaused by: java.io.EOFException\n\tat somewhere": "EOFException",
        "": "",
    }

    assert {told: root_cause(told) for told in cases} == cases
