"""Who is in each group and what they read, from the events of the offsets topic in log order.

A classic group's record replaces its members whole, so a partition that lost its owner has none.
The members of a KIP-848 group come one by one, in any order: a compacted log may hold a member's
assignment before the member, and assignments name topics by id, whose names are told from outside.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct, field

from warren.group_events import (
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

Owners = dict[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)


class Member(Struct):
    instance_id: str = ""
    client_id: str = ""
    client_host: str = ""
    seen: bool = False  # the three above are known
    by_name: Mapping[str, Partitions] = field(default_factory=dict)  # of a classic group
    by_id: Mapping[UUID, Partitions] = field(default_factory=dict)  # of a KIP-848 group


class Group(Struct):
    protocol: Protocol
    epoch: int = 0  # the generation, of a classic group
    members: dict[str, Member] = field(default_factory=dict)


class Changes(NamedTuple):
    """What a batch changed: deletions come first, a group may be among both."""

    owners: dict[str, Owners]  # all owners there are, of every group with a change in them
    deleted: dict[str, int]  # groups, and the order of the record that deleted each


class Membership:
    """The groups of one cluster."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self._listed: Mapping[UUID, str] = {}  # topics the cluster has, as it was asked last
        self._told: dict[UUID, str] = {}  # topics that records named
        self._waiting: dict[str, set[UUID]] = {}  # groups, for the names of these topics

    def fold(self, events: Iterable[tuple[int, Event]]) -> Changes:
        """Take in a batch of (order, event); the events of one group in the order of the log."""
        batch = _Batch(self.groups)
        for order, event in events:
            match event:
                case GroupDeleted(name, protocol):
                    batch.delete(name, protocol, order)
                case TopicNames(_, names):
                    self._told.update(names)
                    batch.changed.update(self._waiting_for(names))
                case _:
                    batch.apply(event)
        deleted = batch.all_deleted()
        for name in deleted:
            self._waiting.pop(name, None)
        return Changes({n: self._owners(n) for n in batch.changed if n in self.groups}, deleted)

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
        self.groups.pop(group, None)
        self._waiting.pop(group, None)

    def to_dict(self) -> dict[str, Any]:
        saved: dict[str, Any] = msgspec.to_builtins(_Saved(self.groups, self._told))
        return saved

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> "Membership":
        """Restore what was saved; names of topics are to be told again."""
        membership, state = cls(), msgspec.convert(saved, _Saved)
        membership.groups, membership._told = state.groups, state.told
        for name in state.groups:
            membership._owners(name)
        return membership

    def _waiting_for(self, names: Mapping[UUID, str]) -> list[str]:
        waiting = self._waiting.items()
        return [name for name, unnamed in waiting if any(each in names for each in unnamed)]

    def _owners(self, name: str) -> Owners:
        owners: Owners = {}
        unnamed: set[UUID] = set()
        for member in self.groups[name].members.values():
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
        return owners


def _owned(member: Member, assigned: Mapping[str, Partitions]) -> Owners:
    if not member.seen:
        return {}
    owner = member.client_host, member.client_id
    return {(topic, number): owner for topic, numbers in assigned.items() for number in numbers}


class _Saved(Struct):
    groups: dict[str, Group]
    told: dict[UUID, str]


class _Batch:
    """Applies one batch to the groups and remembers which it touched.

    A group that changes its protocol (an upgrade while it runs, or a downgrade) is written as a
    tombstone of the one followed, in the same append, by records of the other: it has not been
    deleted, and its windows stay. So a tombstone counts once the batch has ended without such a
    record, or the group came back under the same protocol.
    """

    def __init__(self, groups: dict[str, Group]) -> None:
        self._groups = groups
        self._deleted: dict[str, int] = {}
        self._undecided: dict[str, tuple[Protocol, int]] = {}
        self.changed: set[str] = set()

    def delete(self, name: str, protocol: Protocol, order: int) -> None:
        group = self._groups.get(name)
        if group is not None and group.protocol is not protocol:
            return  # what it was before it changed its protocol
        self._groups.pop(name, None)
        self._undecided[name] = protocol, order

    def all_deleted(self) -> dict[str, int]:
        return self._deleted | {name: order for name, (_, order) in self._undecided.items()}

    def apply(self, event: Event) -> None:
        match event:
            case ClassicGroup(name, generation, members):
                group = self._live(name, Protocol.CLASSIC)
                group.epoch = generation
                group.members = {member.member_id: _classic(member) for member in members}
            case Epoch(name, epoch):
                self._live(name, Protocol.CONSUMER).epoch = epoch
                return
            case MemberSeen(name, member_id):
                member = self._member(name, member_id)
                member.seen, member.instance_id = True, event.instance_id
                member.client_id, member.client_host = event.client_id, event.client_host
            case MemberAssigned(name, member_id, _, assigned):
                self._member(name, member_id).by_id = assigned
            case MemberGone(name, member_id) if self._has_member(name, member_id):
                del self._groups[name].members[member_id]
            case _:
                return
        self.changed.add(name)

    def _live(self, name: str, protocol: Protocol) -> Group:
        """Give the group, which has just shown to be alive under this protocol."""
        before, order = self._undecided.pop(name, (protocol, -1))
        if order >= 0 and before is protocol:
            self._deleted[name] = order
        group = self._groups.get(name)
        if group is None or group.protocol is not protocol:
            group = self._groups[name] = Group(protocol)
            self.changed.add(name)
        return group

    def _member(self, name: str, member_id: str) -> Member:
        return self._live(name, Protocol.CONSUMER).members.setdefault(member_id, Member())

    def _has_member(self, name: str, member_id: str) -> bool:
        group = self._groups.get(name)
        is_consumer = group is not None and group.protocol is Protocol.CONSUMER
        return is_consumer and member_id in self._groups[name].members


def _classic(member: ClassicMember) -> Member:
    return Member(
        member.instance_id, member.client_id, member.client_host, seen=True, by_name=member.assigned
    )
