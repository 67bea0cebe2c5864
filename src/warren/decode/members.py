"""Records about groups and their members, parsed one at a time on the driver: they are rare.

`parse_group_record` never raises, and never does more work than there are bytes.
"""

from collections.abc import Callable
from uuid import UUID

from warren.decode.classic import read_classic_group
from warren.decode.cursor import Cursor
from warren.errors import Unreadable
from warren.group_events import (
    Epoch,
    Event,
    GroupDeleted,
    Ignored,
    Malformed,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    Partitions,
    Protocol,
    TopicNames,
)

__all__ = ["Event", "Malformed", "parse_group_record"]

CLASSIC, GROUP, TOPICS, MEMBER, TARGET_EPOCH, TARGET, CURRENT, EXPRESSION = 2, 3, 4, 5, 6, 7, 8, 16
OF_A_MEMBER = (MEMBER, TARGET, CURRENT)
# The target is what a member shall read one day; what it reads is the current assignment.
UNUSED = {
    TARGET_EPOCH: "target assignment epoch",
    TARGET: "target assignment",
    EXPRESSION: "regular expression",
}


def parse_group_record(key: bytes, value: bytes | None) -> Event:
    """Say what a record means whose key is of one of the types above; no value is a tombstone."""
    try:
        return _parse(Cursor(key), Cursor(value) if value else None)
    except Unreadable as error:
        return Malformed(error.field)


def _parse(key: Cursor, value: Cursor | None) -> Event:
    kind = key.integer(2, "no key version")
    if kind != CLASSIC and kind not in UNUSED and kind not in READERS:
        raise Unreadable("key version")
    group = key.string("group")
    member_id = key.string("member_id") if kind in OF_A_MEMBER else ""
    if value is None:
        return _tombstone(kind, group, member_id)
    if kind == CLASSIC:
        return read_classic_group(group, value)
    if kind in UNUSED:
        return Ignored(group, UNUSED[kind])
    if value.integer(2, "no value version") != 0:
        raise Unreadable("value version")
    return READERS[kind](group, member_id, value)


def _tombstone(kind: int, group: str, member_id: str) -> Event:
    if kind in OF_A_MEMBER:
        return MemberGone(group, member_id)
    if kind == CLASSIC:
        return GroupDeleted(group, Protocol.CLASSIC)
    if kind == GROUP:
        return GroupDeleted(group, Protocol.CONSUMER)
    return Ignored(group, "tombstone")


def _epoch(group: str, _: str, value: Cursor) -> Event:
    return Epoch(group, value.integer(4, "epoch"))


def _topic_names(group: str, _: str, value: Cursor) -> Event:
    names: dict[UUID, str] = {}
    for _topic in range(value.compact_count("topics")):
        topic_id = value.uuid("topic_id")
        names[topic_id] = value.compact_string("topic_name")
        value.integer(4, "partition_count")
        for _partition in range(value.compact_count("partitions")):
            value.integer(4, "partition")
            for _rack in range(value.compact_count("racks")):
                value.compact_string("rack")
            value.skip_tagged("tagged fields")
        value.skip_tagged("tagged fields")
    return TopicNames(group, names)


def _member(group: str, member_id: str, value: Cursor) -> Event:
    instance_id = value.compact_string("group_instance_id")
    value.compact_string("rack_id")
    client_id = value.compact_string("client_id")
    client_host = value.compact_string("client_host")
    return MemberSeen(group, member_id, instance_id, client_id, client_host)


def _current(group: str, member_id: str, value: Cursor) -> Event:
    epoch = value.integer(4, "epoch")
    value.integer(4, "previous_epoch")
    value.integer(1, "state")
    assigned = _partitions_by_id(value)
    for topic_id, revoking in _partitions_by_id(value).items():
        assigned[topic_id] = assigned.get(topic_id, ()) + revoking
    return MemberAssigned(group, member_id, epoch, assigned)


def _partitions_by_id(value: Cursor) -> dict[UUID, Partitions]:
    assigned: dict[UUID, Partitions] = {}
    for _ in range(value.compact_count("assignment")):
        topic_id = value.uuid("topic_id")
        count = value.compact_count("assignment_partition_count")
        assigned[topic_id] = value.integers(count, "assignment_partition_id")
        value.skip_tagged("tagged fields")
    return assigned


READERS: dict[int, Callable[[str, str, Cursor], Event]] = {
    GROUP: _epoch,
    TOPICS: _topic_names,
    MEMBER: _member,
    CURRENT: _current,
}
