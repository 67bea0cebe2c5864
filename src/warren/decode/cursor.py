"""Kafka's primitive forms read one after another from bytes nobody vouches for.

No length in the data is believed before the bytes are there, so a read costs no more than they do.
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
        """Read `size` bytes; `field` names what is missing if they are not there."""
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise Unreadable(field)
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def take_up_to(self, size: int) -> bytes:
        """Read `size` bytes, or what there is; a negative size is none."""
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
        """Read a string; null is an empty one. Bytes that are not UTF-8 become U+FFFD."""
        size = self.integer(2, field)
        return self.take(0 if size == -1 else size, field).decode(errors="replace")

    def compact_bytes(self, field: str) -> bytes:
        return self.take(self.compact_count(field), field)

    def compact_string(self, field: str) -> str:
        return self.compact_bytes(field).decode(errors="replace")

    def compact_count(self, field: str) -> int:
        """Read the length of a compact string or array; null counts as none."""
        return max(self.varint(field) - 1, 0)

    def uuid(self, field: str) -> UUID:
        return UUID(bytes=self.take(16, field))

    def integers(self, count: int, field: str) -> tuple[int, ...]:
        """Read `count` int32; none of them if not all are there."""
        return struct.unpack(f">{count}i", self.take(4 * count, field))

    def skip_tagged(self, field: str) -> None:
        """Pass over the tagged fields at the end of a structure; each takes two bytes or more."""
        for _ in range(self.varint(field)):
            self.varint(field)
            self.take(self.varint(field), field)
