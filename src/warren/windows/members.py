"""The members of a group, and what the records of one batch make of them."""

from collections.abc import Mapping
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
)
from warren.windows.room import Room

MAKES_GROUP = (ClassicGroup, Epoch, MemberSeen, MemberAssigned)


class Member(Struct):
    instance_id: str = ""
    client_id: str = ""
    client_host: str = ""
    seen: bool = False  # the three above are known
    by_name: Mapping[str, Partitions] = field(default_factory=dict)  # of a classic group
    by_id: Mapping[UUID, Partitions] = field(default_factory=dict)  # of a KIP-848 group

    @property
    def is_idle(self) -> bool:
        """Whether it is known to have nothing to read."""
        assigned = [*self.by_name.values(), *self.by_id.values()]
        return self.seen and not any(assigned)


class Group(Struct):
    protocol: Protocol
    epoch: int = 0  # the generation, of a classic group
    members: dict[str, Member] = field(default_factory=dict)


class Batch:
    """Applies one batch to the groups and remembers which it touched.

    The tombstone of a group ends its members, not its commits. Kafka writes one whenever a group
    changes its protocol, and goes on with the group's offsets; when it deletes a group it writes
    tombstones for these as well.
    """

    def __init__(self, groups: dict[str, Group], room: Room) -> None:
        self._groups = groups
        self._room = room
        self.changed: set[str] = set()

    def apply(self, event: Event) -> None:
        if isinstance(event, MAKES_GROUP) and not self._room.takes(event.group, self._groups):
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
                self._set(name, member_id, Member(*who, seen=True, by_id=member.by_id))
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

    def _live(self, name: str, protocol: Protocol) -> Group:
        """Give the group, which has just shown to be alive under this protocol."""
        group = self._groups.get(name)
        if group is None or group.protocol is not protocol:
            self._room.leave(group.members.values() if group else ())
            group = self._groups[name] = Group(protocol)
            self.changed.add(name)
        return group

    def _member(self, name: str, member_id: str) -> Member:
        return self._live(name, Protocol.CONSUMER).members.get(member_id, Member())

    def _set(self, name: str, member_id: str, now: Member) -> None:
        """Put a member, as it is now, into its group; one that does not fit is left out."""
        members = self._groups[name].members
        before = [members[member_id]] if member_id in members else []
        if self._room.swap(before, [now]):
            members[member_id] = now
        elif before:
            self._room.leave([members.pop(member_id)])

    def _without_members(self, group: Group) -> dict[str, Member]:
        """What a group has when those it has now do not fit; those before are no longer true."""
        self._room.leave(group.members.values())
        return {}

    def _has_member(self, name: str, member_id: str) -> bool:
        is_consumer = self._is_of(name, Protocol.CONSUMER)
        return is_consumer and member_id in self._groups[name].members

    def _is_of(self, name: str, protocol: Protocol) -> bool:
        """Whether a group is there, and of this protocol; it may have left it long ago."""
        group = self._groups.get(name)
        return group is not None and group.protocol is protocol


def _classic(member: ClassicMember) -> Member:
    return Member(
        member.instance_id, member.client_id, member.client_host, seen=True, by_name=member.assigned
    )
