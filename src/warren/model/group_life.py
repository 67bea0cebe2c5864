"""What the records about a group say of its life: members, rebalances, subscriptions, last owners.

`windows.group_lives` makes it; all others only read it. Moments are in seconds, by the clock of the
broker that wrote the record; 0 stands for a moment that is not known.
"""

from dataclasses import dataclass
from enum import IntEnum

from msgspec import Struct

from warren.model.arrays import Bytes, Codes, Floats, Ints, Mask, Singles


class Kind(IntEnum):
    """The protocol of a group, as far as its records tell."""

    NO_RECORDS = 0  # commits only: it uses assign(), or a tool commits for it
    CLASSIC = 1
    CONSUMER = 2  # KIP-848
    SHARE = 3  # KIP-932; it commits no offsets to the offsets topic
    STREAMS = 4  # KIP-1071


class Subscribed(IntEnum):
    """Whether some member of a group subscribes to a topic, or reads a partition of it."""

    UNKNOWN = 0  # no members, no records about members, or a subscription that cannot be read
    NO = 1  # there are members, and none of them does
    YES = 2


@dataclass(frozen=True)
class GroupLife:
    """First a line for each of `Verdicts.groups`, then a line for each of its partitions."""

    kind: Bytes  # a `Kind`
    member_count: Ints  # 0 also where nothing is known of members
    static_count: Ints  # members with a group.instance.id
    generation: Ints  # of a KIP-848 group its epoch; -1: not known
    generations_per_minute: Singles  # of the last minutes; a rate that decays
    churn_per_minute: Singles  # members who came or left, likewise
    empty_since_s: Floats  # 0: it has members, or nothing is known of them
    rebalanced_s: Floats  # the last generation began; 0: not known

    is_subscribed: Bytes  # a `Subscribed`
    has_left: Mask  # nobody subscribes to it any more, because that is how it was decided
    last_owner: Codes  # place in `Verdicts.owners`; who reads it, or read it last; 0: nobody yet
    last_client: Codes


class OtherGroup(Struct, frozen=True):
    """A group that commits no offsets, and so has no verdict."""

    kind: str  # in small letters
    members: int
    static_members: int
    generation: int | None
    empty_since_s: float | None
    topics: tuple[str, ...]  # that its members subscribe to, as far as known
