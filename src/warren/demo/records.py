"""Records of `__consumer_offsets` as a broker would write them."""

import struct

OFFSETS_TOPIC = "__consumer_offsets"


def commit_key(group: str, topic: str, partition: int) -> bytes:
    return commit_key_head(group, topic) + struct.pack(">i", partition)


def commit_key_head(group: str, topic: str) -> bytes:
    """The key of a commit up to the partition number."""
    return struct.pack(">h", 1) + _string(group) + _string(topic)


def commit_value(offset: int, committed_ms: int, *, metadata: str = "", version: int = 3) -> bytes:
    head, between = commit_value_parts(metadata, version)
    tail = b"\x00" if version == 4 else b""  # no tagged fields
    return head + struct.pack(">q", offset) + between + struct.pack(">q", committed_ms) + tail


def commit_value_parts(metadata: str, version: int) -> tuple[bytes, bytes]:
    """What stands before the offset, and what between the offset and the commit time."""
    text = metadata.encode()
    no_epoch = struct.pack(">i", -1)
    between = {
        0: _string(metadata),
        1: _string(metadata),
        2: _string(metadata),
        3: no_epoch + _string(metadata),
        4: no_epoch + _varint(len(text) + 1) + text,
    }
    return struct.pack(">h", version), between[version]


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
