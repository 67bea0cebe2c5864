"""What the records about groups say, one event a record: decoded in `decode`, folded in `windows`.

Two protocols write them. A *classic* group is one record that lists all its members. A KIP-848
group (`Epoch`, `MemberSeen`, `MemberAssigned`, `MemberGone`, `TopicNames`) is spread over one
record for each member and each of its assignments, and names topics by id.
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
    """All members there are: who is not among them has left. None at all: the group is empty."""

    group: str
    generation: int
    members: tuple[ClassicMember, ...]
    wrong: str | None = None  # why members are missing after these; the record is damaged


class GroupDeleted(Struct, frozen=True):
    """A tombstone: of a group that was deleted, or that goes on under the other protocol."""

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
    """What a member reads now, partitions it was asked to give up and has not yet included."""

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
    """A sound record that says nothing about owners."""

    group: str
    why: str


class Malformed(Struct, frozen=True):
    """A record that cannot be read; the reason is the field, in Burrow's words where it has any."""

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
