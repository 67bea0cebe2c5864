"""Records about groups and their members, parsed one at a time on the driver: they are rare.

Anyone may have written these bytes: every length is checked before it is used.

`parse_group_record` never raises, and never does more work than there are bytes. Fields of a
classic group are named as in Burrow's log; version 4 is version 3 in Kafka's compact forms.

A subscription decides nothing about owners. So one that cannot be read is unknown, and the rest of
its record counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from warren.decode.cursor import Cursor
from warren.errors import Unreadable
from warren.model.group_events import (
    ClassicGroup,
    ClassicMember,
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
    Resolved,
    Subscription,
    TopicNames,
    Topology,
)

NEWEST, FLEXIBLE = 4, 4
CONSUMER = "consumer"  # the protocol type of groups that read topics; Connect has its own


def read_classic_group(group: str, cursor: Cursor) -> Event:
    version = cursor.integer(2, "no value version")
    if not 0 <= version <= NEWEST:
        raise Unreadable("value version")
    value = Value(cursor, version)
    header = value.header()
    if header.protocol_type != CONSUMER:
        return Ignored(group, "protocol type")
    count = value.member_count()
    if count < 0:
        return Ignored(group, "negative number of members")
    members, wrong = _members(value, count)
    if wrong and not members:
        raise Unreadable(wrong)
    return ClassicGroup(group, header.generation, tuple(members), wrong)


def _members(value: "Value", count: int) -> tuple[list[ClassicMember], str | None]:
    """Read members up to the first that cannot be read; those before it count."""
    members: list[ClassicMember] = []
    try:
        for _ in range(count):
            members.append(value.member())  # noqa: PERF401 - those before an error are kept
    except Unreadable as error:
        return members, error.field
    return members, None


@dataclass(frozen=True)
class Header:
    protocol_type: str
    generation: int
    protocol: str
    leader: str
    current_state_timestamp: int = 0  # from version 2 on


class Value:
    """A value, by its version: plain or compact forms, and fields that were added later."""

    def __init__(self, cursor: Cursor, version: int) -> None:
        self._cursor = cursor
        self._version = version
        self._is_flexible = version >= FLEXIBLE
        self._string = cursor.compact_string if self._is_flexible else cursor.string

    def header(self) -> Header:
        header = Header(
            self._string("protocol_type"),
            self._cursor.integer(4, "generation"),
            self._string("protocol"),
            self._string("leader"),
        )
        if self._version < 2:
            return header
        since_ms = self._cursor.integer(8, "current_state_timestamp")
        return replace(header, current_state_timestamp=since_ms)

    def member_count(self) -> int:
        if self._is_flexible:
            return self._cursor.compact_count("no member size")
        return self._cursor.integer(4, "no member size")

    def member(self) -> ClassicMember:
        member_id = self._string("member_id")
        instance_id = self._string("group_instance_id") if self._version >= 3 else ""
        client_id = self._string("client_id")
        client_host = self._string("client_host")
        if self._version >= 1:
            self._cursor.integer(4, "rebalance_timeout")
        self._cursor.integer(4, "session_timeout")
        subscription = subscribed_topics(self._bytes("subscription_bytes"))
        assigned = assigned_partitions(self._bytes("assignment_bytes"))
        if self._is_flexible:
            self._cursor.skip_tagged("tagged fields")
        return ClassicMember(member_id, instance_id, client_id, client_host, assigned, subscription)

    def _bytes(self, field: str) -> bytes | None:
        """Read bytes with their length before them; they may be cut short."""
        plain, compact = self._cursor.integer, self._cursor.compact_count
        size = compact(field) if self._is_flexible else plain(4, field)
        return self._cursor.take_up_to(size) if size > 0 else None


def subscribed_topics(data: bytes | None) -> Subscription | None:
    """Read a member's subscription; all versions start with its topics."""
    cursor = Cursor(data or b"")
    try:
        is_known = cursor.integer(2, "consumer_protocol_version") >= 0
        return Subscription(cursor.strings("subscription")) if is_known else None
    except Unreadable:
        return None


def assigned_partitions(data: bytes | None) -> dict[str, Partitions]:
    """Read a member's assignment, if it has one; all versions start like the first."""
    if data is None:
        return {}
    cursor = Cursor(data)
    if cursor.integer(2, "consumer_protocol_version") < 0:
        raise Unreadable("consumer_protocol_version")
    try:
        return read_assignment(cursor)
    except Unreadable as error:
        raise Unreadable("assignment") from error


def read_assignment(cursor: Cursor) -> dict[str, Partitions]:
    assigned: dict[str, Partitions] = {}
    for _ in range(cursor.integer(4, "assignment_topic_count")):
        topic = cursor.string("topic_name")
        count = cursor.integer(4, "assignment_partition_count")
        assigned[topic] = cursor.integers(count, "assignment_partition_id")
    cursor.integer(4, "user_bytes")
    return assigned


__all__ = ["Event", "Malformed", "parse_group_record"]

