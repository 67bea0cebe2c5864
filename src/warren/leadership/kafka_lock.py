"""Who leads, decided by Kafka: who is assigned the only partition of a topic leads.

The instances are a consumer group on that topic. Every two seconds who has the partition commits,
which only a living member of the group can; what the coordinator answered holds for two thirds of
the session time-out, less than it takes to give the partition to another.

What the instances share are the topic's records, one for each entry; the topic is compacted. They
are written in transactions of one id, so taking over shuts out whoever had the partition before.
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
from warren.leadership.lease import NOTIFIER, Lease, decoded, encoded

Settings = Mapping[str, object]

SESSION_S = 6.0
LEASE_S = SESSION_S * 2 / 3
CONFIRM_S = 2.0
POLL_S = 0.5
ANSWER_S = 10.0
ERROR_LASTS_S = 15.0  # the client tells again what goes on; it does not tell when it ended


class KafkaLock:
    def __init__(self, settings: Settings, topic: str, duty: str = NOTIFIER) -> None:
        """`settings` say how to connect; the group and the transactions are named as the topic."""
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
                self._lease.tell(self._last_error)
                stop.wait(CONFIRM_S)
        self._lease.tell(self.problem)

    def load(self) -> dict[str, bytes]:
        self._writer()
        state: dict[bytes, bytes] = {}
        reader = Consumer(
            self._settings
            | {
                "group.id": self._topic,  # must be set; nothing is joined or committed
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
        return decoded(state)

    def save(self, changes: Mapping[str, bytes | None]) -> None:
        producer = self._writer()
        try:
            producer.begin_transaction()
            for key, value in encoded(changes).items():
                producer.produce(self._topic, key=key, value=value, partition=0)
            producer.commit_transaction(ANSWER_S)
        except (KafkaException, BufferError) as error:
            # Whether it was written is not known: begin anew, which ends what is open.
            self._let_go()
            raise LeadershipLost(_text(error)) from error

    def _writer(self) -> Producer:
        producer = self._producer
        if producer is None or not self.leads:
            raise LeadershipLost("another instance may lead")
        return producer

    def _next(self, reader: Consumer) -> Message | None:
        """The next record; None at the end."""
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
        admin = AdminClient(self._settings | {"error_cb": self._remember})
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
                # Who has the partition keeps it when another instance joins.
                "partition.assignment.strategy": "cooperative-sticky",
                "enable.auto.commit": False,
                "error_cb": self._remember,
            }
        )
        taken = {"on_revoke": self._on_revoke, "on_lost": self._on_revoke}
        consumer.subscribe([self._topic], on_assign=self._on_assign, **taken)
        try:
            while not stop.is_set():
                self._turn(consumer)
                if self.leads or time.monotonic() - self._error_at > ERROR_LASTS_S:
                    self._last_error = ""
                self._lease.tell(self._last_error)
        finally:
            self._let_go()
            self._is_assigned = False
            consumer.close()

    def _turn(self, consumer: Consumer) -> None:
        record = consumer.poll(POLL_S)
        if record is not None and record.error() is not None:
            raise KafkaException(record.error())  # such as: the topic is gone
        if self._is_assigned and time.monotonic() - self._confirmed >= CONFIRM_S:
            self._confirm(consumer)

    def _confirm(self, consumer: Consumer) -> None:
        """Commit the end of the topic, so that whoever watches the group sees no lag."""
        asked = self._lease.ask()
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
        self._lease.extend(asked, LEASE_S)
        self._confirmed = time.monotonic()

    def _take_over(self) -> Producer:
        """A writer whose beginning ends the transactions of the one before, and shuts it out."""
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
            consumer.pause(partitions)  # it is read whole when it is asked for
        if _has_first(partitions):
            self._is_assigned, self._confirmed = True, 0.0

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        """Called before the coordinator may give the partition to another."""
        if _has_first(partitions):
            self._is_assigned = False
            self._let_go()

    def _let_go(self) -> None:
        self._lease.end()
        self._producer = None

    def _remember(self, error: KafkaError) -> None:
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  # follows from the others
            self._last_error = error.str().partition(" (after ")[0]
            self._error_at = time.monotonic()


def _has_first(partitions: list[TopicPartition]) -> bool:
    """A topic that somebody made with more partitions has one that counts all the same."""
    return any(each.partition == 0 for each in partitions)


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return first.str() if isinstance(first, KafkaError) else str(first)
