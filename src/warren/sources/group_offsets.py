"""Committed offsets and members of groups, requested from the brokers.

For clusters whose offsets topic may not be read. Requests are bounded in number and time, and
answers are handed on while others are still to come. A coordinator that did not answer for one
group is not asked for its others in the same round: a frozen broker costs its own groups only.

A listing proves nothing about what it lacks. Brokers leave out what the user may not see; the
client leaves out groups that are not of plain consumers, such as those of Kafka Streams and
Connect; and no broker lists the groups of an offsets partition without a leader. So a group that
was known and is listed no more is asked for by name. Describing it does not help either: the client
calls a streams group dead.
"""

import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain
from typing import NamedTuple

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from warren.model import kafka_names
from warren.sources.outside_changes import Owners


def partition_of(group: str, partitions: int) -> int:
    """The partition of the offsets topic that holds a group, by Java's `hashCode`."""
    text = kafka_names.to_bytes(group).decode(errors="replace")
    code = 0
    for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be")):
        code = (31 * code + unit) & 0xFFFF_FFFF
    signed = code - (1 << 32) if code >> 31 else code
    # Java has no positive counterpart of its smallest integer; Kafka takes 0.
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions


OFFSETS_TOPIC = "__consumer_offsets"  # the brokers' own; which one is read is configured
AT_ONCE = 32  # groups
GATHER_S = 0.5  # how long to collect answers before they are handed on
TIMED_OUT = (KafkaError._TIMED_OUT, KafkaError.REQUEST_TIMED_OUT)  # noqa: SLF001  # librdkafka's
REFUSED: str = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED).str()
SILENT = "its coordinator does not answer"

Place = tuple[str, int]  # topic and partition
Offsets = dict[Place, int]


class Listed(NamedTuple):
    """The groups that the brokers list, and which of them have no members. There may be others."""

    groups: frozenset[str]
    empty: frozenset[str]
    error: KafkaError | None = None  # why a broker's groups are missing, if some are

    @property
    def problem(self) -> str:
        return str(self.error.str()) if self.error else ""


NONE_LISTED = Listed(frozenset(), frozenset())


class BrokerAnswer(NamedTuple):
    group: str
    offsets: Offsets
    owners: Owners
    problem: str = ""  # why there is neither
    is_bare: bool = False  # the group certainly has no commit, not even an invalid one


def list_groups(admin: AdminClient, timeout_s: float) -> Listed:
    """List all groups; raises KafkaException when no broker answers."""
    listed = admin.list_consumer_groups(request_timeout=timeout_s).result(2 * timeout_s)
    if listed.errors and not listed.valid:
        raise KafkaException(listed.errors[0])
    states = {each.group_id: getattr(each, "state", None) for each in listed.valid}
    return Listed(
        frozenset(states),
        frozenset(group for group, state in states.items() if state is ConsumerGroupState.EMPTY),
        listed.errors[0] if listed.errors else None,
    )


def with_coordinator(admin: AdminClient, groups: Iterable[str], timeout_s: float) -> list[str]:
    """Leave out groups whose offsets partition has no leader: no broker can answer for them.

    Do not send librdkafka requests for them: if one times out and the group gets a coordinator
    again, it aborts the process (2.16, `rd_kafka_enq_once_del_source_return`).
    """
    replies = admin.describe_topics(TopicCollection([OFFSETS_TOPIC]), request_timeout=timeout_s)
    try:
        partitions = replies[OFFSETS_TOPIC].result(2 * timeout_s).partitions
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return [*groups]
        raise
    led = {each.id for each in partitions if each.leader is not None and each.leader.id >= 0}
    return [group for group in groups if partition_of(group, len(partitions)) in led]


def without_offsets(
    admin: AdminClient, known: Mapping[str, Offsets], timeout_s: float
) -> list[str]:
    """Which of these groups, with their `known` commits, have no commit left."""
    batches = GroupOffsets(admin, timeout_s).fetch(NONE_LISTED, known, known)
    answers = chain.from_iterable(batches)
    return sorted(answer.group for answer in answers if answer.is_bare)