CLASSIC, GROUP, TOPICS, MEMBER, TARGET_EPOCH, TARGET, CURRENT, EXPRESSION = 2, 3, 4, 5, 6, 7, 8, 16
SHARE_MEMBER, SHARE_GROUP, SHARE_TARGET, SHARE_CURRENT = 10, 11, 13, 14
STREAMS_GROUP, STREAMS_MEMBER, STREAMS_TARGET, STREAMS_CURRENT, TOPOLOGY = 17, 19, 21, 22, 23
OF_A_MEMBER = {
    **dict.fromkeys((MEMBER, TARGET, CURRENT), Protocol.CONSUMER),
    **dict.fromkeys((SHARE_MEMBER, SHARE_TARGET, SHARE_CURRENT), Protocol.SHARE),
    **dict.fromkeys((STREAMS_MEMBER, STREAMS_TARGET, STREAMS_CURRENT), Protocol.STREAMS),
}
OF_A_GROUP = {
    CLASSIC: Protocol.CLASSIC,
    GROUP: Protocol.CONSUMER,
    SHARE_GROUP: Protocol.SHARE,
    STREAMS_GROUP: Protocol.STREAMS,
}
# The target is what a member is to read later; the current assignment is what it reads. Those of
# share groups name partitions that several members read, those of streams groups name tasks.
UNUSED = {
    TARGET_EPOCH: "target assignment epoch",
    TARGET: "target assignment",
    12: "target assignment epoch",
    SHARE_TARGET: "target assignment",
    SHARE_CURRENT: "current assignment",
    15: "share partitions",
    20: "target assignment epoch",
    STREAMS_TARGET: "target assignment",
    STREAMS_CURRENT: "current assignment",
}
# What these are called where a key names no group.
KINDS = {
    **dict.fromkeys(range(10, 16), "share group"),
    **dict.fromkeys((17, *range(19, 24)), "streams group"),
}


def parse_group_record(key: bytes, value: bytes | None) -> Event:
    """Parse a record with one of the key types above; without a value it is a tombstone."""
    try:
        return _parse(Cursor(key), Cursor(value) if value else None)
    except Unreadable as error:
        return Malformed(error.field)


def _parse(key: Cursor, value: Cursor | None) -> Event:
    kind = key.integer(2, "no key version")
    if kind != CLASSIC and kind not in UNUSED and kind not in READERS:
        raise Unreadable("key version")
    group = key.string(KINDS.get(kind, "group"))
    is_second = kind in OF_A_MEMBER or kind == EXPRESSION
    second = key.string(KINDS.get(kind, "member_id")) if is_second else ""
    if value is None:
        return _tombstone(kind, group, second)
    if kind == CLASSIC:
        return read_classic_group(group, value)
    if kind in UNUSED:
        return Ignored(group, UNUSED[kind])
    if value.integer(2, "no value version") != 0:
        raise Unreadable("value version")
    return READERS[kind](group, second, value)


def _tombstone(kind: int, group: str, second: str) -> Event:
    if kind in OF_A_MEMBER:
        return MemberGone(group, second, OF_A_MEMBER[kind])
    if kind in OF_A_GROUP:
        return GroupDeleted(group, OF_A_GROUP[kind])
    if kind == EXPRESSION:
        return Resolved(group, second, None)
    if kind == TOPOLOGY:
        return Topology(group, None)
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
    subscription = _subscription(value)
    return MemberSeen(group, member_id, instance_id, client_id, client_host, subscription)


def _subscription(value: Cursor) -> Subscription | None:
    try:
        topics = value.compact_strings("subscribed_topic_names")
        expression = value.compact_string("subscribed_topic_regex")
    except Unreadable:
        return None
    return Subscription(topics, (expression,) if expression else ())


def _resolved(group: str, expression: str, value: Cursor) -> Event:
    return Resolved(group, expression, value.compact_strings("topics"))


def _share_epoch(group: str, _: str, value: Cursor) -> Event:
    return Epoch(group, value.integer(4, "epoch"), Protocol.SHARE)


def _share_member(group: str, member_id: str, value: Cursor) -> Event:
    value.compact_string("rack_id")
    client_id = value.compact_string("client_id")
    client_host = value.compact_string("client_host")
    topics = Subscription(value.compact_strings("subscribed_topic_names"))
    return MemberSeen(group, member_id, "", client_id, client_host, topics, Protocol.SHARE)


def _streams_epoch(group: str, _: str, value: Cursor) -> Event:
    return Epoch(group, value.integer(4, "epoch"), Protocol.STREAMS)


def _streams_member(group: str, member_id: str, value: Cursor) -> Event:
    instance_id = value.compact_string("group_instance_id")
    value.compact_string("rack_id")
    client_id = value.compact_string("client_id")
    client_host = value.compact_string("client_host")
    who = instance_id, client_id, client_host
    return MemberSeen(group, member_id, *who, None, Protocol.STREAMS)


def _topology(group: str, _: str, value: Cursor) -> Event:
    """Read the topics of all parts; those that the application makes for itself count too."""
    value.integer(4, "epoch")
    topics: list[str] = []
    expressions: list[str] = []
    for _part in range(value.compact_count("subtopologies")):
        value.compact_string("subtopology_id")
        topics += value.compact_strings("source_topics")
        expressions += value.compact_strings("source_topic_regex")
        _topic_infos(value)  # changelogs
        value.compact_strings("repartition_sink_topics")
        topics += _topic_infos(value)  # repartition topics
        for _copartitioned in range(value.compact_count("copartition_groups")):
            for _kind in range(3):
                value.take(2 * value.compact_count("copartition_groups"), "copartition_groups")
            value.skip_tagged("tagged fields")
        value.skip_tagged("tagged fields")
    return Topology(group, Subscription(tuple(topics), tuple(expressions)))


def _topic_infos(value: Cursor) -> list[str]:
    names = []
    for _ in range(value.compact_count("topic_info")):
        names.append(value.compact_string("topic_name"))
        value.integer(4, "partition_count")
        value.integer(2, "replication_factor")
        for _config in range(value.compact_count("topic_configs")):
            value.compact_string("key")
            value.compact_string("value")
            value.skip_tagged("tagged fields")
        value.skip_tagged("tagged fields")
    return names


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
    EXPRESSION: _resolved,
    SHARE_GROUP: _share_epoch,
    SHARE_MEMBER: _share_member,
    STREAMS_GROUP: _streams_epoch,
    STREAMS_MEMBER: _streams_member,
    TOPOLOGY: _topology,
}
