"""The members of each group and what they read, from the offsets topic's events in log order.

A classic group's record replaces all its members, so a partition that lost its owner has none. The
members of a KIP-848 group come one by one, in any order: a compacted log may hold a member's
assignment before the member, and assignments name topics by id, whose names come from a listing.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct, field

from warren.model.group_events import (
    ClassicGroup,
    ClassicMember,
    Epoch,
    Event,
    GroupDeleted,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    Partitions,
    Protocol,
    TopicNames,
)
from warren.windows.limits import NO_LIMITS, Limits, Room

MAKES_GROUP = (ClassicGroup, Epoch, MemberSeen, MemberAssigned)


class GroupMember(Struct):
    instance_id: str = ""
    client_id: str = ""
    client_host: str = ""
    seen: bool = False  # the three above are known
    by_name: Mapping[str, Partitions] = field(default_factory=dict)  # of a classic group
    by_id: Mapping[UUID, Partitions] = field(default_factory=dict)  # of a KIP-848 group

    @property
    def is_idle(self) -> bool:
        """Whether we know that it has no partition assigned."""
        assigned = [*self.by_name.values(), *self.by_id.values()]
        return self.seen and not any(assigned)


class GroupMembers(Struct):
    protocol: Protocol
    epoch: int = 0  # the generation, of a classic group
    members: dict[str, GroupMember] = field(default_factory=dict)


class EventBatch:
    """Applies one batch to the groups and remembers which it touched.

    The tombstone of a group removes its members, not its commits. Kafka writes one whenever a group
    changes its protocol, and keeps the group's offsets; when it deletes a group it writes
    tombstones for the offsets too.
    """

    def __init__(self, groups: dict[str, GroupMembers], room: Room) -> None:
        self._groups = groups
        self._room = room
        self.changed: set[str] = set()

    def apply(self, event: Event) -> None:
        if isinstance(event, MAKES_GROUP) and not self._room.has_room(event.group, self._groups):
            return
        match event:
            case ClassicGroup(name, generation, members):
                group = self._live(name, Protocol.CLASSIC)
                group.epoch = generation
                now = {member.member_id: _classic(member) for member in members}
                fits = self._room.swap(group.members.values(), now.values())
                group.members = now if fits else self._without_members(group)
            case Epoch(name, epoch):
                self._live(name, Protocol.CONSUMER).epoch = epoch
                return
            case MemberSeen(name, member_id):
                who = event.instance_id, event.client_id, event.client_host
                member = self._member(name, member_id)
                self._set(name, member_id, GroupMember(*who, seen=True, by_id=member.by_id))
            case MemberAssigned(name, member_id, _, assigned):
                member = self._member(name, member_id)
                self._set(name, member_id, msgspec.structs.replace(member, by_id=assigned))
            case MemberGone(name, member_id) if self._has_member(name, member_id):
                self._room.leave([self._groups[name].members.pop(member_id)])
            case GroupDeleted(name, protocol) if self._is_of(name, protocol):
                self._room.leave(self._groups.pop(name).members.values())
            case _:
                return
        self.changed.add(name)

    def _live(self, name: str, protocol: Protocol) -> GroupMembers:
        """The group, created or reset if it is not of this protocol yet."""
        group = self._groups.get(name)
        if group is None or group.protocol is not protocol:
            self._room.leave(group.members.values() if group else ())
            group = self._groups[name] = GroupMembers(protocol)
            self.changed.add(name)
        return group

    def _member(self, name: str, member_id: str) -> GroupMember:
        return self._live(name, Protocol.CONSUMER).members.get(member_id, GroupMember())

    def _set(self, name: str, member_id: str, now: GroupMember) -> None:
        """Put a member into its group; one that does not fit is left out."""
        members = self._groups[name].members
        before = [members[member_id]] if member_id in members else []
        if self._room.swap(before, [now]):
            members[member_id] = now
        elif before:
            self._room.leave([members.pop(member_id)])

    def _without_members(self, group: GroupMembers) -> dict[str, GroupMember]:
        """Drop a group's old members when the new ones do not fit."""
        self._room.leave(group.members.values())
        return {}

    def _has_member(self, name: str, member_id: str) -> bool:
        is_consumer = self._is_of(name, Protocol.CONSUMER)
        return is_consumer and member_id in self._groups[name].members

    def _is_of(self, name: str, protocol: Protocol) -> bool:
        """Whether the group exists and has this protocol now."""
        group = self._groups.get(name)
        return group is not None and group.protocol is protocol


