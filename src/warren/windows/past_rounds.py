"""Rounds of log ends that were read from history, put among those that Warren remembers itself.

History says what was known at a moment, not when it was read. Two things are certain. An end that
is known was reached by then. And an end that was not known at the moment before was read after that
moment, so the log ended no later then. An end that stays the same may be an old one, of a broker
that did not answer: it is no evidence that nothing came.

History has no ids of topics. Where an end goes back, the log was cut or is another one, and what
was before says nothing any more.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.model import bounds
from warren.model.arrays import Ints, Mask
from warren.model.window_arrays import ranges
from warren.windows.end_columns import TOP, Column, EndColumns, unpacked
from warren.windows.end_history import LogEnds

# A moment is when its tick began; the tick may have waited for ends that were read meanwhile.
TICK_S = 10.0


class _Round(NamedTuple):
    """One round for some rows of the columns it is put among."""

    asked_s: float
    answered_s: float
    row: Ints
    end: Ints
    is_known: Mask
    is_proof: Mask  # that the log ended no later, when it was asked for
    base: Ints  # below all ends that the row had


class PastRounds:
    """Collects rounds, the oldest first, and gives them away, the newest first."""

    def __init__(self, counts: Mapping[str, int], late_s: float) -> None:
        """Only of these topics; another instance's ends may be `late_s` newer than one's own."""
        self._ends = LogEnds(intervals=1)
        for topic, count in counts.items():
            self._ends.ensure(topic, count)
        self._late_s = late_s
        self._given_s: set[float] = set()  # when those that were put there were asked for
        self._past = EndColumns()
        size = self._ends.rows.size
        self._end = np.zeros(size, np.int64)
        self._is_known = np.zeros(size, np.bool_)
        self._was_here = np.zeros(size, np.bool_)

    def __len__(self) -> int:
        return len(self._past.columns)

    def add(self, moment_s: float, ends: pa.Table) -> None:
        """Take in LOG_ENDS that were known at a moment; rows that cannot be are left out."""
        is_real = pc.and_(
            pc.greater_equal(ends["partition"], 0), pc.greater_equal(ends["offset"], 0)
        )
        real = ends.filter(pc.and_(is_real, pc.is_valid(ends["topic"])))
        is_here, end = np.zeros(len(self._end), np.bool_), self._end.copy()
        if len(real):
            rows, offsets, _ = self._ends.known(real)
            is_here[rows] = True
            end[rows] = offsets
        if is_here.any():
            went_back = self._is_known & (end < self._end)
            self._past.clear(np.flatnonzero(went_back))
            self._past.add(moment_s, moment_s, end, is_here)
            is_proof = self._was_here & (end > self._end)
            newest = self._past.columns[-1]
            self._past.columns[-1] = newest._replace(unanswered=np.packbits(~is_proof))
        self._end, self._was_here = end, is_here
        self._is_known |= is_here

    def give(self, ends: LogEnds) -> bool:
        """Put the newest round that is left among the remembered ones; False: there is none."""
        columns = self._past.columns
        if len(columns) < 2:  # of the oldest nobody knows when it was read
            return False
        column, before = columns.pop(), columns[-1]
        own, row = self._matching(ends)
        silent = np.ones(0, np.uint8) if column.unanswered is None else column.unanswered
        base, known_s = self._past.base[own], self._past.known_s[own]
        new = _Round(
            asked_s=before.answered_s - self._late_s,
            answered_s=column.answered_s + TICK_S,
            row=row,
            end=base + column.above[own],
            is_known=(known_s > 0) & (known_s <= column.asked_s) & (column.above[own] > 0),
            is_proof=~unpacked(silent, len(self._end))[own],
            base=base,
        )
        past = ends.rows.past
        place = int(np.searchsorted(past.answered_s, new.answered_s, side="right"))
        if self._has_room(past, place, new):
            _insert(past, place, new)
            self._given_s.add(new.asked_s)
        return True

    def _has_room(self, past: EndColumns, place: int, new: _Round) -> bool:
        """Whether it lies before a round; only those from history may overlap with each other."""
        if place == len(past.columns):
            return False
        after_s = past.columns[place].asked_s
        is_before = after_s >= new.answered_s or after_s in self._given_s
        return is_before and (place == 0 or past.columns[place - 1].asked_s <= new.asked_s)

    def _matching(self, ends: LogEnds) -> tuple[Ints, Ints]:
        """Rows here and the same partitions' rows there, as they are numbered at present."""
        topics = [*self._ends.topics.ids]
        (own, own_count), (base, count) = self._ends.where(topics), ends.where(topics)
        both = np.minimum(own_count, count)
        return ranges(own, both), ranges(base, both)


def _insert(past: EndColumns, place: int, new: _Round) -> None:
    """Put a round between others, for rows that were known before it or are since the first."""
    after = past.columns[place]
    before = past.columns[place - 1] if place else None
    past.reach(int(new.row.max(initial=-1)) + 1)
    known_s = past.known_s[new.row]
    since_s = after.asked_s if before is None else before.asked_s
    fits = new.is_known & (known_s > 0) & (known_s <= since_s)
    if before is None:
        fits &= past.columns[0].above[new.row] > 0
        _lower(past, new.row[fits], new.base[fits])
        above = np.zeros(len(past.base), np.uint32)
    else:
        above = past.columns[place - 1].above.copy()
    value = np.maximum(bounds.minus(new.end, past.base[new.row]), 0)
    fits &= (above[new.row] <= value) & (value <= past.columns[place].above[new.row])
    above[new.row[fits]] = value[fits]
    silent = np.ones(len(above), np.bool_)
    silent[new.row[fits & new.is_proof]] = False
    some = new.row[fits]
    past.known_s[some] = np.minimum(past.known_s[some], new.asked_s)
    past.columns.insert(place, Column(new.asked_s, new.answered_s, above, np.packbits(silent)))
    past.trim()


def _lower(past: EndColumns, row: Ints, base: Ints) -> None:
    """Lower bases to make room for older ends, where four bytes still reach the newest."""
    step = bounds.minus(past.base[row], base)
    newest = past.columns[-1].above[row].astype(np.int64)
    some = np.flatnonzero((step > 0) & (step <= TOP - newest))
    if not len(some):
        return
    row, more = row[some], step[some].astype(np.uint32)
    for at, each in enumerate(past.columns):
        above = each.above.copy()  # a snapshot may be writing the other
        above[row] += more
        past.columns[at] = each._replace(above=above)
    past.base[row] = base[some]
