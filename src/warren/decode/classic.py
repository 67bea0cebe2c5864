"""The value of a classic group's record: all its members, with what each was assigned.

Fields are named as in Burrow's log. Version 4 is version 3 in Kafka's compact forms.
"""

from dataclasses import dataclass, replace

from warren.decode.cursor import Cursor
from warren.errors import Unreadable
from warren.group_events import ClassicGroup, ClassicMember, Event, Ignored, Partitions

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
    """Read members up to the first that cannot be: those before it own what they say."""
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
    """What differs between the versions: plain or compact forms, and fields that came later."""

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
        """Read what has its own length before it: the length counts, even if the bytes are cut."""
        plain, compact = self._cursor.integer, self._cursor.compact_count
        size = compact(field) if self._is_flexible else plain(4, field)
        return self._cursor.take_up_to(size) if size > 0 else None


def assigned_partitions(data: bytes | None) -> dict[str, Partitions]:
    """Read a member's assignment, if it has any; every version of it begins like the first."""
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
