"""Arrays that grow together, and the blocks of rows that belong to a topic or to a pair."""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from warren.model.arrays import Ints
from warren.model.window_arrays import ranges

Width = tuple[()] | tuple[int]

# With fewer unused rows than this, compacting is not worth the work.
COMPACT_FROM = 4096


class Rows:
    """Arrays with a row for each partition. An unwritten row is zero and takes no memory."""

    def __init__(
        self, fields: Mapping[str, tuple[Width, npt.DTypeLike]], unsaved: Collection[str] = ()
    ) -> None:
        """Snapshots leave out the `unsaved` fields: a restart soon reads them again."""
        self.size = 0
        self.fields = tuple(fields)
        self.saved = tuple(name for name in fields if name not in unsaved)
        for name, (width, dtype) in fields.items():
            setattr(self, name, np.zeros((0, *width), dtype))

    def reserve(self, count: int) -> int:
        """Add `count` rows and return the first."""
        first = self.size
        self.size += count
        for name in self.fields:
            array = getattr(self, name)
            if len(array) < self.size:
                setattr(self, name, _grown(array, max(self.size, 2 * len(array), 1024), first))
        return first

    def copy(self, source: Ints, target: Ints) -> None:
        for name in self.fields:
            array = getattr(self, name)
            array[target] = array[source]

    def keep(self, rows: Ints) -> None:
        """Keep only these rows, in this order, numbered from zero."""
        for name in self.fields:
            setattr(self, name, getattr(self, name)[rows])
        self.size = len(rows)

    def clear(self, rows: Ints) -> None:
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name)[: self.size].nbytes for name in self.fields)


def _grown(array: npt.NDArray[np.generic], capacity: int, used: int) -> npt.NDArray[np.generic]:
    larger = np.zeros((capacity, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


class Blocks:
    """Each number has one run of rows; adding the partition gives the row."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._wasted = 0
        self.base: Ints = np.zeros(0, np.int64)
        self.count: Ints = np.zeros(0, np.int64)

    def ensure(self, number: int, count: int) -> None:
        """Give `number` at least `count` rows; its old rows are copied."""
        if number >= len(self.base):
            capacity = max(number + 1, 2 * len(self.base), 64)
            self.base, self.count = (
                np.concatenate([array, np.zeros(capacity - len(array), np.int64)])
                for array in (self.base, self.count)
            )
        had = int(self.count[number])
        if count <= had:
            return
        first = self._rows.reserve(count)
        if had:
            moved = np.arange(had)
            self._rows.copy(self.base[number] + moved, first + moved)
            self._release(np.array([number]))
        self.base[number], self.count[number] = first, count

    @property
    def used(self) -> int:
        """Rows in use."""
        return self._rows.size - self._wasted

    def rows_of(self, numbers: Ints) -> Ints:
        return ranges(self.base[numbers], self.count[numbers])

    def release(self, numbers: Ints) -> None:
        self._release(numbers)
        self.count[numbers] = 0

    def _release(self, numbers: Ints) -> None:
        self._rows.clear(self.rows_of(numbers))
        self._wasted += int(self.count[numbers].sum())

    def compact(self) -> None:
        """Move the rows in use together if most rows are unused."""
        if self._wasted < COMPACT_FROM or 2 * self._wasted < self._rows.size:
            return
        used = np.flatnonzero(self.count)
        used = used[np.argsort(self.base[used])]
        self._rows.keep(self.rows_of(used))
        self.base[used] = np.cumsum(self.count[used]) - self.count[used]
        self._wasted = 0
