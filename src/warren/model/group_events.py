"""The records about groups as events, one per record: decoded in `decode`, folded in `windows`.

Several protocols write them. A *classic* group is one record that lists all its members. A KIP-848
group (`Epoch`, `MemberSeen`, `MemberAssigned`, `MemberGone`, `TopicNames`, `Resolved`) has separate
records for each member and each of its assignments, and refers to topics by id. Share groups and
streams groups have an epoch and members of the same kind; a streams group's topics are in its
`Topology`.
"""

from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

Partitions = tuple[int, ...]


class Protocol(StrEnum):
    CLASSIC = "classic"
    CONSUMER = "consumer"  # KIP-848, by the name Kafka's tools give it
    SHARE = "share"
    STREAMS = "streams"


class Subscription(Struct, frozen=True):
    """What a member subscribes to."""

    topics: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()  # in RE2's dialect; they match whole names


class ClassicMember(Struct, frozen=True):
    member_id: str
    instance_id: str
    client_id: str
    client_host: str
    assigned: Mapping[str, Partitions]  # by topic name
    subscription: Subscription | None = None  # None: it cannot be read


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
    protocol: Protocol = Protocol.CONSUMER


class PastGeneration(Struct, frozen=True):
    """An old generation, or epoch, of a group whose newer records were read before."""

    group: str
    epoch: int
    protocol: Protocol


class MemberSeen(Struct, frozen=True):
    group: str
    member_id: str
    instance_id: str
    client_id: str
    client_host: str
    subscription: Subscription | None = None  # None: not in this record
    protocol: Protocol = Protocol.CONSUMER


class MemberAssigned(Struct, frozen=True):
    """What a member reads now, including partitions that it has yet to give up."""

    group: str
    member_id: str
    epoch: int
    assigned: Mapping[UUID, Partitions]  # by topic id


class MemberGone(Struct, frozen=True):
    group: str
    member_id: str
    protocol: Protocol = Protocol.CONSUMER


class Resolved(Struct, frozen=True):
    """The topics that a regular expression matched when the broker looked; None: forgotten."""

    group: str
    expression: str
    topics: tuple[str, ...] | None


class Topology(Struct, frozen=True):
    """What a streams group reads; None: forgotten."""

    group: str
    subscription: Subscription | None


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
    | PastGeneration
    | MemberSeen
    | MemberAssigned
    | MemberGone
    | TopicNames
    | Resolved
    | Topology
    | Ignored
)
Event = GroupEvent | Malformed
