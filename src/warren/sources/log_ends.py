"""The brokers' end offsets -> LOG_ENDS, and the topics they belong to.

Requests are bounded in size and time, and each broker gets its own: when one is down or frozen,
only the ends of its partitions get old.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
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
from confluent_kafka.admin import AdminClient, OffsetSpec, TopicDescription

from warren.model import tables

REQUEST_SIZE = 1_000  # partitions; librdkafka's own bookkeeping grows with the square of it
TIMEOUT_S = 10.0
NO_ANSWER = "no answer in time"
NO_SUCH_RECORD = -1  # in the place of an offset: no record is as late as the time asked for
# All but the last are librdkafka's own. Any other error is an answer from a broker.
SILENT = frozenset(
    {
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError.REQUEST_TIMED_OUT,
    }
)
LATEST, EARLIEST = OffsetSpec.latest(), OffsetSpec.earliest()
COMMITTED, UNCOMMITTED = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED

Partition = tuple[str, int]


class TopicListing(NamedTuple):
    """Every topic of a cluster at one moment, and those that may still exist."""

    counts: Mapping[str, int]  # partitions, those without a leader included
    leaders: Mapping[Partition, int]  # broker id; partitions without a leader are missing
    ids: Mapping[str, UUID]  # brokers before Kafka 2.8 have none
    unknown: AbstractSet[str] = frozenset()  # not listed; a broker said once they do not exist
    hidden: Mapping[str, str] = {}  # not listed, but no broker said they do not exist; why
    is_whole: bool = True  # False: the listing is too short to conclude what does not exist

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


class EndsRequest(NamedTuple):
    which: OffsetSpec | Mapping[Partition, OffsetSpec]  # one for all, or each partition's own
    isolation: IsolationLevel
    timeout_s: float

    def of(self, partition: Partition) -> OffsetSpec:
        return self.which[partition] if isinstance(self.which, Mapping) else self.which


class Ends(NamedTuple):
    """The ends read in one round, and the partitions without one, with the reason."""

    table: pa.Table
    missing: Mapping[Partition, str]


class Found(NamedTuple):
    """What a broker answered about a partition; without a record that fits the offset is -1."""

    offset: int
    timestamp_ms: int  # of that record, if it was asked for by time


class NamedTopics(NamedTuple):
    """What brokers answered about topics requested by name."""

    found: TopicListing
    unknown: AbstractSet[str]  # a broker says that they do not exist
    problems: Mapping[str, str]  # why there is no answer about the others


def list_topics(
    admin: AdminClient,
    before: TopicListing | None = None,
    needed: AbstractSet[str] = frozenset(),
    timeout_s: float = TIMEOUT_S,
) -> TopicListing:
    """All topics, internal ones included. Raises KafkaException when no broker answers.

    What the brokers do not say about a topic this time is taken from `before`.
    """
    before = before or TopicListing({}, {}, {})
    metadata = admin.list_topics(timeout=timeout_s)
    good = {name: topic for name, topic in metadata.topics.items() if topic.error is None}
    listed = TopicListing(
        counts={name: len(topic.partitions) for name, topic in good.items()},
        leaders={
            (name, number): partition.leader
            for name, topic in good.items()
            for number, partition in topic.partitions.items()
            if partition.leader in metadata.brokers
        },
        ids={},
    )
    named = _describe(admin, listed.counts.keys(), before.counts.keys(), timeout_s)
    return merge_listings(before, listed, named, needed, metadata.brokers.keys())


def merge_listings(
    before: TopicListing,
    listed: TopicListing,
    named: NamedTopics,
    needed: AbstractSet[str],
    brokers: AbstractSet[int],
) -> TopicListing:
    """The topics of a listing, and those that it lacks but that may still exist.

    Our rights may be missing for a moment, or a broker may not know everything yet. So a topic is
    gone only if two listings in a row lack it and a broker says, both times, that it does not
    exist. An empty listing, or one that lacks a `needed` topic, proves nothing about others.
    """
    is_whole = bool(listed.counts) and needed <= listed.counts.keys()
    unknown = {*named.unknown} - listed.counts.keys()
    gone = unknown & before.unknown
    if not is_whole:
        gone = gone & needed if listed.counts else set()
    found = named.found.counts.keys() - listed.counts.keys()
    stays = before.counts.keys() - listed.counts.keys() - found - gone
    counts = {name: before.counts[name] for name in stays}
    counts |= {name: named.found.counts[name] for name in found}
    counts.update(listed.counts)
    leaders = _leaders(before, stays, brokers) | _leaders(named.found, found, brokers)
    leaders.update(listed.leaders)
    ids = {name: each for name, each in before.ids.items() if name in counts}
    ids.update(named.found.ids)
    hidden = {name: named.problems.get(name, NO_ANSWER) for name in stays - unknown}
    return TopicListing(counts, leaders, ids, unknown & stays, hidden, is_whole)


def _leaders(
    topics: TopicListing, names: AbstractSet[str], brokers: AbstractSet[int]
) -> dict[Partition, int]:
    if not names:
        return {}
    return {
        partition: leader
        for partition, leader in topics.leaders.items()
        if partition[0] in names and leader in brokers
    }


def _describe(
    admin: AdminClient, listed: AbstractSet[str], before: AbstractSet[str], timeout_s: float
) -> NamedTopics:
    """Request topics by name: all about those that the listing lacks, the ids of the others.

    KIP-848 assignments name topics by id, and a topic that is created again gets a new one.
    """
    described: dict[str, TopicDescription] = {}
    unknown, problems = set(), {}
    names = sorted(before - listed) + sorted(listed)
    for start in range(0, len(names), REQUEST_SIZE):
        some = TopicCollection(names[start : start + REQUEST_SIZE])
        for name, future in admin.describe_topics(some, request_timeout=timeout_s).items():
            try:
                described[name] = future.result(2 * timeout_s)
            except KafkaException as error:
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    unknown.add(name)
                else:
                    problems[name] = error.args[0].str()
            except TimeoutError:
                problems[name] = NO_ANSWER
    ids = {name: _uuid(topic.topic_id) for name, topic in described.items()}
    lacking = {name: topic for name, topic in described.items() if name not in listed}
    found = TopicListing(
        counts={name: len(topic.partitions) for name, topic in lacking.items()},
        leaders={
            (name, partition.id): partition.leader.id
            for name, topic in lacking.items()
            for partition in topic.partitions
            if partition.leader is not None
        },
        ids={name: identity for name, identity in ids.items() if identity},
    )
    return NamedTopics(found, unknown, problems)


def _uuid(found: Uuid) -> UUID | None:
    high, low = found.get_most_significant_bits(), found.get_least_significant_bits()
    number = high % (1 << 64) << 64 | low % (1 << 64)
    return UUID(int=number) if number else None


def renew_leaders(admin: AdminClient, timeout_s: float = TIMEOUT_S) -> None:
    """Refresh a client's list of leaders. Raises KafkaException when no broker answers.

    It does not do so by itself when a broker says that it is not the leader any more.
    """
    admin.list_topics(timeout=timeout_s)


def apart(
    leaders: Mapping[Partition, int], silent: AbstractSet[int]
) -> tuple[Mapping[Partition, int], list[Partition]]:
    """The partitions of brokers that may answer with their leaders, and those of silent ones."""
    if not silent:
        return leaders, []
    others = {each: leader for each, leader in leaders.items() if leader not in silent}
    return others, [each for each in leaders if each not in others]


def fetch_ends(
    admin: AdminClient,
    leaders: Mapping[Partition, int],
    *,
    which: OffsetSpec = LATEST,
    isolation: IsolationLevel = UNCOMMITTED,
    timeout_s: float = TIMEOUT_S,
) -> Ends:
    """Request the ends from each leader; read committed: the ends before open transactions."""
    found, missing = fetch_offsets(admin, leaders, EndsRequest(which, isolation, timeout_s))
    ends = {partition: each.offset for partition, each in found.items() if each.offset >= 0}
    missing |= dict.fromkeys(found.keys() - ends.keys(), NO_ANSWER)
    return Ends(as_table(ends), missing)


def fetch_offsets(
    admin: AdminClient, leaders: Mapping[Partition, int], request: EndsRequest
) -> tuple[dict[Partition, Found], dict[Partition, str]]:
    """Request offsets from each leader; returns them, and why others are missing."""
    by_leader: dict[int, list[Partition]] = defaultdict(list)
    for partition, leader in leaders.items():
        by_leader[leader].append(partition)
    found: dict[Partition, Found] = {}
    missing: dict[Partition, str] = {}
    with ThreadPoolExecutor(max_workers=max(len(by_leader), 1)) as brokers:
        replies = [
            brokers.submit(_fetch_from_broker, admin, partitions, request)
            for partitions in by_leader.values()
        ]
        for reply in as_completed(replies):
            some, failed = reply.result()
            found |= some
            missing |= failed
    return found, missing


def _fetch_from_broker(
    admin: AdminClient, partitions: list[Partition], request: EndsRequest
) -> tuple[dict[Partition, Found], dict[Partition, str]]:
    found: dict[Partition, Found] = {}
    missing: dict[Partition, str] = {}
    for chunk in _chunks(partitions):
        futures = admin.list_offsets(
            {TopicPartition(*partition): request.of(partition) for partition in chunk},
            isolation_level=request.isolation,
            request_timeout=request.timeout_s,
        )
        silence = ""
        for where, future in futures.items():
            partition = where.topic, where.partition
            try:
                answer = future.result(2 * request.timeout_s)
            except KafkaException as error:
                missing[partition] = error.args[0].str()
                silence = missing[partition] if error.args[0].code() in SILENT else silence
            except TimeoutError:
                missing[partition] = silence = NO_ANSWER
            else:
                # For a broker that does not answer the client returns an offset below -1, no error.
                if answer.offset >= NO_SUCH_RECORD:
                    found[partition] = Found(answer.offset, answer.timestamp)
                else:
                    missing[partition] = silence = NO_ANSWER
        if silence and found.keys().isdisjoint(chunk):
            # The broker does not answer: do not wait as long again for the rest.
            rest = (each for each in partitions if each not in found)
            missing = dict.fromkeys(rest, silence) | missing
            break
    return found, missing


def _chunks(partitions: list[Partition]) -> Iterator[list[Partition]]:
    return (
        partitions[start : start + REQUEST_SIZE]
        for start in range(0, len(partitions), REQUEST_SIZE)
    )


def as_table(offsets: Mapping[Partition, int]) -> pa.Table:
    """Offsets as LOG_ENDS."""
    columns = [
        [topic for topic, _ in offsets],
        [number for _, number in offsets],
        [*offsets.values()],
    ]
    return pa.table(columns, schema=tables.LOG_ENDS)


def is_silence(problem: str) -> bool:
    """Whether this problem means that a broker did not answer, not that it answered an error."""
    return problem == NO_ANSWER or "Local: " in problem  # librdkafka's own, not a broker's


def by_number(ends: pa.Table) -> dict[int, int]:
    """The ends of a single topic, by partition."""
    return dict(zip(ends["partition"].to_pylist(), ends["offset"].to_pylist(), strict=True))
