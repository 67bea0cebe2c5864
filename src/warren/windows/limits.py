"""Limits on groups, topics, partitions and members; what is beyond them is left out."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from warren.model.group_events import Partitions, Subscription
from warren.windows.names import Names

NO_ROOM = "no room"  # why commits of new groups or partitions are dropped


class Limits(NamedTuple):
    """The most a cluster may have: a client that writes to Kafka must not fill our memory."""

    groups: float = math.inf
    topics: float = math.inf
    partitions: float = math.inf  # summed over groups; those without a commit count too


NO_LIMITS = Limits()


def fit_topics(
    ends: pa.Table, counts: Mapping[str, int], known: Names, limit: float
) -> tuple[pa.Table, Mapping[str, int]]:
    """LOG_ENDS and partition counts of as many topics as there is room for; known ones stay."""
    if len(counts) <= limit:
        return ends, counts
    new = sorted(topic for topic in counts if known.find(topic) < 0)
    no_room = {*new[int(max(limit - (len(counts) - len(new)), 0)) :]}
    few = {topic: count for topic, count in counts.items() if topic not in no_room}
    return ends.filter(pc.is_in(ends["topic"], pa.array([*few], ends["topic"].type))), few


class Sized(Protocol):
    """A member: its assignment and its subscription, which decide its size."""

    @property
    def by_name(self) -> Mapping[str, Partitions]: ...

    @property
    def by_id(self) -> Mapping[UUID, Partitions]: ...

    @property
    def subscription(self) -> Subscription | None: ...


class Room:
    """Counts members, their partitions and the topics they subscribe to.

    Together there are at most as many as the partition limit.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0
        self.refused = 0  # records

    def has_room(self, group: str, known: Mapping[str, object]) -> bool:
        """Whether this group is known or there is room for it."""
        return self._answer(fits=group in known or len(known) < self._limits.groups)

    def swap(self, before: Iterable[Sized], after: Iterable[Sized]) -> bool:
        """Count `after` instead of `before` if it fits."""
        more = self._size(after) - self._size(before)
        fits = more <= 0 or self._held + more <= self._limits.partitions
        self._held += more if fits else 0
        return self._answer(fits=fits)

    def leave(self, gone: Iterable[Sized]) -> None:
        self._held -= self._size(gone)

    def leave_group(self, members: Iterable[Sized], resolved: Iterable[tuple[str, ...]]) -> None:
        self.leave(members)
        for topics in resolved:
            self.forget_topics(topics)

    def enter(self, restored: Iterable[Sized], resolved: Iterable[tuple[str, ...]] = ()) -> None:
        """Count what a snapshot holds, whatever the limits: they apply to what is new."""
        self._held += self._size(restored) + sum(map(len, resolved))

    def holds(self, topics: tuple[str, ...]) -> bool:
        """Count the topics of a regular expression if they fit."""
        fits = self._held + len(topics) <= self._limits.partitions
        self._held += len(topics) if fits else 0
        return self._answer(fits=fits)

    def forget_topics(self, topics: tuple[str, ...]) -> None:
        self._held -= len(topics)

    def _answer(self, *, fits: bool) -> bool:
        self.refused += not fits
        return fits

    @staticmethod
    def _size(members: Iterable[Sized]) -> int:
        return sum(
            1
            + sum(map(len, member.by_name.values()))
            + sum(map(len, member.by_id.values()))
            + (len(member.subscription.topics) if member.subscription else 0)
            for member in members
        )
