"""Reads the first record of a partition from an offset on, if there is more than markers.

A reader of committed data gets neither markers nor aborted records, and is told when it comes to
the end: of the log, or of what open transactions hold back. One of uncommitted data gets aborted
records. Each read is of one partition, limited in time, and stops at the first record.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from warren.sources.log_ends import NO_ANSWER, Partition

SETTINGS: Mapping[str, object] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",  # an offset that is gone is an answer, too
    # The first record is enough: no reading ahead, small answers, no waiting for larger ones.
    "queued.min.messages": 1,
    "queued.max.messages.kbytes": 1024,
    "fetch.message.max.bytes": 64 * 1024,
    "fetch.wait.max.ms": 100,
    "fetch.queue.backoff.ms": 10,
    "fetch.error.backoff.ms": 100,
    "topic.metadata.propagation.max.ms": 1000,
}
MOST_TOPICS = 200  # a client remembers every partition of each topic it has read
POLL_S = 0.2
# A reader of one partition needs no group, but the client looks for the coordinator of its own.
OF_ITS_GROUP = (
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
REFUSED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
# Errors of a broker's connection: the client tries again by itself.
PASSING = (
    KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
)


class Tail(NamedTuple):
    """The first record from an offset on, or that there is none up to another offset."""

    offset: int
    is_record: bool = False
    timestamp_ms: int = -1  # negative: it has none
    problem: str = ""  # why nothing was found out
    is_refused: bool = False


class TailReader:
    """One client, made when it is needed; it joins no group and commits nothing."""

    def __init__(self, settings: Mapping[str, object], isolation: str) -> None:
        self._settings = {**settings, **SETTINGS, "isolation.level": isolation}
        self._consumer: Consumer | None = None
        self._topics: set[str] = set()

    def read(self, partition: Partition, offset: int, timeout_s: float) -> Tail:
        topic, number = partition
        if topic not in self._topics and len(self._topics) >= MOST_TOPICS:
            self.close()
        if self._consumer is None:
            self._consumer = Consumer(self._settings)
        self._topics.add(topic)
        self._consumer.assign([TopicPartition(topic, number, offset)])
        try:
            return _first(self._consumer, partition, offset, time.monotonic() + timeout_s)
        finally:
            self._consumer.unassign()

    def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._topics.clear()
        if consumer is not None:
            consumer.close()


def _first(consumer: Consumer, partition: Partition, offset: int, until_s: float) -> Tail:
    while (left_s := until_s - time.monotonic()) > 0:
        message = consumer.poll(min(left_s, POLL_S))
        tail = None if message is None else _tail(message, partition, offset)
        if tail is not None:
            return tail
    return Tail(offset, problem=NO_ANSWER)


def _tail(message: Message, partition: Partition, offset: int) -> Tail | None:
    """What a message tells about the partition; None: nothing, or it is about an earlier one."""
    error = message.error()
    if error is not None and error.code() in (*OF_ITS_GROUP, *PASSING):
        return None
    if error is not None and error.code() in REFUSED and message.topic() == partition[0]:
        return Tail(offset, problem=error.str(), is_refused=True)
    if (message.topic(), message.partition()) != partition:
        return None
    at = message.offset()
    if error is None:
        return (
            Tail(at, is_record=True, timestamp_ms=message.timestamp()[1]) if at >= offset else None
        )
    if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
        return Tail(max(at, offset))
    return Tail(offset, problem=error.str())
