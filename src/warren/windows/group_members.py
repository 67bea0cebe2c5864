"""The members of each group and what they read, from the offsets topic's events in log order.

A classic group's record replaces all its members, so a partition that lost its owner has none. The
members of a KIP-848 group come one by one, in any order: a compacted log may hold a member's
assignment before the member, and assignments name topics by id, whose names come from a listing.

Rates and moments go by when each record was written, so batches do not matter to them, nor how late
they are read. They are sums that decay: the order of the records does not matter either.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain, islice, repeat
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec import Struct

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
    PastGeneration,
    Protocol,
    Resolved,
    Subscription,
    TopicNames,
    Topology,
)
from warren.windows.group_state import NOT_KNOWN_S, GroupMember, GroupMembers
from warren.windows.limits import NO_LIMITS, Limits, Room

MAKES_GROUP = (ClassicGroup, Epoch, MemberSeen, MemberAssigned, Resolved, Topology)
MAX_EXPRESSIONS = 100  # resolved ones of a group
MOST_OF_RETENTION = 0.9  # of offsets, after which brokers may have forgotten them


class EventBatch:
    """Applies one batch to the groups and remembers which it touched.

    The tombstone of a group removes its members, not its commits. Kafka writes one whenever a group
    changes its protocol, and keeps the group's offsets; when it deletes a group it writes
    tombstones for the offsets too.
    """

    def __init__(self, groups: dict[str, GroupMembers], room: Room) -> None:
        self._groups = groups
        self._room = room
        self.changed: set[str] = set()  # in members or what they are assigned
        self.touched: set[str] = set()  # in anything

    def apply(self, event: Event, at_s: float) -> None:
        """`at_s` is when the record was written; NOT_KNOWN_S: not known."""
        if isinstance(event, MAKES_GROUP) and not self._room.has_room(event.group, self._groups):
            return
        if isinstance(event, Epoch | PastGeneration | Resolved | Topology):
            self._apply_to_group(event, at_s)
        else:
            self._apply_to_members(event, at_s)

    def _apply_to_group(
        self, event: Epoch | PastGeneration | Resolved | Topology, at_s: float
    ) -> None:
        match event:
            case PastGeneration(name, epoch, protocol):
                if self._is_of(name, protocol):
                    self._groups[name].note_past(epoch, at_s)
            case Epoch(name, epoch, protocol):
                is_new = not self._is_of(name, protocol)
                group = self._live(name, protocol)
                group.note_generation(epoch, at_s, is_new=is_new or not group.epoch)
                group.note_members(0, at_s)
            case Resolved(name, _, None) if not self._is_of(name, Protocol.CONSUMER):
                return
            case Topology(name, None) if not self._is_of(name, Protocol.STREAMS):
                return
            case Resolved(name, expression, topics):
                self._resolve(name, expression, topics)
            case Topology(name, subscription):
                self._live(name, Protocol.STREAMS).topology = subscription
        self.touched.add(event.group)

    def _apply_to_members(self, event: Event, at_s: float) -> None:
        match event:
            case ClassicGroup(name):
                self._apply_classic(event, at_s)
            case MemberSeen(name, member_id):
                self._see(event, at_s)
            case MemberAssigned(name, member_id, _, assigned):
                group = self._live(name, Protocol.CONSUMER)
                member = group.members.get(member_id, GroupMember())
                self._set(group, member_id, msgspec.structs.replace(member, by_id=assigned))
                group.note_members(0, at_s)
            case MemberGone(name, member_id, protocol) if self._has_member(event):
                group = self._groups[name]
                gone = group.members.pop(member_id)
                self._room.leave([gone])
                self._resubscribe(group, {gone.subscription}, set(), at_s)
                group.churn.add(1, at_s)
                group.note_members(1, at_s)
            case GroupDeleted(name, protocol) if self._is_of(name, protocol):
                self._drop(name)
            case _:
                return
        self.changed.add(name)
        self.touched.add(name)

    def _apply_classic(self, event: ClassicGroup, at_s: float) -> None:
        is_new = not self._is_of(event.group, Protocol.CLASSIC)
        group = self._live(event.group, Protocol.CLASSIC)
        before = group.members.keys()
        had = {each.subscription for each in group.members.values()}
        now = {member.member_id: _classic(member) for member in event.members}
        group.note_generation(event.generation, at_s, is_new=is_new)
        group.churn.add(0 if is_new else len(before ^ now.keys()), at_s)
        fits = self._room.swap(group.members.values(), now.values())
        group.members = now if fits else self._without_members(group)
        have = {each.subscription for each in group.members.values()}
        self._resubscribe(group, had, have, at_s)
        group.note_members(len(before), at_s)

    def _see(self, event: MemberSeen, at_s: float) -> None:
        group = self._live(event.group, event.protocol)
        before = group.members.get(event.member_id)
        who = event.instance_id, event.client_id, event.client_host
        by_id = before.by_id if before else {}
        now = GroupMember(*who, seen=True, by_id=by_id, subscription=event.subscription)
        self._set(group, event.member_id, now)
        have = {now.subscription} if event.member_id in group.members else set()
        self._resubscribe(group, {before.subscription} if before else set(), have, at_s)
        group.churn.add(int(before is None), at_s)
        group.note_members(0, at_s)

    def _resubscribe(
        self,
        group: GroupMembers,
        before: AbstractSet[Subscription | None],
        now: AbstractSet[Subscription | None],
        at_s: float,
    ) -> None:
        """Take in that some of its members had these subscriptions, and have those now."""
        if before == now:
            return
        ended = [each for each in before - now if each is not None and not group.has(each)]
        for topics in group.subscriptions.ended():
            self._room.forget_topics(topics)
        group.subscriptions.change(ended, [each for each in now if each is not None], at_s)
        group.subscriptions.keep(self._room.holds)

    def _resolve(self, name: str, expression: str, topics: tuple[str, ...] | None) -> None:
        resolved = self._live(name, Protocol.CONSUMER).resolved
        self._room.forget_topics(resolved.pop(expression, ()))
        if topics is not None and len(resolved) < MAX_EXPRESSIONS and self._room.holds(topics):
            resolved[expression] = topics

    def _live(self, name: str, protocol: Protocol) -> GroupMembers:
        """The group, created or reset if it is not of this protocol yet."""
        group = self._groups.get(name)
        if group is None or group.protocol is not protocol:
            if group:
                self._drop(name)
            group = self._groups[name] = GroupMembers(protocol)
            self.changed.add(name)
        return group

    def _drop(self, name: str) -> None:
        group = self._groups.pop(name)
        self._room.leave_group(group.members.values(), group.held)

    def _set(self, group: GroupMembers, member_id: str, now: GroupMember) -> None:
        """Put a member into its group; one that does not fit is left out."""
        members = group.members
        before = [members[member_id]] if member_id in members else []
        if self._room.swap(before, [now]):
            members[member_id] = now
        elif before:
            self._room.leave([members.pop(member_id)])

    def _without_members(self, group: GroupMembers) -> dict[str, GroupMember]:
        """Drop a group's old members when the new ones do not fit."""
        self._room.leave(group.members.values())
        return {}

    def _has_member(self, event: MemberGone) -> bool:
        is_of = self._is_of(event.group, event.protocol)
        return is_of and event.member_id in self._groups[event.group].members

    def _is_of(self, name: str, protocol: Protocol) -> bool:
        """Whether the group exists and has this protocol now."""
        group = self._groups.get(name)
        return group is not None and group.protocol is protocol


