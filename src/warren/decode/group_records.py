"""Records about groups and their members, parsed one at a time on the driver: they are rare.

Anyone may have written these bytes: every length is checked before it is used.

`parse_group_record` never raises, and never does more work than there are bytes. Fields of a
classic group are named as in Burrow's log; version 4 is version 3 in Kafka's compact forms.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

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
    TopicNames,
)

VARINT_BYTES = 5


class Cursor:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int, field: str) -> bytes:
        """Read `size` bytes; raises `Unreadable` with the field if there are fewer."""
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise Unreadable(field)
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def take_up_to(self, size: int) -> bytes:
        """Read `size` bytes, or as many as there are; a negative size counts as 0."""
        return self.take(min(max(size, 0), len(self._data) - self._at), "")

    def integer(self, width: int, field: str) -> int:
        return int.from_bytes(self.take(width, field), signed=True)

    def varint(self, field: str) -> int:
        number = 0
        for place in range(VARINT_BYTES):
            byte = self.take(1, field)[0]
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise Unreadable(field)

    def string(self, field: str) -> str:
        """Read a string; null reads as empty. Bytes that are not UTF-8 become U+FFFD."""
        size = self.integer(2, field)
        return self.take(0 if size == -1 else size, field).decode(errors="replace")

    def compact_bytes(self, field: str) -> bytes:
        return self.take(self.compact_count(field), field)

    def compact_string(self, field: str) -> str:
        return self.compact_bytes(field).decode(errors="replace")

    def compact_count(self, field: str) -> int:
        """Read the length of a compact string or array; null counts as 0."""
        return max(self.varint(field) - 1, 0)

    def uuid(self, field: str) -> UUID:
        return UUID(bytes=self.take(16, field))

    def integers(self, count: int, field: str) -> tuple[int, ...]:
        """Read `count` int32; raises `Unreadable` if there are fewer."""
        return struct.unpack(f">{count}i", self.take(4 * count, field))

    def skip_tagged(self, field: str) -> None:
        """Skip the tagged fields at the end of a structure."""
        for _ in range(self.varint(field)):
            self.varint(field)
            self.take(self.varint(field), field)


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
        self._bytes("subscription_bytes")
        assigned = assigned_partitions(self._bytes("assignment_bytes"))
        if self._is_flexible:
            self._cursor.skip_tagged("tagged fields")
        return ClassicMember(member_id, instance_id, client_id, client_host, assigned)

    def _bytes(self, field: str) -> bytes | None:
        """Read bytes with their length before them; they may be cut short."""
        plain, compact = self._cursor.integer, self._cursor.compact_count
        size = compact(field) if self._is_flexible else plain(4, field)
        return self._cursor.take_up_to(size) if size > 0 else None


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
OF_A_MEMBER = (MEMBER, TARGET, CURRENT)
# The target is what a member is to read later; the current assignment is what it reads.
UNUSED = {
    TARGET_EPOCH: "target assignment epoch",
    TARGET: "target assignment",
    EXPRESSION: "regular expression",
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
