"""Log ends of the last week: when each offset became visible, by our own clock.

A round of requests is a column that all partitions share. It knows when it was asked and when it
was answered. If it does not show a record and the next one does, the record became visible after
the first was asked and before the next was answered. Older columns are thinned, so that the time
between two of them stays a tenth of the age that they tell.

A column has four bytes for each partition: how far its end lies above the partition's base. Zero
says only that the end was not above the base. A partition that a round has no answer for keeps its
value, but is marked: it is no evidence that a record was not there yet. Rounds with the same marks
share them.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask, Singles, UInts

KEPT_S = 8 * 86_400.0
WIDTH = 0.1  # of the age: how far two columns may be apart
CLOSE_S = 2.0  # groups may be read up to this much less far than the oldest of what is read
# With more partitions than fit, the columns that tell least for their age go first.
ROOM_BYTES = 500_000_000
MOST_SPARE = 16_384  # rows, which new topics take without copying every column
FEWEST, MOST = 64, 1024
TOP = 2**32 - 1
ABOVE_BASE = 2**31  # where the newest end is after a base was raised


Bits = npt.NDArray[np.uint8]


class Column(NamedTuple):
    asked_s: float
    answered_s: float
    above: UInts  # by row: the end minus the row's base
    unanswered: Bits | None  # a bit for each row; None: all were answered


class Seen(NamedTuple):
    """When records became visible, for each line."""

    before: Ints  # the last column that certainly lacks the record; -1: none that we remember
    after: Ints  # the first column that has it; the number of columns: none
    between: Singles  # where between the ends of both it lies, from 0 to 1


class EndColumns:
    """The columns, oldest first, and for each row its base and the first answer."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.base: Ints = np.zeros(0, np.int64)
        self.known_s: Floats = np.zeros(0)  # when the first answer was asked for; 0: none yet
        self.cut_s: UInts = np.zeros(0, np.uint32)  # its end was seen to have gone back; 0: never
        self.was_cut = False  # any was
        self._is_shared = False

    @property
    def asked_s(self) -> Floats:
        return np.array([each.asked_s for each in self.columns])

    @property
    def answered_s(self) -> Floats:
        return np.array([each.answered_s for each in self.columns])

    @property
    def nbytes(self) -> int:
        return self._of_rows + self._of_marks + sum(each.above.nbytes for each in self.columns)

    @property
    def _of_rows(self) -> int:
        return self.base.nbytes + self.known_s.nbytes + self.cut_s.nbytes

    @property
    def _of_marks(self) -> int:
        marks = {id(each.unanswered): each.unanswered for each in self.columns}
        return sum(mask.nbytes for mask in marks.values() if mask is not None)

    def add(self, asked_s: float, answered_s: float, end: Ints, answered: Mask) -> None:
        """Add a round: the newest end of every row, and which of them were answered this time."""
        # The clock may have been set back.
        self.columns = [
            each
            for each in self.columns
            if each.answered_s <= asked_s and each.answered_s < answered_s
        ]
        if not answered.any():
            return
        self._grow(len(end))
        size = len(end)
        self.known_s = np.minimum(self.known_s, asked_s)
        first = np.flatnonzero(answered & (self.known_s[:size] == 0))
        self.base[first], self.known_s[first] = bounds.minus(end[first], 1), asked_s
        self._take_back(end, answered, (asked_s, answered_s))
        self._raise(end, answered)
        above = np.zeros(len(self.base), np.uint32)
        known = self.known_s[:size] > 0
        above[:size][known] = np.clip(bounds.minus(end, self.base[:size])[known], 0, TOP)
        silent = known & ~answered
        mask = np.packbits(silent) if silent.any() else None
        self.append(Column(asked_s, answered_s, above, mask))
        self.trim()

    def append(self, column: Column) -> None:
        """Add a column behind the others; one marked like the last shares its marks."""
        mask, before = column.unanswered, self.columns[-1].unanswered if self.columns else None
        if mask is not None and before is not None and np.array_equal(mask, before):
            column = column._replace(unanswered=before)
        self.columns.append(column)

    def trim(self) -> None:
        """Drop the columns that do not fit into memory."""
        while len(self.columns) > self._most():
            del self.columns[dispensable([each.answered_s for each in self.columns])]

    def _most(self) -> int:
        room = ROOM_BYTES - self._of_rows - self._of_marks
        fits = room // (np.dtype(np.uint32).itemsize * max(len(self.base), 1))
        return min(max(fits, FEWEST), MOST)

    def _take_back(self, end: Ints, answered: Mask, round_s: tuple[float, float]) -> None:
        """An end that went back was never beyond where it is now, as far as today's records go.

        It may have gone back further and have grown since: so all of them may be new.
        """
        if not self.columns:
            return
        size = len(end)
        above = bounds.minus(end, self.base[:size])
        back = np.flatnonzero(answered & (above < self.columns[-1].above[:size]))
        if not len(back):
            return
        self._own()
        asked_s, answered_s = round_s
        self.cut_s[back], self.was_cut = min(math.ceil(answered_s), TOP), True
        wiped = back[above[back] <= 0]  # even below the base
        for each in self.columns:
            each.above[wiped] = np.minimum(each.above[wiped], 1)
            each.above[back] = np.minimum(each.above[back], np.maximum(above[back], 1))
        self.base[wiped], self.known_s[wiped] = bounds.minus(end[wiped], 1), asked_s

    def is_uncut(self, rows: Ints, moment_s: Floats) -> Mask:
        """Whether a row was not cut at a moment, nor since."""
        mask: Mask = moment_s >= self.cut_s[rows]
        return mask

    def _raise(self, end: Ints, answered: Mask) -> None:
        """Raise the bases of rows whose end no longer fits into four bytes above them."""
        above = bounds.minus(end, self.base[: len(end)])
        rows = np.flatnonzero(answered & (above > TOP))
        if not len(rows):
            return
        self._own()
        base = bounds.minus(end[rows], ABOVE_BASE)
        step = bounds.minus(base, self.base[rows])
        for each in self.columns:
            each.above[rows] = np.maximum(bounds.minus(each.above[rows].astype(np.int64), step), 0)
        self.base[rows] = base

    def thin(self, read_s: float, now_s: float) -> None:
        """Drop columns that lie close together for their age, as of when everything was read."""
        as_of_s = max(min(read_s, now_s), now_s - 300) - CLOSE_S
        at = len(self.columns) - 2
        while at > 0:
            before, after = self.columns[at - 1], self.columns[at + 1]
            if after.answered_s - before.asked_s <= WIDTH * (as_of_s - after.answered_s):
                del self.columns[at]
            at -= 1
        while len(self.columns) > 1 and self.columns[1].answered_s < now_s - KEPT_S:
            del self.columns[0]

    def find(self, rows: Ints, offset: Ints) -> Seen:
        """Between which columns the record at each offset became visible.

        Some columns say roughly where, and those between two of them say exactly where.
        """
        known_s, base = self._row_facts(rows)
        above = bounds.minus(offset, base)
        sought = np.clip(above, 0, TOP).astype(np.uint32)
        width = math.isqrt(len(self.columns)) + 1
        marks = range(width - 1, len(self.columns), width)
        part = self._passed(marks, rows, sought)
        after = part.astype(np.int64) * width
        for number, lines in _by_value(part):
            first = number * width
            columns = range(first, min(first + width - 1, len(self.columns)))
            after[lines] += self._passed(columns, rows[lines], sought[lines])
        before = self._evidence(rows, after - 1)
        asked_s = np.append(self.asked_s, -np.inf)
        before[(asked_s[before] < known_s) | (known_s == 0) | (above < 0)] = -1
        return Seen(before, after, self._between(rows, sought, after))

    def _passed(self, columns: range, rows: Ints, sought: UInts) -> npt.NDArray[np.uint16]:
        """How many of these columns do not show the record yet."""
        count = np.zeros(len(rows), np.uint16)
        for column in columns:
            count += self._above(column, rows) <= sought
        return count

    def _between(self, rows: Ints, sought: UInts, after: Ints) -> Singles:
        between = np.zeros(len(rows), np.float32)
        for column, lines in _by_value(after.astype(np.uint16)):
            if 0 < column < len(self.columns):
                low, high = (self._above(each, rows[lines]) for each in (column - 1, column))
                between[lines] = (sought[lines] - low + np.float32(1)) / (high - low)
        return np.asarray(np.clip(between, 0, 1))

    def _row_facts(self, rows: Ints | slice) -> tuple[Floats, Ints]:
        return self.known_s[rows], self.base[rows]

    def reach(self, size: int) -> None:
        """There are so many rows now; new ones are in no column yet."""
        self._grow(size)

    def _above(self, column: int, rows: Ints) -> UInts:
        values: UInts = self.columns[column].above.take(rows)
        return values

    def evidence(self, rows: Ints, column: Ints) -> Ints:
        """The last column up to this one in which each row was answered; -1: none."""
        found = self._evidence(rows, column)
        asked_s = np.append(self.asked_s, -np.inf)
        known_s, _ = self._row_facts(rows)
        found[(asked_s[found] < known_s) | (known_s == 0)] = -1
        return found

    def _evidence(self, rows: Ints, column: Ints) -> Ints:
        found = column.copy()
        for at in range(len(self.columns) - 1, -1, -1):
            mask = self.columns[at].unanswered
            if mask is not None:
                there = np.flatnonzero(found == at)
                found[there] -= _bit(mask, rows[there])
        return found

    def ends(self, rows: Ints, column: Ints) -> tuple[Ints, Mask]:
        """The end of each row in its column, and whether that is known; it may be older."""
        known_s, base = self._row_facts(rows)
        above, is_known = np.zeros(len(rows), np.int64), known_s > 0
        for place, some in _by_value((column + 1).astype(np.uint16)):
            if 0 < place <= len(self.columns):
                above[some] = self._above(place - 1, rows[some])
                is_known[some] &= known_s[some] <= self.columns[place - 1].asked_s
            else:
                is_known[some] = False
        is_known &= above > 0
        return np.where(is_known, base + above, 0), is_known

    def clear(self, rows: Ints) -> None:
        rows = rows[rows < len(self.base)]
        self._own()
        self.base[rows] = self.known_s[rows] = self.cut_s[rows] = 0
        for each in self.columns:
            each.above[rows] = 0

    def copy(self, source: Ints, target: Ints) -> None:
        if not self.columns:
            return
        self._grow(int(max(source.max(), target.max())) + 1)
        self._own()
        for of_row in (self.base, self.known_s, self.cut_s):
            of_row[target] = of_row[source]
        for each in self.columns:
            each.above[target] = each.above[source]
        self._mark(lambda mask: _moved(mask, source, target))

    def keep(self, rows: Ints) -> None:
        if not self.columns:
            return
        self._grow(int(rows.max(initial=-1)) + 1)
        self._is_shared = False
        self.base, self.known_s = self.base[rows], self.known_s[rows]
        self.cut_s = self.cut_s[rows]
        self.columns = [each._replace(above=each.above[rows]) for each in self.columns]
        self._mark(lambda mask: np.packbits(_bit(mask, rows).astype(np.bool_)))

    def _mark(self, anew: Callable[[Bits], Bits]) -> None:
        """Change the marks of all columns; those that share them go on to do so."""
        masks = {id(each.unanswered): each.unanswered for each in self.columns}
        changed = {name: None if mask is None else anew(mask) for name, mask in masks.items()}
        self.columns = [
            each._replace(unanswered=changed[id(each.unanswered)]) for each in self.columns
        ]

    def _grow(self, size: int) -> None:
        had = len(self.base)
        if size <= had:
            return
        spare = np.zeros(size + min(size // 16, MOST_SPARE) - had)
        self.base = np.concatenate([self.base, spare.astype(np.int64)])
        self.known_s = np.concatenate([self.known_s, spare])
        more = spare.astype(np.uint32)
        self.cut_s = np.concatenate([self.cut_s, more])
        for at, each in enumerate(self.columns):
            self.columns[at] = each._replace(above=np.concatenate([each.above, more]))
        self._is_shared = False

    def share(self) -> list[Column]:
        """The columns for a snapshot to write: they are copied before anything in them changes."""
        self._is_shared = True
        return [*self.columns]

    def release(self) -> None:
        self._is_shared = False

    def _own(self) -> None:
        if self._is_shared:
            self.columns = [each._replace(above=each.above.copy()) for each in self.columns]
            self._is_shared = False


def _by_value(values: npt.NDArray[np.uint16]) -> Iterator[tuple[int, Ints | slice]]:
    """Each distinct value, and the places where it stands."""
    counts = np.bincount(values)
    distinct = np.flatnonzero(counts).tolist()
    if len(distinct) == 1:
        yield distinct[0], slice(None)
        return
    in_order = np.argsort(values, kind="stable")  # a radix sort
    ends = np.cumsum(counts)
    for value in distinct:
        yield value, in_order[ends[value] - counts[value] : ends[value]]


def _bit(mask: Bits, rows: Ints) -> Bits:
    """1 for each row that is set in a packed mask; rows beyond it are not."""
    there = rows < 8 * len(mask)
    byte = mask[np.where(there, rows >> 3, 0)]
    bit: Bits = np.where(there, byte >> (7 - (rows & 7)) & 1, 0).astype(np.uint8)
    return bit


def unpacked(mask: Bits, size: int) -> Mask:
    """A packed mask as one of `size` rows."""
    bits = np.zeros(size, np.bool_)
    some = np.unpackbits(mask)[:size]
    bits[: len(some)] = some
    return bits


def _moved(mask: Bits, source: Ints, target: Ints) -> Bits:
    bits = np.unpackbits(mask)
    longer = np.zeros(max(len(bits), int(target.max()) + 1), np.uint8)
    longer[: len(bits)] = bits
    longer[target] = _bit(mask, source)
    return np.packbits(longer)


def dispensable(times: list[float]) -> int:
    """The column whose removal leaves the smallest gap for its age; never the first or the last."""
    gaps = [
        (times[at + 1] - times[at - 1]) / (times[-1] - times[at - 1])
        for at in range(1, len(times) - 1)
    ]
    return 1 + int(np.argmin(gaps))
