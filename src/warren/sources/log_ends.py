"""The brokers' end offsets -> LOG_ENDS, and the topics they belong to.

Requests are bounded in size and time, and each broker is asked on its own: one that is down or
frozen costs its partitions' freshness and nothing else.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple
from uuid import UUID

import pyarrow as pa
from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
    Uuid,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from warren import tables

REQUEST_SIZE = 1_000  # partitions; librdkafka's own bookkeeping grows with the square of it
TIMEOUT_S = 10.0
NO_ANSWER = "no answer in time"
LATEST, EARLIEST = OffsetSpec.latest(), OffsetSpec.earliest()
COMMITTED, UNCOMMITTED = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED

Partition = tuple[str, int]


class Topics(NamedTuple):
    """Every topic of a cluster at one moment."""

    counts: Mapping[str, int]  # partitions, those without a leader included
    leaders: Mapping[Partition, int]  # broker id; partitions without a leader are missing
    ids: Mapping[str, UUID]  # brokers before Kafka 2.8 have none

    @property
    def leaderless(self) -> int:
        return sum(self.counts.values()) - len(self.leaders)

    @property
    def names(self) -> dict[UUID, str]:
        return {identity: name for name, identity in self.ids.items()}

    def leaders_of(self, topic: str) -> dict[Partition, int]:
        count = self.counts.get(topic, 0)
        where = ((topic, number) for number in range(count))
        return {
            partition: self.leaders[partition] for partition in where if partition in self.leaders
        }


class Question(NamedTuple):
    which: OffsetSpec
    isolation: IsolationLevel
    timeout_s: float


class Ends(NamedTuple):
    """What one round brought. `missing` partitions gave no answer, for the reason named."""

    table: pa.Table
    missing: Mapping[Partition, str]


def list_topics(
    admin: AdminClient, before: Topics | None = None, timeout_s: float = TIMEOUT_S
) -> Topics:
    """All topics, internal ones included. Raises KafkaException when no broker answers.

    What could not be learnt of a topic this time is taken from `before`.
    """
    before = before or Topics({}, {}, {})
    metadata = admin.list_topics(timeout=timeout_s)
    good = {name: topic for name, topic in metadata.topics.items() if topic.error is None}
    in_doubt = {
        name: before.counts[name]
        for name, topic in metadata.topics.items()
        if name not in good
        and name in before.counts
        and topic.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART
    }
    known = good.keys() | in_doubt.keys()
    old_ids = {name: each for name, each in before.ids.items() if name in known}
    return Topics(
        counts={name: len(topic.partitions) for name, topic in good.items()} | in_doubt,
        leaders={
            (name, number): partition.leader
            for name, topic in good.items()
            for number, partition in topic.partitions.items()
            if partition.leader in metadata.brokers
        },
        ids=old_ids | _topic_ids(admin, sorted(good), timeout_s),
    )


def _topic_ids(admin: AdminClient, names: list[str], timeout_s: float) -> dict[str, UUID]:
    """The ids that KIP-848 assignments name topics by, and that tell a topic from one made anew."""
    ids = {}
    for start in range(0, len(names), REQUEST_SIZE):
        some = TopicCollection(names[start : start + REQUEST_SIZE])
        for name, future in admin.describe_topics(some, request_timeout=timeout_s).items():
            try:
                found = future.result(2 * timeout_s).topic_id
            except (KafkaException, TimeoutError):
                continue  # gone between the two calls, or not ours to describe
            if identity := _uuid(found):
                ids[name] = identity
    return ids


def _uuid(found: Uuid) -> UUID | None:
    high, low = found.get_most_significant_bits(), found.get_least_significant_bits()
    number = high % (1 << 64) << 64 | low % (1 << 64)
    return UUID(int=number) if number else None


def renew_leaders(admin: AdminClient, timeout_s: float = TIMEOUT_S) -> None:
    """Let a client learn who leads now. Raises KafkaException when no broker answers.

    It does not by itself: told that what it knows is outdated, it asks with the same again.
    """
    admin.list_topics(timeout=timeout_s)


def list_groups(admin: AdminClient, timeout_s: float = TIMEOUT_S) -> set[str]:
    """Every group the brokers know. Raises KafkaException when one of them does not answer."""
    listed = admin.list_consumer_groups(request_timeout=timeout_s).result(2 * timeout_s)
    if listed.errors:
        raise KafkaException(listed.errors[0])
    return {group.group_id for group in listed.valid}


def fetch_ends(
    admin: AdminClient,
    leaders: Mapping[Partition, int],
    *,
    which: OffsetSpec = LATEST,
    isolation: IsolationLevel = UNCOMMITTED,
    timeout_s: float = TIMEOUT_S,
) -> Ends:
    """Ask each leader for its partitions' ends; read committed: ends before open transactions."""
    question = Question(which, isolation, timeout_s)
    by_leader: dict[int, list[Partition]] = defaultdict(list)
    for partition, leader in leaders.items():
        by_leader[leader].append(partition)
    ends: dict[Partition, int] = {}
    missing: dict[Partition, str] = {}
    with ThreadPoolExecutor(max_workers=max(len(by_leader), 1)) as brokers:
        asked = [
            brokers.submit(_ask_broker, admin, partitions, question)
            for partitions in by_leader.values()
        ]
        for answer in as_completed(asked):
            got, failed = answer.result()
            ends |= got
            missing |= failed
    return Ends(_table(ends), missing)


def _ask_broker(
    admin: AdminClient, partitions: list[Partition], question: Question
) -> tuple[dict[Partition, int], dict[Partition, str]]:
    ends: dict[Partition, int] = {}
    missing: dict[Partition, str] = {}
    for chunk in _chunks(partitions):
        futures = admin.list_offsets(
            {TopicPartition(*partition): question.which for partition in chunk},
            isolation_level=question.isolation,
            request_timeout=question.timeout_s,
        )
        for where, future in futures.items():
            partition = where.topic, where.partition
            try:
                offset = future.result(2 * question.timeout_s).offset
            except KafkaException as error:
                missing[partition] = error.args[0].str()
            except TimeoutError:
                missing[partition] = NO_ANSWER
            else:
                # Of a broker that does not answer the client tells no error but a negative offset.
                if offset >= 0:
                    ends[partition] = offset
                else:
                    missing[partition] = NO_ANSWER
        if len(missing) >= len(chunk) and not ends:
            # The broker does not answer: the rest would only wait as long again.
            missing |= dict.fromkeys(partitions, next(iter(missing.values())))
            break
    return ends, missing


def _chunks(partitions: list[Partition]) -> Iterator[list[Partition]]:
    return (
        partitions[start : start + REQUEST_SIZE]
        for start in range(0, len(partitions), REQUEST_SIZE)
    )


def _table(ends: Mapping[Partition, int]) -> pa.Table:
    columns = [[topic for topic, _ in ends], [number for _, number in ends], list(ends.values())]
    return pa.table(columns, schema=tables.LOG_ENDS)


def by_number(ends: pa.Table) -> dict[int, int]:
    """The ends of a single topic."""
    return dict(zip(ends["partition"].to_pylist(), ends["offset"].to_pylist(), strict=True))
