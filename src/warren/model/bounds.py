"""Arithmetic on numbers and times that clients choose: any 64 bits, and no result wraps around.

A client may commit any offset and any time. A result that is out of range becomes the least or the
greatest number there is, so that an absurd commit gives one absurd lag and spoils no total. A time
that is out of the calendar's range becomes the nearest time in it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np

from warren.model.arrays import Ints

LEAST, MOST = -(2**63), 2**63 - 1

MS = 1000
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # years 1 to 9999
HALF = 32  # bits


def lag(end: Ints, offset: Ints) -> Ints:
    """How far offsets are behind the end of their log; 0 if they are beyond it."""
    if offset.size and int(offset.min()) >= 0:  # then nothing can wrap around
        return np.asarray(np.maximum(end, offset) - offset)
    return np.maximum(minus(end, offset), 0)


def minus(left: Ints | int, right: Ints | int) -> Ints:
    """Subtract; a difference out of range becomes LEAST or MOST."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    if _is_moderate(left) and _is_moderate(right):
        return np.asarray(left - right)
    with np.errstate(over="ignore"):  # NumPy warns only about single numbers
        difference = left - right
    wrapped = ((left ^ right) & (left ^ difference)) < 0
    if wrapped.any():
        difference = np.where(wrapped, np.where(left < 0, LEAST, MOST), difference)
    return np.asarray(difference)


def _is_moderate(values: Ints) -> bool:
    """Whether a difference of two of these cannot be out of range."""
    return not values.size or (int(values.min()) > LEAST // 2 and int(values.max()) < MOST // 2)


def sums(values: Ints, first: Ints) -> Ints:
    """The sum of each part along the first axis; part i begins at first[i], none is empty.

    The upper and the lower 32 bits are summed separately, which leaves room for the carry.
    """
    if not len(first):
        return values[:0]
    greatest = max(int(values.max()), -int(values.min()))
    if greatest * len(values) <= MOST:
        return np.asarray(np.add.reduceat(values, first, axis=0))
    high = np.add.reduceat(values >> HALF, first, axis=0)
    low = np.add.reduceat(values & (1 << HALF) - 1, first, axis=0)
    high += low >> HALF
    within = (high << HALF) | (low & (1 << HALF) - 1)
    edge = 1 << HALF - 1
    return np.select([high >= edge, high < -edge], [np.int64(MOST), np.int64(LEAST)], within)


def utc(ms: float) -> str:
    """A moment to the second: 2026-01-31T12:00:00Z."""
    return moment(ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def total(values: Iterable[int]) -> int:
    """The sum of a few numbers, limited to 64 bits."""
    return min(max(sum(values), LEAST), MOST)


def moment(ms: float) -> datetime:
    """A time in the calendar's range, from the year 1 to the year 9999."""
    return datetime.fromtimestamp(min(max(ms, FIRST_MS), LAST_MS) / MS, UTC)
