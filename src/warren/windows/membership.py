"""Who is in each group and what they read, from the events of the offsets topic in log order.

A classic group's record replaces its members whole, so a partition that lost its owner has none.
The members of a KIP-848 group come one by one, in any order: a compacted log may hold a member's
assignment before the member, and assignments name topics by id, whose names are told from outside.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct

from warren.group_events import Event, Partitions, TopicNames
from warren.windows.limits import NO_LIMITS, Limits
from warren.windows.members import Batch, Group, Member
from warren.windows.room import Room

TOLD = 100_000  # names of topics from records; the cluster lists those it has
Owners = dict[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)


class Changes(NamedTuple):
    """What a batch changed."""

    owners: dict[str, Owners]  # all owners there are, of every group with a change in them
    no_room: int = 0  # records that are left out because a limit is reached


class Membership:
    """The groups of one cluster."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self.groups: dict[str, Group] = {}
        self._room = Room(limits)
        self._listed: Mapping[UUID, str] = {}  # topics the cluster has, as it was asked last
        self._told: dict[UUID, str] = {}  # topics that records named
        self._waiting: dict[str, set[UUID]] = {}  # groups, for the names of these topics
        # By group: owner and client id of the members that have nothing to read.
        self.idle: dict[str, list[tuple[str, str]]] = {}

    def fold(self, events: Iterable[Event]) -> Changes:
        """Take in a batch; the events of one group in the order of the log."""
        batch, refused = Batch(self.groups, self._room), self._room.refused
        for event in events:
            match event:
                case TopicNames(_, names):
                    self._tell(names)
                    batch.changed.update(self._waiting_for(names))
                case _:
                    batch.apply(event)
        owners = {name: self._owners(name) for name in batch.changed}
        return Changes(owners, self._room.refused - refused)

    def name_topics(self, names: Mapping[UUID, str]) -> dict[str, Owners]:
        """Learn all topics there are; the groups that waited for one, with all their owners."""
        self._listed = names
        return {name: self._owners(name) for name in self._waiting_for(names)}

    @property
    def waits_for_topics(self) -> bool:
        return bool(self._waiting)

    def has_members(self, group: str) -> bool:
        return group in self.groups and bool(self.groups[group].members)

    def forget(self, group: str) -> None:
        """Drop a group that was found to be gone in another way than by its tombstone."""
        if known := self.groups.pop(group, None):
            self._room.leave(known.members.values())
        self._waiting.pop(group, None)
        self.idle.pop(group, None)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(_Saved(self.groups, self._told))

    def restore(self, saved: bytes) -> None:
        """Take in, into one that is empty, what was saved; topics are to be listed again."""
        state = msgspec.msgpack.decode(saved, type=_Saved)
        self.groups, self._told = state.groups, state.told
        for name, group in state.groups.items():
            self._room.enter(group.members.values())
            self._owners(name)

    def _tell(self, names: Mapping[UUID, str]) -> None:
        """Keep the names told last: whoever may write to the topic may invent any number."""
        for topic_id, name in names.items():
            self._told.pop(topic_id, None)
            self._told[topic_id] = name
        for topic_id in [*islice(self._told, max(len(self._told) - TOLD, 0))]:
            del self._told[topic_id]

    def _waiting_for(self, names: Mapping[UUID, str]) -> list[str]:
        waiting = self._waiting.items()
        return [name for name, unnamed in waiting if any(each in names for each in unnamed)]

    def _owners(self, name: str) -> Owners:
        owners: Owners = {}
        unnamed: set[UUID] = set()
        for member in self._members(name):
            named = dict(member.by_name)
            for topic_id, partitions in member.by_id.items():
                topic = self._listed.get(topic_id) or self._told.get(topic_id)
                if topic is None:
                    unnamed.add(topic_id)
                else:
                    named[topic] = partitions
            owners |= _owned(member, named)
        self._waiting.pop(name, None)
        if unnamed:
            self._waiting[name] = unnamed
        self._note_idle(name)
        return owners

    def _members(self, name: str) -> list[Member]:
        return [*self.groups[name].members.values()] if name in self.groups else []

    def _note_idle(self, name: str) -> None:
        self.idle.pop(name, None)
        idle = [each for each in self._members(name) if each.is_idle]
        if idle:
            self.idle[name] = sorted((each.client_host, each.client_id) for each in idle)


def _owned(member: Member, assigned: Mapping[str, Partitions]) -> Owners:
    if not member.seen:
        return {}
    owner = member.client_host, member.client_id
    return {(topic, number): owner for topic, numbers in assigned.items() for number in numbers}


class _Saved(Struct):
    groups: dict[str, Group]
    told: dict[UUID, str]
