"""Committed offsets and members, asked of the brokers group by group.

For clusters whose offsets topic may not be read. Requests are bounded in number and time, and what
has come is handed on while the rest is waited for. A coordinator that did not answer for one group
is not asked for its others in the same round, so that a frozen broker costs its own groups only.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
)
from confluent_kafka.admin import AdminClient

from warren.sources.reported import Owners

AT_ONCE = 32  # groups
GATHER_S = 0.5  # how long answers are gathered before they are handed on
TIMED_OUT = (KafkaError._TIMED_OUT, KafkaError.REQUEST_TIMED_OUT)  # noqa: SLF001  # librdkafka's

Offsets = dict[tuple[str, int], int]  # by topic and partition


class Listed(NamedTuple):
    """The groups there are, and which of them have no members. Some brokers may not have told."""

    groups: frozenset[str]
    empty: frozenset[str]
    problem: str  # why a broker's groups are missing; empty if none are


class Answer(NamedTuple):
    group: str
    offsets: Offsets
    owners: Owners
    problem: str = ""  # why there is neither


def list_groups(admin: AdminClient, timeout_s: float) -> Listed:
    """Raises KafkaException when no broker answers."""
    listed = admin.list_consumer_groups(request_timeout=timeout_s).result(2 * timeout_s)
    if listed.errors and not listed.valid:
        raise KafkaException(listed.errors[0])
    states = {each.group_id: getattr(each, "state", None) for each in listed.valid}
    return Listed(
        frozenset(states),
        frozenset(group for group, state in states.items() if state is ConsumerGroupState.EMPTY),
        listed.errors[0].str() if listed.errors else "",
    )


class GroupOffsets:
    """Remembers the groups' coordinators."""

    def __init__(self, admin: AdminClient, timeout_s: float) -> None:
        self._admin = admin
        self._timeout_s = timeout_s
        self._coordinators: dict[str, int] = {}
        self._silent: set[int] = set()  # coordinators, this round

    def ask(self, groups: Iterable[str], empty: frozenset[str]) -> Iterator[list[Answer]]:
        """All that came in half a second, again and again until every group has been asked."""
        self._silent.clear()
        with ThreadPoolExecutor(AT_ONCE, "ask groups") as workers:
            waiting = {workers.submit(self._ask, group, group in empty) for group in sorted(groups)}
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
        """Drop what is remembered of groups that no longer are."""
        for group in self._coordinators.keys() - known:
            del self._coordinators[group]

    def _ask(self, group: str, is_empty: bool) -> Answer:  # noqa: FBT001  # of a queued call
        coordinator = self._coordinators.get(group)
        if coordinator in self._silent:
            return Answer(group, {}, {}, "its coordinator does not answer")
        try:
            offsets = self._offsets(group)
            owners = {} if is_empty and coordinator is not None else self._owners(group)
            return Answer(group, _committed(self._result(offsets)), owners)
        except KafkaException as error:
            if error.args[0].code() in TIMED_OUT and coordinator is not None:
                self._silent.add(coordinator)
            return Answer(group, {}, {}, error.args[0].str())
        except TimeoutError:
            return Answer(group, {}, {}, "no answer in time")

    def _offsets(self, group: str) -> "Future[ConsumerGroupTopicPartitions]":
        question = [ConsumerGroupTopicPartitions(group)]
        asked: dict[str, Future[ConsumerGroupTopicPartitions]] = (
            self._admin.list_consumer_group_offsets(question, request_timeout=self._timeout_s)
        )
        return asked[group]

    def _owners(self, group: str) -> Owners:
        asked = self._admin.describe_consumer_groups([group], request_timeout=self._timeout_s)
        described = self._result(asked[group])
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


def _committed(answer: ConsumerGroupTopicPartitions) -> Offsets:
    """Leave out partitions that have no commit, which brokers tell by a negative offset."""
    return {
        (place.topic, place.partition): place.offset
        for place in answer.topic_partitions
        if place.offset >= 0 and place.error is None
    }
