"""What a real broker gives to a reader that looks for the first record after a commit."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from support.kafka_clients import Kafka
from support.signals import freeze, thaw

from warren.demo.broker import Broker
from warren.sources import tail_reader
from warren.sources.log_ends import NO_ANSWER
from warren.sources.tail_reader import TailReader

WAIT_S = 30.0


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


def reader(broker: Broker, isolation: str) -> TailReader:
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "records", "log_level": 0}
    return TailReader(settings, isolation)


@pytest.fixture(scope="module")
def committed(broker: Broker) -> Iterator[TailReader]:
    made = reader(broker, "read_committed")
    yield made
    made.close()


@pytest.fixture(scope="module")
def uncommitted(broker: Broker) -> Iterator[TailReader]:
    made = reader(broker, "read_uncommitted")
    yield made
    made.close()


def transactional(kafka: Kafka, name: str) -> Producer:
    settings = {"bootstrap.servers": kafka.bootstrap, "transactional.id": name, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(60)
    return producer


def write(producer: Producer, topic: str, records: int) -> None:
    producer.begin_transaction()
    for _ in range(records):
        producer.produce(topic, b"a record", partition=0)
    assert producer.flush(60) == 0


def test_markers_aborted_records_and_open_transactions_are_told_from_records(
    kafka: Kafka, committed: TailReader, uncommitted: TailReader
) -> None:
    kafka.make_topic("tails", 2)
    producer = transactional(kafka, "tails")
    write(producer, "tails", 1)  # at 2
    producer.commit_transaction(60)  # a marker at 3
    kafka.wait_for_end("tails", 0, 4)
    write(producer, "tails", 2)  # at 4 and 5
    producer.abort_transaction(60)  # a marker at 6
    kafka.wait_for_end("tails", 0, 7)
    kafka.produce("tails", 1)  # at 7
    write(producer, "tails", 1)  # at 8, left open

    offsets = range(9)
    readers = {"committed": committed, "uncommitted": uncommitted}
    found = {
        name: [each.read(("tails", 0), offset, WAIT_S) for offset in offsets]
        for name, each in readers.items()
    }
    producer.abort_transaction(60)
    kafka.wait_for_end("tails", 0, 10)
    after = committed.read(("tails", 0), 8, WAIT_S)

    at = {name: [(tail.offset, tail.is_record) for tail in tails] for name, tails in found.items()}
    records = {0: 0, 1: 1, 2: 2, 3: 7, 4: 7, 5: 7, 6: 7, 7: 7}
    assert at["committed"] == [*((where, True) for where in records.values()), (8, False)]
    for_any = [0, 1, 2, 4, 4, 5, 7, 7, 8]
    assert at["uncommitted"] == [(where, True) for where in for_any]
    assert (after.offset, after.is_record, after.problem) == (10, False, "")
    assert all(tail.timestamp_ms > 0 for tail in found["uncommitted"])


def test_a_read_that_finds_nothing_says_why(kafka: Kafka, committed: TailReader) -> None:
    kafka.make_topic("tails-end", 3)

    at_end = committed.read(("tails-end", 0), 3, WAIT_S)
    beyond = committed.read(("tails-end", 0), 9, WAIT_S)
    nowhere = committed.read(("no-such-topic", 0), 0, 1)

    assert (at_end.offset, at_end.is_record, at_end.problem) == (3, False, "")
    assert "out of range" in beyond.problem
    assert (nowhere.problem, nowhere.is_refused) != ("", True)


def test_many_topics_do_not_pile_up_in_one_client(
    kafka: Kafka, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_reader, "MOST_TOPICS", 2)
    several = reader(broker, "read_committed")
    topics = [f"tails-{number}" for number in range(5)]
    for topic in topics:
        kafka.make_topic(topic, 1)

    found = [several.read((topic, 0), 0, WAIT_S).is_record for topic in topics]
    several.close()

    assert found == [True] * 5


def test_a_broker_that_does_not_answer_ends_the_read_in_time(kafka: Kafka, broker: Broker) -> None:
    kafka.make_topic("tails-frozen", 1)
    impatient = reader(broker, "read_committed")
    before = impatient.read(("tails-frozen", 0), 0, WAIT_S)

    freeze(broker.pid)
    try:
        frozen = impatient.read(("tails-frozen", 0), 0, 1)
        impatient.close()
    finally:
        thaw(broker.pid)
    after = impatient.read(("tails-frozen", 0), 0, WAIT_S)
    impatient.close()

    assert (before.is_record, frozen.problem, after.is_record) == (True, NO_ANSWER, True)
