"""Kafka's primitive forms, read from a whole column of byte strings at once.

No bytes make these functions fail. What lies beyond the end of a byte string reads as anything, and
a string that is too long ends beyond it. So a caller compares where a field ends with the size of
the data before it uses the field. Positions count from the start of each byte string.
"""

from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view

from warren.model.arrays import Ints

NOWHERE = 1 << 40  # beyond the end of any record
WIDEST = 8
VARINT_BYTES = 5  # of an unsigned 32-bit number, seven bits in each


class ByteStrings(NamedTuple):
    """A column of byte strings; null is empty."""

    data: np.ndarray[tuple[int, int], np.dtype[np.uint8]]  # the next eight bytes at every position
    start: Ints
    size: Ints

    @classmethod
    def of(cls, array: pa.Array) -> Self:
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        first, last = int(ends[0]), int(ends[-1])
        # A copy, so that eight bytes can be read even at the very end.
        padded = np.zeros(last - first + WIDEST, np.uint8)
        if last > first:
            padded[:-WIDEST] = np.frombuffer(data, np.uint8)[first:last]
        start = ends[:-1].astype(np.int64) - first
        return cls(sliding_window_view(padded, WIDEST), start, np.diff(ends).astype(np.int64))

    def integer(self, at: Ints | int, width: int) -> Ints:
        """Read the signed big-endian integers of `width` bytes at these positions."""
        place = np.clip(self.start + at, 0, len(self.data) - 1)
        eight: Ints = self.data[place].view(">i8").astype(np.int64).ravel()
        return eight >> (64 - 8 * width)


def after_string(at: Ints | int, size: Ints) -> Ints:
    """Where the string at `at` ends, by its `size`: -1 is null, less is wrong."""
    return np.where(size >= -1, at + 2 + np.maximum(size, 0), NOWHERE)


def after_compact_string(at: Ints | int, head: Ints) -> Ints:
    """Where a compact string ends, by its first eight bytes: a varint of length + 1, 0 is null."""
    end: Ints = np.full(len(head), NOWHERE)
    length: Ints = np.zeros(len(head), np.int64)
    goes_on = np.ones(len(head), np.bool_)
    for place in range(VARINT_BYTES):
        byte = head >> (56 - 8 * place) & 0xFF
        length |= (byte & 0x7F) << (7 * place)
        is_last = goes_on & (byte < 0x80)
        end = np.where(is_last, at + place + 1 + np.maximum(length - 1, 0), end)
        goes_on &= ~is_last
    return end
