"""The records about groups as events, one per record: decoded in `decode`, folded in `windows`.

Two protocols write them. A *classic* group is one record that lists all its members. A KIP-848
group (`Epoch`, `MemberSeen`, `MemberAssigned`, `MemberGone`, `TopicNames`) has separate records for
each member and each of its assignments, and refers to topics by id.
"""

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

Partitions = tuple[int, ...]


class Protocol(StrEnum):
    CLASSIC = "classic"
    CONSUMER = "consumer"  # KIP-848, by the name Kafka's tools give it


class ClassicMember(Struct, frozen=True):
    member_id: str
    instance_id: str
    client_id: str
    client_host: str
    assigned: Mapping[str, Partitions]  # by topic name


class ClassicGroup(Struct, frozen=True):
    """The complete list of members: anyone else has left. If it is empty, so is the group."""

    group: str
    generation: int
    members: tuple[ClassicMember, ...]
    wrong: str | None = None  # set if the record is damaged: why further members are missing


class GroupDeleted(Struct, frozen=True):
    """A tombstone: the group was deleted, or continues under the other protocol."""

    group: str
    protocol: Protocol


class Epoch(Struct, frozen=True):
    group: str
    epoch: int


class MemberSeen(Struct, frozen=True):
    group: str
    member_id: str
    instance_id: str
    client_id: str
    client_host: str


class MemberAssigned(Struct, frozen=True):
    """What a member reads now, including partitions that it has yet to give up."""

    group: str
    member_id: str
    epoch: int
    assigned: Mapping[UUID, Partitions]  # by topic id


class MemberGone(Struct, frozen=True):
    group: str
    member_id: str


class TopicNames(Struct, frozen=True):
    group: str
    names: Mapping[UUID, str]


class Ignored(Struct, frozen=True):
    """A valid record that says nothing about owners."""

    group: str
    why: str


class Malformed(Struct, frozen=True):
    """A record that cannot be read; the reason names the field, in Burrow's words if it has any."""

    reason: str


GroupEvent = (
    ClassicGroup
    | GroupDeleted
    | Epoch
    | MemberSeen
    | MemberAssigned
    | MemberGone
    | TopicNames
    | Ignored
)
Event = GroupEvent | Malformed
