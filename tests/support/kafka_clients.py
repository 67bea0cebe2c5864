"""What happens on a broker while Warren watches it, done by real clients."""

import contextlib
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec
from support import records
from support.waiting import eventually

CLASSIC, KIP_848 = "classic", "consumer"
WAIT_S = 60.0
OFFSET_COMMIT = 8  # of Kafka's requests

Offsets = Mapping[int, int]  # by partition
Record = tuple[bytes | None, bytes | None]


class Kafka:
    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
        self._refused: list[KafkaError] = []

    def make_topic(self, topic: str, *ends: int) -> None:
        """Make a topic whose partitions hold as many records as told."""
        self._wait(self.admin.create_topics([NewTopic(topic, len(ends), 1)]))
        self.produce(topic, *ends)

    def produce(self, topic: str, *counts: int) -> None:
        """Write so many records to each partition."""
        for partition, count in enumerate(counts):
            for _ in range(count):
                self._send(topic, partition, None, b"a record")
        self._flush()

    def wait_for_end(self, topic: str, partition: int, offset: int) -> None:
        """Wait until the log ends there: a transaction's marker comes after the answer."""
        place = TopicPartition(topic, partition)

        def end() -> int:
            (asked,) = self.admin.list_offsets({place: OffsetSpec.latest()}).values()
            return int(asked.result(WAIT_S).offset)

        eventually(end, offset)

    def commit(
        self, group: str, topic: str, offsets: Offsets, settings: Mapping[str, str] | None = None
    ) -> None:
        """Commit from outside, as a tool does: a group without members."""
        with self._consumer(group, settings or {}) as consumer:
            commit(consumer, topic, offsets)

    def commit_anything(self, group: str | bytes, topic: str, offsets: Offsets) -> None:
        """Commit what client libraries refuse to, and brokers do not: negative offsets too."""
        each = (
            records.int32(at) + records.int64(to) + records.string("") for at, to in offsets.items()
        )
        request = (
            struct.pack(">hhi", OFFSET_COMMIT, 2, 1)
            + records.string("a client")
            + records.string(group)
            + records.int32(-1)  # no generation
            + records.string("")  # no member
            + records.int64(-1)  # kept as long as usual
            + records.array([records.string(topic) + records.array(each)])
        )
        host, _, port = self.bootstrap.rpartition(":")
        with socket.create_connection((host, int(port)), WAIT_S) as connection:
            connection.sendall(records.blob(request))
            answer = connection.makefile("rb")
            body = answer.read(*struct.unpack(">i", answer.read(4)))
        errors = [code for _, code in struct.iter_unpack(">ih", body[-6 * len(offsets) :])]
        assert errors == [0] * len(offsets), (group, errors)

    @contextmanager
    def member(self, group: str, topic: str, protocol: str, client: str) -> Iterator[Consumer]:
        """A consumer that has got all partitions of a topic; it leaves when this ends."""
        settings = {"group.protocol": protocol, "client.id": client}
        with self._consumer(group, settings) as consumer:
            consumer.subscribe([topic])
            yield consumer

    @contextmanager
    def _consumer(self, group: str, settings: Mapping[str, str]) -> Iterator[Consumer]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": group,
                "enable.auto.commit": False,
                "log_level": 0,
                **settings,
            }
        )
        with contextlib.closing(consumer):
            yield consumer

    def add_partitions(self, topic: str, total: int) -> None:
        self._wait(self.admin.create_partitions([NewPartitions(topic, total)]))

    def delete_topic(self, topic: str) -> None:
        self._wait(self.admin.delete_topics([topic]))

    def delete_group(self, group: str) -> None:
        self._wait(self.admin.delete_consumer_groups([group]))

    def write(self, topic: str, records: Iterable[Record], partition: int = 0) -> None:
        """Write records with keys, in this order."""
        for key, value in records:
            self._send(topic, partition, key, value)
        self._flush()

    def _send(self, topic: str, partition: int, key: bytes | None, value: bytes | None) -> None:
        self._producer.produce(
            topic, key=key, value=value, partition=partition, on_delivery=self._note_refusal
        )

    def _note_refusal(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self._refused.append(error)

    def _flush(self) -> None:
        assert self._producer.flush(WAIT_S) == 0
        assert self._refused == []

    @contextmanager
    def transaction(
        self, name: str, group: str, topic: str, offsets: Offsets
    ) -> Iterator[Producer]:
        """A transaction that holds commits of a group; left open, it is aborted in the end."""
        producer = Producer(
            {"bootstrap.servers": self.bootstrap, "transactional.id": name, "log_level": 0}
        )
        producer.init_transactions(WAIT_S)
        producer.begin_transaction()
        with self._consumer(group, {}) as consumer:
            places = [TopicPartition(topic, *place) for place in offsets.items()]
            metadata = consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction(places, metadata, WAIT_S)
        try:
            yield producer
        finally:
            with contextlib.suppress(KafkaException):  # the caller has ended it
                producer.abort_transaction(WAIT_S)

    @staticmethod
    def _wait(asked: Mapping[object, object]) -> None:
        for done in asked.values():
            done.result(WAIT_S)  # type: ignore[attr-defined]  # confluent-kafka ships no types


def commit(consumer: Consumer, topic: str, offsets: Offsets) -> None:
    places = [TopicPartition(topic, *place) for place in offsets.items()]
    for place in consumer.commit(offsets=places, asynchronous=False):
        assert place.error is None, place


def wait_assigned(*consumers: Consumer) -> None:
    """Poll until every consumer has been given its partitions."""

    def without_partitions() -> list[Consumer]:
        waiting = [each for each in consumers if not each.assignment()]
        for each in waiting:
            each.poll(0.1)
        return waiting

    eventually(without_partitions, [], WAIT_S)