def _classic(member: ClassicMember) -> GroupMember:
    return GroupMember(
        member.instance_id,
        member.client_id,
        member.client_host,
        seen=True,
        by_name=member.assigned,
        subscription=member.subscription,
    )


# Of the others we do not know which partitions a member reads.
HAS_OWNERS = (Protocol.CLASSIC, Protocol.CONSUMER)
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
        self.touched: set[str] = set()  # groups that have changed; whoever reads them clears it

    def fold(self, events: Iterable[Event], written_s: Iterable[float] = ()) -> MemberChanges:
        """Take in a batch; the events of a group are in log order.

        `written_s` is when each record was written, if that is known.
        """
        batch, refused = EventBatch(self.groups, self._room), self._room.refused
        for event, at_s in zip(events, chain(written_s, repeat(NOT_KNOWN_S)), strict=False):
            match event:
                case TopicNames(_, names):
                    self._add_names(names)
                    batch.changed.update(self._waiting_for(names))
                case _:
                    batch.apply(event, at_s)
        self.touched |= batch.touched | batch.changed
        owners = {name: self._owners(name) for name in batch.changed}
        return MemberChanges(owners, self._room.refused - refused)

    def to_be_deleted(
        self, events: Iterable[Event], written_s: Iterable[float], kept_s: float | None
    ) -> list[str]:
        """The groups that somebody deletes; asked before the events are folded.

        Brokers delete an empty group by themselves when they have kept its offsets for `kept_s`.
        """
        deleted = []
        for event, at_s in zip(events, written_s, strict=True):
            if isinstance(event, GroupDeleted):
                known = self.groups.get(event.group)
                empty_s = at_s - known.empty_s if known and known.empty_s else 0.0
                if kept_s is None or empty_s < MOST_OF_RETENTION * kept_s:
                    deleted.append(event.group)
        return deleted

    def name_topics(self, names: Mapping[UUID, str]) -> dict[str, Owners]:
        """Take in all topics of the cluster; returns the owners of groups that waited for one."""
        self._listed = names
        owners = {name: self._owners(name) for name in self._waiting_for(names)}
        self.touched.update(owners)
        return owners

    @property
    def waits_for_topics(self) -> bool:
        return bool(self._waiting)

    def has_members(self, group: str) -> bool:
        return group in self.groups and bool(self.groups[group].members)

    def topics_of(self, group: str) -> frozenset[str]:
        """The topics that members of a group read, as far as their names are known."""
        members = self._members(group)
        ids = {each for member in members for each, read in member.by_id.items() if read}
        named = {self._listed.get(topic_id) or self._named.get(topic_id) for topic_id in ids}
        by_name = {each for member in members for each, read in member.by_name.items() if read}
        return frozenset(name for name in named | by_name if name)

    def forget(self, group: str) -> None:
        """Drop a group that ended without a tombstone."""
        if known := self.groups.pop(group, None):
            self._room.leave_group(known.members.values(), known.held)
            self.touched.add(group)
        self._waiting.pop(group, None)
        self.idle.pop(group, None)

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(_Saved(self.groups, self._named))

    def restore(self, saved: bytes) -> None:
        """Fill an empty membership from a snapshot; the topics have to be listed again."""
        state = msgspec.msgpack.decode(saved, type=_Saved)
        self.groups, self._named = state.groups, state.told
        self.touched.update(state.groups)
        for name, group in state.groups.items():
            self._room.enter(group.members.values(), group.held)
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
        group = self.groups.get(name)
        if group is None or group.protocol not in HAS_OWNERS:
            return
        idle = [each for each in group.members.values() if each.is_idle]
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
