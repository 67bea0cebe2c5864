"""What is remembered of each partition from tick to tick, to learn its rhythm and judge it.

The columns lie beside the windows, a row for each partition of each group: they move, end and are
saved with them. Zero means nothing is known yet, everywhere.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.model.arrays import AnyArray, Bytes, Counts, Ints, Singles, UInts

PAUSES = 3  # the longest ones kept
LOWS = 8  # buckets of the lag's trend


class Memory(NamedTuple):
    """By row; seconds since 1970 where the name says so, milliseconds where it says that."""

    known_offset: Ints  # the last commit at the last tick
    known_ms: Ints  # and when it was made
    moved_ms: Ints  # when the offset changed last
    held_ms: Ints  # since when records wait and the offset does not move; 0: none wait
    high: Ints  # the highest offset committed
    stable: Ints  # the last stable offset
    stable_s: UInts  # since when that is where it is
    end_s: UInts  # when the log end was read that the last tick used
    commits: Counts  # ticks that brought a commit, up to many
    ahead: Bytes  # readings of the log end in a row that the commit lies beyond
    period_s: Singles  # between the beginnings of runs
    woke_s: UInts  # when the last of these pauses ended
    low: Singles  # the least lag at a commit, in the bucket that is open
    opened_s: UInts  # when that bucket was opened
    word: Bytes  # a `Word`, the last that was not STALE
    since_s: UInts  # since when

    def of(self, where: slice | Ints) -> "Memory":
        """Some rows; of a slice they are the memory itself."""
        columns: list[AnyArray] = [*self]
        if isinstance(where, slice):
            return Memory._make(column[where] for column in columns)
        return Memory._make(column.take(where) for column in columns)

    def put(self, where: Ints, rows: "Memory") -> None:
        columns: list[AnyArray] = [*self]
        for column, new in zip(columns, rows, strict=True):
            column[where] = new


class Past(NamedTuple):
    """What is seldom looked at, by row: these columns are wide, and nobody copies them."""

    pauses: Singles  # the longest, in no order
    paused_s: UInts  # when each of them ended
    lows: Singles  # the least lags of the buckets before, oldest first
    lows_s: UInts  # when each was closed; 0: there was none


def regular(pauses: Singles) -> Singles:
    """The longest pause that was not the only one of its length: the second longest."""
    second: Singles = np.partition(pauses, -2, axis=1)[:, -2]
    return second


FIELDS: dict[str, tuple[tuple[()] | tuple[int], npt.DTypeLike]] = {
    "known_offset": ((), np.int64),
    "known_ms": ((), np.int64),
    "moved_ms": ((), np.int64),
    "held_ms": ((), np.int64),
    "high": ((), np.int64),
    "stable": ((), np.int64),
    "stable_s": ((), np.uint32),
    "end_s": ((), np.uint32),
    "commits": ((), np.uint16),
    "ahead": ((), np.uint8),
    "pauses": ((PAUSES,), np.float32),
    "paused_s": ((PAUSES,), np.uint32),
    "period_s": ((), np.float32),
    "woke_s": ((), np.uint32),
    "low": ((), np.float32),
    "opened_s": ((), np.uint32),
    "lows": ((LOWS,), np.float32),
    "lows_s": ((LOWS,), np.uint32),
    "word": ((), np.uint8),
    "since_s": ((), np.uint32),
}
