"""Whole rounds against a real broker: what is found out about records that a group has not read."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from support.kafka_clients import Kafka
from support.probing import Watched, probing
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.model.probe_answers import Known
from warren.sources.tail_reader import TailReader

QUICK = {
    "log.retention.check.interval.ms": "300",
    "log.cleaner.backoff.ms": "300",
    "log.initial.task.delay.ms": "0",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}
HOUR_MS = 3_600_000
READ, RECORD, TIMED = Known.READ, Known.RECORD, Known.TIMED


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    broker = Broker(offsets_partitions=1)
    broker.configure(QUICK)
    with broker:
        yield Kafka(broker.bootstrap)


def transactional(kafka: Kafka, name: str) -> Producer:
    settings = {"bootstrap.servers": kafka.bootstrap, "transactional.id": name, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(60)
    return producer


def write(producer: Producer, topic: str, partition: int, records: int) -> None:
    producer.begin_transaction()
    for _ in range(records):
        producer.produce(topic, b"a record", partition=partition)
    assert producer.flush(60) == 0


def watching(kafka: Kafka, *topics: str) -> Watched:
    """Topics have been listed, and their ends read twice."""
    watched = Watched(kafka.admin)
    for _ in range(2):
        watched.round()
    assert {*topics} <= watched.cluster.windows.ends.topics.ids.keys()
    return watched


def test_markers_and_aborted_records_are_told_from_records(kafka: Kafka) -> None:
    kafka.make_topic("tx", 3, 3, 3, 3, 3)
    producer = transactional(kafka, "tx")
    write(producer, "tx", 0, 1)
    producer.commit_transaction(60)  # 0: a record at 3, a marker at 4
    for partition in (1, 2):
        write(producer, "tx", partition, 2)
        producer.abort_transaction(60)  # 1, 2: aborted records at 3 and 4, a marker at 5
    kafka.wait_for_end("tx", 2, 6)
    kafka.produce("tx", 0, 0, 1)  # 2: a record at 6
    write(producer, "tx", 4, 2)  # 4: left open
    watched = watching(kafka, "tx")
    watched.commit("tx", 4, 3, 3, 1, 3)
    watched.commit("tx", 4, 3, group="same")

    with probing(watched, kafka.bootstrap):
        found = [(READ, 5, 5), (READ, 6, 3), (READ | RECORD, 6, 3), (READ | RECORD, 1, 1)]
        eventually(lambda: watched.round().all_found("tx", 4), found)
        assert watched.found("tx", 0, "same") == (READ, 5, 5)
        # An open transaction holds them back: nothing is there to be read.
        eventually(lambda: watched.round().edges("tx", 4), (0, 3))
        assert watched.found("tx", 4)[0] == Known.NOTHING
        assert [watched.edges("tx", each)[1] for each in range(4)] == [None] * 4

        # When it ends, only a marker and what it aborted are left.
        producer.abort_transaction(60)
        eventually(lambda: watched.after_round("tx", 4), (READ, 6, 3))
        eventually(lambda: watched.round().edges("tx", 4), (0, None))

        # What is remembered holds until the end moves on.
        write(producer, "tx", 0, 1)
        producer.commit_transaction(60)  # a record at 5, a marker at 6
        eventually(lambda: watched.after_round("tx", 0), (READ | RECORD, 5, 5))


def test_what_retention_took_is_not_looked_for(kafka: Kafka) -> None:
    kafka.make_topic("taken", 9, 9)
    short = {"segment.bytes": "1048576", "retention.ms": "1", "segment.ms": "1"}
    made = kafka.admin.create_topics([NewTopic("expires", 1, 1, config=short)])
    made["expires"].result(30)
    kafka.produce("expires", 5)
    watched = watching(kafka, "taken", "expires")
    watched.commit("taken", 2, 9)
    watched.commit("expires", 1)
    gone = kafka.admin.delete_records([TopicPartition("taken", 0, 6)])
    assert [each.result(30).low_watermark for each in gone.values()] == [6]

    with probing(watched, kafka.bootstrap):
        eventually(lambda: watched.round().edges("taken"), (6, None))
        eventually(lambda: watched.after_round("taken"), (READ | RECORD, 6, 6))
        # The broker rolls and deletes segments by itself; the group had read one record.
        eventually(lambda: watched.round().edges("expires"), (5, None))
        assert watched.edges("taken", 1) == (0, None)

        assert eventually(lambda: facts_of(watched, "expires")) == [1, None, False, True]
        assert eventually(lambda: watched.cluster.facts.offsets_retention_s) == 7 * 86_400.0
        assert watched.cluster.facts.problems == {}


def test_holes_of_compaction_are_no_records(kafka: Kafka) -> None:
    compact = {
        "cleanup.policy": "compact",
        "segment.ms": "1",
        "min.cleanable.dirty.ratio": "0.001",
        "max.compaction.lag.ms": "1",
    }
    made = kafka.admin.create_topics([NewTopic("compacted", 1, 1, config=compact)])
    made["compacted"].result(30)
    watched = watching(kafka, "compacted")
    for number in range(8):  # a segment each
        kafka.write("compacted", [(b"the same", b"%d" % number)])

    settings = {"bootstrap.servers": kafka.bootstrap, "group.id": "looks", "log_level": 0}
    reader = TailReader(settings, "read_committed")
    eventually(lambda: reader.read(("compacted", 0), 0, 30).offset, 6)  # the last two always stay
    reader.close()
    watched.commit("compacted", 1)
    with probing(watched, kafka.bootstrap):
        found = (READ | RECORD, 6, 6)
        eventually(lambda: watched.after_round("compacted"), found)
        assert eventually(lambda: facts_of(watched, "compacted"))[2:] == [True, False]


def test_records_older_than_our_history_have_times_by_their_timestamps(kafka: Kafka) -> None:
    now_ms = int(time.time() * 1000)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    old = [now_ms - 100 * HOUR_MS + number * HOUR_MS // 10 for number in range(900)]
    wrong = [now_ms + HOUR_MS // 2] * 900  # brokers take no more than an hour
    ancient = [1] * 900
    made = kafka.admin.create_topics([NewTopic("old", 3, 1, config={"retention.ms": "-1"})])
    made["old"].result(30)
    for partition, moments in enumerate((old, wrong, ancient)):
        for moment in moments:
            producer.produce("old", b"a record", partition=partition, timestamp=moment)
        assert producer.flush(60) == 0
    watched = watching(kafka, "old")
    watched.commit("old", 100, 100, 100)
    grid = watched.cluster.windows.grid
    rows = [watched.row("old", partition) for partition in range(3)]

    def timed() -> list[bool]:
        watched.round()
        return [bool(grid.probed[row] & TIMED) for row in rows]

    with probing(watched, kafka.bootstrap):
        eventually(timed, [True] * 3)

    earliest_ms, latest_ms = grid.earliest_ms[rows].tolist(), grid.latest_ms[rows].tolist()
    assert earliest_ms[0] <= old[100] <= latest_ms[0]
    assert now_ms - earliest_ms[0] <= 1.2 * (now_ms - latest_ms[0])
    assert earliest_ms[1] >= now_ms - 1000  # no older than now; that it is younger changes nothing
    assert latest_ms[2] - earliest_ms[2] > 2**62  # before computers: no time at all


def test_a_topic_made_anew_forgets_what_was_found(kafka: Kafka) -> None:
    kafka.make_topic("anew", 4)
    watched = watching(kafka, "anew")
    watched.commit("anew", 2)
    with probing(watched, kafka.bootstrap):
        eventually(lambda: watched.after_round("anew"), (READ | RECORD, 2, 2))

        kafka.delete_topic("anew")
        kafka.make_topic("anew", 0)
        Kafka(kafka.bootstrap).produce("anew", 7)
        eventually(lambda: end_of(watched.round(), "anew"), 7)

        watched.commit("anew", 6)
        assert watched.found("anew")[0] == Known.NOTHING
        eventually(lambda: watched.after_round("anew"), (READ | RECORD, 6, 6))


def facts_of(watched: Watched, topic: str) -> list[object]:
    return [*watched.cluster.facts.topics.get(topic, ())]


def end_of(watched: Watched, topic: str) -> int | None:
    return watched.cluster.windows.ends.newest(topic)[0]


def test_without_reads_nothing_is_read(kafka: Kafka) -> None:
    kafka.make_topic("unread", 4)
    watched = watching(kafka, "unread")
    watched.commit("unread", 2)

    with probing(watched, kafka.bootstrap, reads=0):
        eventually(lambda: watched.cluster.facts.topics.get("unread"))
        watched.round()
        eventually(lambda: watched.cluster.targets.tails, None)

    assert watched.found("unread")[0] == Known.NOTHING
