"""Commits whose log end is not known yet. Burrow drops them; here they wait.

They are folded right away, into windows of their own: only the lags of a window depend on the log
end, and they are filled in when it arrives. So each partition has at most one window waiting.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints
from warren.windows.commit_columns import Records, after_tombstones
from warren.windows.end_history import LogEnds
from warren.windows.fold import Commits, Rounds, fold
from warren.windows.grid import PENDING_LAG, Grid
from warren.windows.pairs import IsOld

Key = tuple[str, str, int]  # group, topic, partition

RELEASED = (
    *("offset", "order", "committed_ms", "observed_s", "filled", "last_ms"),
    *("aligned", "aligned_s", "before", "before_s", "written_s"),
)


class Waiting:
    def __init__(self, intervals: int, min_distance_ms: int, at_most: float = math.inf) -> None:
        self.grid = Grid(intervals)
        self._at_most = at_most
        self._min_distance_ms = min_distance_ms
        self._row: dict[Key, int] = {}
        self._since_s: dict[Key, int] = {}  # when the first of its commits was read
        self._free: list[int] = []

    def __len__(self) -> int:
        """How many partitions wait, summed over groups."""
        return len(self._row)

    def fold(self, records: Records, now_s: int, asked_s: Floats) -> int:
        """Keep commits; a tombstone removes earlier ones. Returns how many commits had no room."""
        keys = [*records.keys(np.arange(len(records)))]
        for key, is_tombstone in zip(keys, records.is_tombstone.tolist(), strict=True):
            if not is_tombstone and key not in self._row and len(self._row) < self._at_most:
                self._row[key] = self._free.pop() if self._free else self.grid.reserve(1)
                self._since_s[key] = now_s
        row = np.array([self._row.get(key, -1) for key in keys], np.int64)
        kept, cleared, last = after_tombstones(row, records.is_tombstone & (row >= 0))
        if records.is_past:
            self.grid.clear_before(cleared, records.order[last])
        else:
            self.grid.clear(cleared)
        kept &= ~records.is_tombstone
        no_room = int((kept & (row < 0)).sum())
        kept &= row >= 0
        commits = Commits(
            row,
            records.offset,
            records.order,
            records.committed_ms,
            np.full(len(row), PENDING_LAG),
            np.full(len(row), now_s),
        )
        rounds = Rounds(asked_s, records.written_ms[kept] / 1000)
        fold(self.grid, commits.take(kept), self._min_distance_ms, rounds)
        if len(cleared):
            self.forget([key for key, row in self._row.items() if not self.grid.filled[row]])
        return no_room

    def release(self, into: Grid, ends: LogEnds, row_of: Callable[[str, str, int], int]) -> int:
        """Move windows whose log end is known now; returns how many had no room."""
        known = {key: row for key, row in self._row.items() if ends.has_end(key[1], key[2])}
        if not known:
            return 0
        keys, source = [*known], np.array([*known.values()])
        end = ends.newest_of([key[1] for key in keys], [key[2] for key in keys])
        row = np.array([row_of(*key) for key in keys])
        has_room = row >= 0
        row, source, end = row[has_room], source[has_room], end[has_room]
        for name in RELEASED:
            getattr(into, name)[row] = getattr(self.grid, name)[source]
        lag = bounds.lag(end[:, None], self.grid.offset[source])
        held = self.grid.lag[source]
        into.lag[row] = np.where(held == PENDING_LAG, lag, held)
        self.forget(keys)
        return int((~has_room).sum())

    def drop_nonexistent(self, partition_counts: Mapping[str, int], as_of_s: int) -> Counter[str]:
        """Drop what has waited since before the topics were listed and is not among them."""

        def reason(key: Key, since_s: int) -> str | None:
            _, topic, partition = key
            if since_s >= as_of_s or partition < partition_counts.get(topic, 0):
                return None
            return "no such partition" if topic in partition_counts else "no such topic"

        return self.drop(reason)

    def held(self) -> tuple[list[Key], Ints]:
        """The keys that wait, and the row of each."""
        return [*self._row], np.array([*self._row.values()], np.int64)

    def hold(self, keys: list[Key]) -> None:
        """Reserve a row for each key, while none waits; the caller fills the rows."""
        first = self.grid.reserve(len(keys))
        self._row = {key: first + at for at, key in enumerate(keys)}
        self._since_s = dict.fromkeys(keys, 0)  # since before this start

    def drop(self, unwanted: Callable[[Key, int], str | None]) -> Counter[str]:
        """Drop each key for which `unwanted(key, since_s)` gives a reason; counts by reason."""
        dropped: Counter[str] = Counter()
        gone = []
        for key, row in self._row.items():
            if reason := unwanted(key, self._since_s[key]):
                dropped[reason] += int(self.grid.filled[row])
                gone.append(key)
        self.forget(gone)
        return dropped

    def drop_expired(self, is_old: IsOld) -> Counter[str]:
        """Drop what has expired while it waited."""
        if not self._row:
            return Counter()
        keys, rows = self.held()
        old = is_old(lambda at: keys[at][0], self.grid.last_ms[rows])
        gone = [keys[at] for at in np.flatnonzero(old).tolist()]
        dropped = sum(int(self.grid.filled[self._row[key]]) for key in gone)
        self.forget(gone)
        return Counter({"too old": dropped})

    def forget_group(self, group: str, topic: str | None) -> None:
        self.forget([key for key in self._row if key[0] == group and topic in (None, key[1])])

    def forget(self, keys: list[Key]) -> None:
        rows = [self._row.pop(key) for key in keys]
        for key in keys:
            del self._since_s[key]
        self.grid.clear(np.array(rows, np.int64))
        self._free += rows