class GroupOffsets:
    """Requests offsets and members of groups, and remembers their coordinators."""

    def __init__(self, admin: AdminClient, timeout_s: float) -> None:
        self._admin = admin
        self._timeout_s = timeout_s
        self._coordinators: dict[str, int] = {}
        # Coordinators, in this round. None stands for the unknown coordinator of an unlisted group.
        self._silent: set[int | None] = set()

    def fetch(
        self, listed: Listed, groups: Iterable[str], known: Mapping[str, Offsets]
    ) -> Iterator[list[BrokerAnswer]]:
        """Request these groups; yield the answers of each half second until all have come.

        An answer lacks a `known` offset only if it was certainly removed. Groups that are not
        listed come last, and their members are not requested.
        """
        self._silent.clear()
        unlisted_last = sorted(groups, key=lambda group: (group not in listed.groups, group))
        with ThreadPoolExecutor(AT_ONCE, "fetch groups") as workers:
            waiting = {
                workers.submit(self._answer, group, listed, known.get(group, {}))
                for group in unlisted_last
            }
            try:
                while waiting:
                    wait(waiting, GATHER_S, FIRST_COMPLETED)
                    wait(waiting, GATHER_S)
                    done = {each for each in waiting if each.done()}
                    waiting -= done
                    yield [each.result() for each in done]
            finally:
                workers.shutdown(wait=False, cancel_futures=True)

    def forget(self, known: frozenset[str]) -> None:
        """Forget the coordinators of all groups but these."""
        for group in self._coordinators.keys() - known:
            del self._coordinators[group]

    def _answer(self, group: str, listed: Listed, known: Offsets) -> BrokerAnswer:
        is_listed, coordinator = group in listed.groups, self._coordinators.get(group)
        can_be_silent = coordinator is not None or not is_listed
        if can_be_silent and coordinator in self._silent:
            return BrokerAnswer(group, {}, {}, SILENT)
        if not _can_be_named(group):
            return BrokerAnswer(group, {}, {}, "the client cannot request a group of this name")
        is_empty = group in listed.empty and coordinator is not None
        try:
            reply = self._request(group)
            owners = self._owners(group) if is_listed and not is_empty else {}
            committed = self._result(reply)
            offsets = self._complete(group, committed, known)
            return BrokerAnswer(
                group, offsets, owners, is_bare=not offsets and not committed.topic_partitions
            )
        except KafkaException as error:
            code, reason = error.args[0].code(), error.args[0].str()
            if code in TIMED_OUT and can_be_silent:
                self._silent.add(coordinator)
            is_refused = code == KafkaError.GROUP_AUTHORIZATION_FAILED
            return BrokerAnswer(group, {}, {}, REFUSED if is_refused else reason)
        except TimeoutError:
            return BrokerAnswer(group, {}, {}, "no answer in time")

    def _complete(
        self, group: str, committed: ConsumerGroupTopicPartitions, known: Offsets
    ) -> Offsets:
        """The offsets of an answer, and the known ones that it lacks but that were not removed."""
        there = {(place.topic, place.partition) for place in committed.topic_partitions}
        offsets = _committed(committed)
        if lacking := known.keys() - there:
            by_name = self._result(self._request(group, lacking))
            refused = {
                (place.topic, place.partition)
                for place in by_name.topic_partitions
                if place.error is not None
            }
            offsets |= _committed(by_name) | {place: known[place] for place in refused}
        return offsets

    def _request(
        self, group: str, places: Collection[Place] = ()
    ) -> "Future[ConsumerGroupTopicPartitions]":
        """Request these partitions; if none are given, all that we may see."""
        wanted = [TopicPartition(*place) for place in sorted(places)]
        request = [ConsumerGroupTopicPartitions(group, wanted or None)]
        replies: dict[str, Future[ConsumerGroupTopicPartitions]] = (
            self._admin.list_consumer_group_offsets(request, request_timeout=self._timeout_s)
        )
        return replies[group]

    def _owners(self, group: str) -> Owners:
        replies = self._admin.describe_consumer_groups([group], request_timeout=self._timeout_s)
        described = self._result(replies[group])
        if described.coordinator is not None:
            self._coordinators[group] = described.coordinator.id
        return {
            (place.topic, place.partition): (member.host, member.client_id)
            for member in described.members
            for place in (member.assignment.topic_partitions if member.assignment else ())
        }

    def _result(
        self, future: "Future[ConsumerGroupTopicPartitions]"
    ) -> ConsumerGroupTopicPartitions:
        return future.result(2 * self._timeout_s)


def _can_be_named(group: str) -> bool:
    """Whether the client can request this group; other names crash it or mean another group."""
    try:
        return b"\0" not in group.encode() and bool(group)
    except UnicodeEncodeError:
        return False


def _committed(answer: ConsumerGroupTopicPartitions) -> Offsets:
    """Leave out partitions without a commit: the brokers give them a negative offset."""
    return {
        (place.topic, place.partition): place.offset
        for place in answer.topic_partitions
        if place.offset >= 0 and place.error is None
    }
