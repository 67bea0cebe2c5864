"""Commits read one field at a time, the slow and obvious way: what the decoding is held against."""

import struct
from typing import Any

from warren.decode.commits import GROUP_KEYS

Row = dict[str, Any]


def plain_reading(key: bytes, value: bytes) -> Row:
    """Read a record one field at a time, the slow and obvious way."""
    if len(key) < 2:
        return {"skipped": "no key version"}
    kind = struct.unpack(">h", key[:2])[0]
    if kind in GROUP_KEYS:
        return {"key": key, "value": value}
    if kind not in (0, 1):
        return {"skipped": "key version"}
    fields: Row = {}
    try:
        rest = take(fields, "group", "string", key[2:])
        rest = take(fields, "topic", "string", rest)
        take(fields, "partition", ">i", rest)
        if value:
            read_value(fields, value)
    except KeyError as missing:
        return {"skipped": missing.args[0]}
    unwanted = ("no value version", "leaderEpoch", "metadata")
    return {name: got for name, got in fields.items() if name not in unwanted}


def read_value(fields: Row, value: bytes) -> None:
    rest = take(fields, "no value version", ">h", value)
    version = fields["no value version"]
    if not 0 <= version <= 4:
        raise KeyError("value version")
    rest = take(fields, "offset", ">q", rest)
    if version >= 3:
        rest = take(fields, "leaderEpoch", ">i", rest)
    rest = take(fields, "metadata", "compact" if version == 4 else "string", rest)
    take(fields, "timestamp", ">q", rest)
    fields["committed_ms"] = fields.pop("timestamp")


def take(fields: Row, name: str, form: str, data: bytes) -> bytes:
    """Read one field off the data and give what follows it; its name is the error if it is cut."""
    if form == "compact":
        size, used = plain_varint(name, data)
        size -= 1
    else:
        layout = ">h" if form == "string" else form
        used = struct.calcsize(layout)
        if len(data) < used:
            raise KeyError(name)
        size = struct.unpack(layout, data[:used])[0]
    if form.startswith(">"):
        fields[name] = size
        return data[used:]
    end = used + max(size, 0)
    if size < -1 or end > len(data):
        raise KeyError(name)
    fields[name] = data[used:end].decode(errors="replace")
    return data[end:]


def plain_varint(name: str, data: bytes) -> tuple[int, int]:
    number = 0
    for n, byte in enumerate(data[:5]):
        number |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return number, n + 1
    raise KeyError(name)
