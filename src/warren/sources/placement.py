"""Where the offsets topic keeps a group: all its records are in one partition."""

import struct


def partition_of(group: str, partitions: int) -> int:
    """The partition of the offsets topic that holds a group, by Java's `hashCode`."""
    text = group.encode("utf-8", "surrogateescape").decode(errors="replace")
    code = 0
    for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be")):
        code = (31 * code + unit) & 0xFFFF_FFFF
    signed = code - (1 << 32) if code >> 31 else code
    # Java has no positive counterpart of its smallest integer; Kafka takes 0.
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions
