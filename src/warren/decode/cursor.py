"""Kafka's primitive forms, read one after the other from the bytes of one record.

Anyone may have written these bytes: every length is checked before it is used, and what is missing
raises `Unreadable` with the name of the field.
"""

import struct
from uuid import UUID

from warren.errors import Unreadable

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

    def strings(self, field: str) -> tuple[str, ...]:
        """Read an array of strings."""
        return tuple(self.string(field) for _ in range(self.integer(4, field)))

    def compact_strings(self, field: str) -> tuple[str, ...]:
        return tuple(self.compact_string(field) for _ in range(self.compact_count(field)))
