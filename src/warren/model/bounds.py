"""Numbers and times that clients choose. Any 64 bits may come; nothing made of them wraps.

A client may commit every offset and every time there is. What is beyond a number's reach stands
at its edge, so that an absurd commit makes one absurd lag and spoils no total, and a moment that
no calendar has is shown as the nearest one that it has.
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
    """How far offsets are behind the end of their log: 0 when beyond it."""
    return np.maximum(minus(end, offset), 0)


def minus(left: Ints | int, right: Ints | int) -> Ints:
    """Subtract; a difference out of reach stands at the edge."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    with np.errstate(over="ignore"):  # said of single numbers only
        difference = left - right
    wrapped = ((left ^ right) & (left ^ difference)) < 0
    if wrapped.any():
        difference = np.where(wrapped, np.where(left < 0, LEAST, MOST), difference)
    return np.asarray(difference)


def sums(values: Ints, first: Ints) -> Ints:
    """The sum of each part along the first axis; part i begins at first[i], none is empty.

    The two halves of the bits are added up apart, where there is room for what is carried.
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


def total(values: Iterable[int]) -> int:
    """The sum of a few numbers, as far as a column can hold it."""
    return min(max(sum(values), LEAST), MOST)


def moment(ms: float) -> datetime:
    """A time as a calendar has it, from the year 1 to the year 9999."""
    return datetime.fromtimestamp(min(max(ms, FIRST_MS), LAST_MS) / MS, UTC)
