"""Keys and values of __consumer_offsets as a broker writes them, for tests and benchmarks."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Assignment = Mapping[str, Sequence[int]]  # topic -> partitions
AssignmentById = Mapping[bytes, Sequence[int]]  # topic id -> partitions

PLAIN_GROUP, FLEXIBLE_GROUP = 3, 4  # classic group values: the one Kafka 4.1 writes, the next


def int16(number: int) -> bytes:
    return struct.pack(">h", number)


def int32(number: int) -> bytes:
    return struct.pack(">i", number)


def int64(number: int) -> bytes:
    return struct.pack(">q", number)


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def string(text: str | bytes | None) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return int16(-1) if data is None else int16(len(data)) + data


def compact_string(text: str | bytes | None) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return varint(0) if data is None else varint(len(data) + 1) + data


def blob(data: bytes) -> bytes:
    return int32(len(data)) + data


def array(elements: Iterable[bytes]) -> bytes:
    elements = list(elements)
    return int32(len(elements)) + b"".join(elements)


def compact_array(elements: Iterable[bytes]) -> bytes:
    elements = list(elements)
    return varint(len(elements) + 1) + b"".join(elements)


def tagged(fields: Mapping[int, bytes] | None = None) -> bytes:
    fields = fields or {}
    each = (varint(tag) + varint(len(data)) + data for tag, data in fields.items())
    return varint(len(fields)) + b"".join(each)


def commit_key(
    group: str | bytes | None, topic: str | bytes | None, partition: int, key_type: int = 1
) -> bytes:
    return commit_key_head(group, topic, key_type) + int32(partition)


def commit_key_head(
    group: str | bytes | None, topic: str | bytes | None, key_type: int = 1
) -> bytes:
    """The key of a commit up to the partition number."""
    return int16(key_type) + string(group) + string(topic)


def commit_value(
    offset: int,
    committed_ms: int,
    *,
    version: int = 3,
    metadata: str | bytes | None = "",
    tags: Mapping[int, bytes] | None = None,
) -> bytes:
    epoch = int32(-1) if version >= 3 else b""
    text = compact_string(metadata) if version >= 4 else string(metadata)
    after = {1: int64(-1), 4: tagged(tags)}.get(version, b"")  # when it expires; tagged fields
    return int16(version) + int64(offset) + epoch + text + int64(committed_ms) + after


@dataclass(frozen=True)
class ClassicMember:
    member_id: str
    client_id: str = "client"
    client_host: str = "/10.0.0.1"
    assigned: Assignment = field(default_factory=dict)
    instance_id: str | None = None
    subscribed: Sequence[str] | None = None  # None: its metadata cannot be decoded


def group_key(group: str | bytes, key_type: int = 2) -> bytes:
    return int16(key_type) + string(group)


def assignment(assigned: Assignment, user_data: bytes = b"") -> bytes:
    topics = (string(t) + array(map(int32, partitions)) for t, partitions in assigned.items())
    return int16(0) + array(topics) + blob(user_data)


def subscription(topics: Sequence[str] | None, user_data: bytes = b"") -> bytes:
    """What a member tells the others: the topics it wants, in version 1 of the consumer protocol.

    Version 1 adds the partitions that it holds already; here it holds none.
    """
    if topics is None:
        return b"\x00\x01subscription"
    return int16(1) + array(map(string, topics)) + blob(user_data) + array([])


def group_value(
    members: Sequence[ClassicMember],
    *,
    version: int = PLAIN_GROUP,
    generation: int = 1,
    protocol_type: str = "consumer",
) -> bytes:
    text = compact_string if version >= FLEXIBLE_GROUP else string
    protocol = "range" if members else None
    leader = members[0].member_id if members else None
    state_ms = int64(1_700_000_000_000) if version >= 2 else b""
    each = [_classic_member(member, version) for member in members]
    listed = compact_array(each) + tagged() if version >= FLEXIBLE_GROUP else array(each)
    header = text(protocol_type) + int32(generation) + text(protocol) + text(leader)
    return int16(version) + header + state_ms + listed


def _classic_member(member: ClassicMember, version: int) -> bytes:
    flexible = version >= FLEXIBLE_GROUP
    text = compact_string if flexible else string
    sized = compact_string if flexible else blob
    instance = text(member.instance_id) if version >= 3 else b""
    rebalance_timeout = int32(300_000) if version >= 1 else b""
    return (
        text(member.member_id)
        + instance
        + text(member.client_id)
        + text(member.client_host)
        + rebalance_timeout
        + int32(45_000)
        + sized(subscription(member.subscribed))
        + sized(assignment(member.assigned))
        + (tagged() if flexible else b"")
    )


def member_key(group: str, member_id: str, key_type: int) -> bytes:
    return int16(key_type) + string(group) + string(member_id)


def epoch_value(epoch: int) -> bytes:
    """Types 3 and 6: the epoch of a KIP-848 group, or of its target assignment."""
    return int16(0) + int32(epoch) + tagged()


def member_value(
    client_id: str = "client",
    client_host: str = "/10.0.0.1",
    instance_id: str | None = None,
    *,
    topics: Sequence[str] = ("orders",),
    expression: str | None = None,
) -> bytes:
    """Type 5."""
    return (
        int16(0)
        + compact_string(instance_id)
        + compact_string(None)  # rack
        + compact_string(client_id)
        + compact_string(client_host)
        + compact_array(map(compact_string, topics))
        + compact_string(expression)
        + int32(300_000)
        + compact_string("uniform")
        + tagged()
    )


def expression_value(topics: Sequence[str]) -> bytes:
    """Type 16."""
    return int16(0) + compact_array(map(compact_string, topics)) + int64(7) + int64(8) + tagged()


def share_epoch_value(epoch: int) -> bytes:
    """Types 11 and 17, as Kafka 4.1 writes them."""
    return int16(0) + int32(epoch) + int64(-1) + tagged()


def share_member_value(topics: Sequence[str]) -> bytes:
    """Type 10."""
    who = compact_string(None) + compact_string("client") + compact_string("/10.0.0.1")
    return int16(0) + who + compact_array(map(compact_string, topics)) + tagged()


def streams_member_value(instance_id: str | None = None) -> bytes:
    """Type 19."""
    who = compact_string(instance_id) + compact_string(None)
    who += compact_string("client") + compact_string("/10.0.0.1")
    times = int32(300_000) + int32(1) + compact_string("process")
    return int16(0) + who + times + b"\xff" + compact_array([]) + tagged()


def topology_value(topics: Sequence[str], expressions: Sequence[str] = ()) -> bytes:
    """Type 23, with a changelog and a repartition topic."""
    config = compact_string("cleanup.policy") + compact_string("compact") + tagged()
    infos = [
        compact_string(name) + int32(0) + int16(1) + compact_array([config]) + tagged()
        for name in ("app-changelog", "app-repartition")
    ]
    places = compact_array([int16(0)]) + compact_array([]) + compact_array([int16(0)])
    part = (
        compact_string("0")
        + compact_array(map(compact_string, topics))
        + compact_array(map(compact_string, expressions))
        + compact_array(infos[:1])
        + compact_array([compact_string("app-repartition")])
        + compact_array(infos[1:])
        + compact_array([places + tagged()])
        + tagged()
    )
    return int16(0) + int32(3) + compact_array([part]) + tagged()


def target_value(assigned: AssignmentById) -> bytes:
    """Type 7."""
    return int16(0) + _by_id(assigned) + tagged()


def current_value(
    assigned: AssignmentById, *, epoch: int = 1, revoking: AssignmentById | None = None
) -> bytes:
    """Type 8."""
    epochs = int32(epoch) + int32(epoch - 1)
    return int16(0) + epochs + b"\x00" + _by_id(assigned) + _by_id(revoking or {}) + tagged()


def topics_value(topics: Mapping[bytes, str]) -> bytes:
    """Type 4."""
    rack = int32(0) + compact_array([compact_string("rack-a")]) + tagged()
    each = (
        topic_id + compact_string(name) + int32(1) + compact_array([rack]) + tagged()
        for topic_id, name in topics.items()
    )
    return int16(0) + compact_array(each) + tagged()


def _by_id(assigned: AssignmentById) -> bytes:
    each = (
        topic_id + compact_array(map(int32, partitions)) + tagged()
        for topic_id, partitions in assigned.items()
    )
    return compact_array(each)
