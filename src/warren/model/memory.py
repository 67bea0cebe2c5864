"""What is remembered of each partition from tick to tick, to learn its rhythm and judge it.

The columns lie beside the windows, a row for each partition of each group: they move, end and are
saved with them. Zero means nothing is known yet, everywhere.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.model.arrays import AnyArray, Bytes, Counts, Ints, Singles, UInts

PAUSES = 3  # the longest ones kept
BUCKETS, SPANS = 8, 6  # of a trend, see `evaluate.trend`
READS_COMMITTED, READS_UNCOMMITTED = 1, 2  # isolation, as far as it was seen
HOLDS = 2  # the longest times that transactions held back the end, of those kept


class Memory(NamedTuple):
    """By row; seconds since 1970 where the name says so, milliseconds where it says that."""

    known_offset: Ints  # the last commit at the last tick
    known_ms: Ints  # and when it was made
    moved_ms: Ints  # when the offset changed last
    held_ms: Ints  # since when records wait and the offset does not move; 0: none wait
    high: Ints  # the highest offset committed
    read_to: Ints  # up to here nothing was left unread; what retention takes of it is no loss
    stable: Ints  # the last stable offset
    stable_s: UInts  # since when that holds back the end; 0: it does not
    isolation: Bytes  # READS_COMMITTED or READS_UNCOMMITTED; 0: not seen yet
    beyond: Bytes  # readings of the log end in a row that a commit lies beyond the stable offset
    end_s: UInts  # when the log end was read that the last tick used
    commits: Counts  # ticks that brought a commit, up to many
    ahead: Bytes  # readings of the log end in a row that the commit lies beyond
    period_s: Singles  # between the beginnings of runs
    woke_s: UInts  # when the last pause ended that its rhythm did not explain, or it was seen first
    apart_s: Singles  # between the ends of the last two of these; infinite: there was one, 0: none
    rested_s: UInts  # when the last pause ended that was worth remembering; 0: there was none
    bucket_lag: Singles  # the least at a commit, in the bucket that is open
    bucket_late: Singles  # likewise, the age of the oldest unread record
    opened_s: UInts  # when that bucket was opened
    span_lag: Singles  # the least of the buckets of the span that is open; infinite: of none
    span_late: Singles
    span_s: UInts  # when that span was opened
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
    bucket_lags: Singles  # the least of the buckets before, oldest first
    bucket_lates: Singles
    buckets_s: UInts  # when each ended; 0: there was none
    span_lags: Singles  # and of the spans before
    span_lates: Singles
    spans_s: UInts
    holds: Singles  # the longest times that transactions held back the end, in no order


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
    "read_to": ((), np.int64),
    "stable": ((), np.int64),
    "stable_s": ((), np.uint32),
    "isolation": ((), np.uint8),
    "beyond": ((), np.uint8),
    "end_s": ((), np.uint32),
    "commits": ((), np.uint16),
    "ahead": ((), np.uint8),
    "pauses": ((PAUSES,), np.float32),
    "paused_s": ((PAUSES,), np.uint32),
    "period_s": ((), np.float32),
    "woke_s": ((), np.uint32),
    "apart_s": ((), np.float32),
    "rested_s": ((), np.uint32),
    "bucket_lag": ((), np.float32),
    "bucket_late": ((), np.float32),
    "opened_s": ((), np.uint32),
    "span_lag": ((), np.float32),
    "span_late": ((), np.float32),
    "span_s": ((), np.uint32),
    "bucket_lags": ((BUCKETS,), np.float32),
    "bucket_lates": ((BUCKETS,), np.float32),
    "buckets_s": ((BUCKETS,), np.uint32),
    "span_lags": ((SPANS,), np.float32),
    "span_lates": ((SPANS,), np.float32),
    "spans_s": ((SPANS,), np.uint32),
    "holds": ((HOLDS,), np.float32),
    "word": ((), np.uint8),
    "since_s": ((), np.uint32),
}
