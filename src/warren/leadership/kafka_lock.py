"""Leadership by Kafka: the instance that is assigned the only partition of a topic leads.

The instances form a consumer group on that topic. The one with the partition commits every two
seconds, which only a live member of the group can. Each successful commit extends the lease to two
thirds of the session time-out: less than Kafka needs to assign the partition to another instance.

The shared state is the topic's records, one for each entry; the topic is compacted. Records are
written in transactions with one id, so an instance that takes over fences off the one before.
"""

import threading
import time
from collections.abc import Mapping

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from warren.errors import LeadershipLost
from warren.leadership.lease import NOTIFIER, Lease, decode_keys, encode_keys

Settings = Mapping[str, object]

SESSION_S = 6.0
LEASE_S = SESSION_S * 2 / 3
CONFIRM_S = 2.0
POLL_S = 0.5
ANSWER_S = 10.0
ERROR_LASTS_S = 15.0  # the client repeats errors that go on, and does not report their end


class KafkaLock:
    def __init__(self, settings: Settings, topic: str, duty: str = NOTIFIER) -> None:
        """`settings` are for the connection; group and transactional id are the topic's name."""
        self._settings = dict(settings)
        self._topic = topic
        self._partition = TopicPartition(topic, 0)
        self._lease = Lease("kafka", duty)
        self._is_assigned = False
        self._confirmed = 0.0
        self._producer: Producer | None = None
        self._last_error = ""
        self._error_at = 0.0

    @property
    def leads(self) -> bool:
        return self._lease.is_valid

    @property
    def problem(self) -> str:
        return self._lease.problem

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._make_topic()
                self._compete(stop)
            except KafkaException as error:
                self._last_error = self._last_error or _text(error)
                self._error_at = time.monotonic()
                self._lease.log_changes(self._last_error)
                stop.wait(CONFIRM_S)
        self._lease.log_changes(self.problem)

    def load(self) -> dict[str, bytes]:
        self._leading_producer()
        state: dict[bytes, bytes] = {}
        reader = Consumer(
            self._settings
            | {
                "group.id": self._topic,  # required, but this consumer neither joins nor commits
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        try:
            reader.assign([TopicPartition(self._topic, 0, OFFSET_BEGINNING)])
            while (record := self._next(reader)) is not None:
                if record.value() is None:
                    state.pop(record.key(), None)
                else:
                    state[record.key()] = record.value()
        finally:
            reader.close()
        return decode_keys(state)

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        producer = self._leading_producer()
        try:
            producer.begin_transaction()
            for key, value in encode_keys(changes).items():
                producer.produce(self._topic, key=key, value=value, partition=0)
            producer.commit_transaction(ANSWER_S)
        except (KafkaException, BufferError) as error:
            # We do not know whether it was written: start over, which ends an open transaction.
            self._release()
            raise LeadershipLost(_text(error)) from error

    def _leading_producer(self) -> Producer:
        producer = self._producer
        if producer is None or not self.leads:
            raise LeadershipLost("another instance may lead")
        return producer

    def _next(self, reader: Consumer) -> Message | None:
        """The next record; None at the end of the topic."""
        record = reader.poll(ANSWER_S)
        if record is None or not self.leads:
            raise LeadershipLost("Kafka does not answer in time")
        error = record.error()
        if error is None:
            return record
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001  # librdkafka's own codes
            raise LeadershipLost(error.str())
        return None

    def _make_topic(self) -> None:
        admin = AdminClient(self._settings | {"error_cb": self._on_error})
        known = admin.list_topics(timeout=ANSWER_S).topics.get(self._topic)
        if known is not None and known.error is None:
            return
        compacted = {"cleanup.policy": "compact"}
        topic = NewTopic(self._topic, 1, replication_factor=-1, config=compacted)
        try:
            admin.create_topics([topic])[self._topic].result(timeout=ANSWER_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def _compete(self, stop: threading.Event) -> None:
        consumer = Consumer(
            self._settings
            | {
                "group.id": self._topic,
                "session.timeout.ms": int(SESSION_S * 1000),
                "heartbeat.interval.ms": int(SESSION_S * 1000 / 4),
                "socket.timeout.ms": int(SESSION_S * 1000),
                # The leader keeps the partition when another instance joins.
                "partition.assignment.strategy": "cooperative-sticky",
                "enable.auto.commit": False,
                "error_cb": self._on_error,
            }
        )
        revoked = {"on_revoke": self._on_revoke, "on_lost": self._on_revoke}
        consumer.subscribe([self._topic], on_assign=self._on_assign, **revoked)
        try:
            while not stop.is_set():
                self._round(consumer)
                if self.leads or time.monotonic() - self._error_at > ERROR_LASTS_S:
                    self._last_error = ""
                self._lease.log_changes(self._last_error)
        finally:
            self._release()
            self._is_assigned = False
            consumer.close()

    def _round(self, consumer: Consumer) -> None:
        record = consumer.poll(POLL_S)
        if record is not None and record.error() is not None:
            raise KafkaException(record.error())  # such as: the topic is gone
        if self._is_assigned and time.monotonic() - self._confirmed >= CONFIRM_S:
            self._confirm(consumer)

    def _confirm(self, consumer: Consumer) -> None:
        """Extend the lease with a commit: of the topic's end, so that the group shows no lag."""
        request = self._lease.start_request()
        _, end = consumer.get_watermark_offsets(self._partition, timeout=SESSION_S)
        commit = TopicPartition(self._topic, 0, end)
        try:
            consumer.commit(offsets=[commit], asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.REBALANCE_IN_PROGRESS:
                return
            raise
        if self._producer is None:
            self._producer = self._take_over()
        self._lease.extend(request, LEASE_S)
        self._confirmed = time.monotonic()

    def _take_over(self) -> Producer:
        """Make a producer; it ends open transactions of the last leader and fences it off."""
        producer = Producer(
            self._settings
            | {
                "transactional.id": self._topic,
                "transaction.timeout.ms": int(ANSWER_S * 1000),
                "socket.timeout.ms": int(SESSION_S * 1000),
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        producer.init_transactions(ANSWER_S)
        return producer

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        if partitions:
            consumer.pause(partitions)  # `load` reads it with another consumer
        if _has_partition_0(partitions):
            self._is_assigned, self._confirmed = True, 0.0

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        """Called before the coordinator may assign the partition to another instance."""
        if _has_partition_0(partitions):
            self._is_assigned = False
            self._release()

    def _release(self) -> None:
        self._lease.end()
        self._producer = None

    def _on_error(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  # follows from the others
            self._last_error = error.str().partition(" (after ")[0]
            self._error_at = time.monotonic()


def _has_partition_0(partitions: list[TopicPartition]) -> bool:
    """Only partition 0 counts, even if somebody made the topic with more."""
    return any(each.partition == 0 for each in partitions)


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return first.str() if isinstance(first, KafkaError) else str(first)