def _classic(member: ClassicMember) -> GroupMember:
    return GroupMember(
        member.instance_id, member.client_id, member.client_host, seen=True, by_name=member.assigned
    )


MAX_NAMED = 100_000  # topic names from records; the cluster lists its own topics
Owners = dict[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)


class MemberChanges(NamedTuple):
    """The changes of a batch."""

    owners: dict[str, Owners]  # of every group whose owners changed, all its owners
    no_room: int = 0  # records left out because of a limit


class Membership:
    """The groups of one cluster and their members."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self.groups: dict[str, GroupMembers] = {}
        self._room = Room(limits)
        self._listed: Mapping[UUID, str] = {}  # the cluster's topics at the last listing
        self._named: dict[UUID, str] = {}  # topics that records named
        self._waiting: dict[str, set[UUID]] = {}  # by group: topics whose names are unknown
        # By group: owner and client id of the members without a partition.
        self.idle: dict[str, list[tuple[str, str]]] = {}

    def fold(self, events: Iterable[Event]) -> MemberChanges:
        """Take in a batch; the events of a group are in log order."""
        batch, refused = EventBatch(self.groups, self._room), self._room.refused
        for event in events:
            match event:
                case TopicNames(_, names):
                    self._add_names(names)
                    batch.changed.update(self._waiting_for(names))
                case _:
                    batch.apply(event)
        owners = {name: self._owners(name) for name in batch.changed}
        return MemberChanges(owners, self._room.refused - refused)

    def name_topics(self, names: Mapping[UUID, str]) -> dict[str, Owners]:
        """Take in all topics of the cluster; returns the owners of groups that waited for one."""
        self._listed = names
        return {name: self._owners(name) for name in self._waiting_for(names)}

    @property
    def waits_for_topics(self) -> bool:
        return bool(self._waiting)

    def has_members(self, group: str) -> bool:
        return group in self.groups and bool(self.groups[group].members)

    def forget(self, group: str) -> None:
        """Drop a group that ended without a tombstone."""
        if known := self.groups.pop(group, None):
            self._room.leave(known.members.values())
        self._waiting.pop(group, None)
        self.idle.pop(group, None)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(_Saved(self.groups, self._named))

    def restore(self, saved: bytes) -> None:
        """Fill an empty membership from a snapshot; the topics have to be listed again."""
        state = msgspec.msgpack.decode(saved, type=_Saved)
        self.groups, self._named = state.groups, state.told
        for name, group in state.groups.items():
            self._room.enter(group.members.values())
            self._owners(name)

    def _add_names(self, names: Mapping[UUID, str]) -> None:
        """Keep only the latest names: anyone who can write to the topic can invent any number."""
        for topic_id, name in names.items():
            self._named.pop(topic_id, None)
            self._named[topic_id] = name
        for topic_id in [*islice(self._named, max(len(self._named) - MAX_NAMED, 0))]:
            del self._named[topic_id]

    def _waiting_for(self, names: Mapping[UUID, str]) -> list[str]:
        waiting = self._waiting.items()
        return [name for name, unnamed in waiting if any(each in names for each in unnamed)]

    def _owners(self, name: str) -> Owners:
        owners: Owners = {}
        unnamed: set[UUID] = set()
        for member in self._members(name):
            named = dict(member.by_name)
            for topic_id, partitions in member.by_id.items():
                topic = self._listed.get(topic_id) or self._named.get(topic_id)
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

    def _members(self, name: str) -> list[GroupMember]:
        return [*self.groups[name].members.values()] if name in self.groups else []

    def _note_idle(self, name: str) -> None:
        self.idle.pop(name, None)
        idle = [each for each in self._members(name) if each.is_idle]
        if idle:
            self.idle[name] = sorted((each.client_host, each.client_id) for each in idle)


def _owned(member: GroupMember, assigned: Mapping[str, Partitions]) -> Owners:
    if not member.seen:
        return {}
    owner = member.client_host, member.client_id
    return {(topic, number): owner for topic, numbers in assigned.items() for number in numbers}


class _Saved(Struct):
    groups: dict[str, GroupMembers]
    told: dict[UUID, str]  # names of topics from records
