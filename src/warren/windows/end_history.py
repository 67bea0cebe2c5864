"""The brokers' end offsets: the last few of each partition of each topic.

We may read commits later than log ends. So the ends of each round are remembered until all earlier
commits have been read: a commit's lag is computed with the log end of its own time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.model.arrays import Counts, Floats, Ints, Mask, Singles
from warren.windows.commit_columns import encoded
from warren.windows.grid import CHUNK, push
from warren.windows.names import Names
from warren.windows.row_blocks import Blocks, Rows

PACE_S = 30.0  # a rate covers about twice as long
# Rounds remembered: five minutes of them if one comes every second, fewer where there are so many
# partitions that they would take more memory than this. With more, some in between are dropped.
FEWEST_ROUNDS, MOST_ROUNDS = 40, 320
ROUNDS_BYTES = 64 * 2**20
NOT_THERE = np.iinfo(np.int64).min  # a partition that a round does not have


class EndsRound(NamedTuple):
    """The ends at the time of an answer, by row; it may have fewer rows than there are now."""

    answered_s: float
    newest: Ints
    lowest: Ints


class EndRows(Rows):
    """A row for each partition: its last ends, oldest first; free places repeat the oldest."""

    ends: Ints
    newest: Ints
    lowest: Ints  # of `ends`: a group at or beyond it was at the end of the log not long ago
    filled: Counts
    seen_s: Floats  # when the newest was read; 0: unknown
    rate: Singles  # recent messages a second; NaN: unknown

    def __init__(self, intervals: int) -> None:
        super().__init__(
            {
                "ends": ((intervals,), np.int64),
                "newest": ((), np.int64),
                "lowest": ((), np.int64),
                "filled": ((), np.uint16),
                "seen_s": ((), np.float64),
                "rate": ((), np.float32),
            }
        )
        self.intervals = intervals
        self.rounds: list[EndsRound] = []  # oldest first

    def clear(self, rows: Ints) -> None:
        self.filled[rows] = 0
        for each in self.rounds:
            known = rows[rows < len(each.newest)]
            each.newest[known] = each.lowest[known] = NOT_THERE

    def copy(self, source: Ints, target: Ints) -> None:
        super().copy(source, target)
        self._arrange_rounds(lambda column: _moved(column, source, target))

    def keep(self, rows: Ints) -> None:
        super().keep(rows)
        self._arrange_rounds(lambda column: _taken(column, rows))

    def _arrange_rounds(self, arrange: Callable[[Ints], Ints]) -> None:
        self.rounds = [
            EndsRound(answered_s, arrange(newest), arrange(lowest))
            for answered_s, newest, lowest in self.rounds
        ]

    def remember(self, answered_s: float) -> None:
        """Remember the ends of the round that has just finished."""
        # The clock may have been set back, and tests have none.
        self.rounds = [each for each in self.rounds if each.answered_s < answered_s]
        is_known = self.filled[: self.size] > 0
        newest, lowest = self.newest[: self.size], self.lowest[: self.size]
        columns = (np.where(is_known, column, NOT_THERE) for column in (newest, lowest))
        self.rounds.append(EndsRound(answered_s, *columns))
        while len(self.rounds) > self._most_rounds():
            del self.rounds[_dispensable([each.answered_s for each in self.rounds])]

    def _most_rounds(self) -> int:
        a_round = 2 * np.dtype(np.int64).itemsize * max(self.size, 1)
        return min(max(ROUNDS_BYTES // a_round, FEWEST_ROUNDS), MOST_ROUNDS)

    def forget_before(self, moment_s: float) -> None:
        """Forget rounds that are only needed for moments before this one."""
        while len(self.rounds) > 1 and self.rounds[1].answered_s <= moment_s:
            del self.rounds[0]

    def as_of(self, rows: Ints, moment_s: Floats) -> tuple[Ints, Ints]:
        """The newest and the lowest end of each row at its moment.

        A partition that was not known then gets its present ends.
        """
        newest, lowest = self.newest[rows], self.lowest[rows]
        times = [each.answered_s for each in self.rounds]
        if not len(rows) or len(times) < 2 or moment_s.min() >= times[-1]:
            return newest, lowest  # the last round is the present
        place = np.maximum(np.searchsorted(times, moment_s, side="right") - 1, 0)
        for number in np.flatnonzero(np.bincount(place)[: len(times) - 1]).tolist():
            each = self.rounds[number]
            some = np.flatnonzero((place == number) & (rows < len(each.newest)))
            some = some[each.newest[rows[some]] != NOT_THERE]
            newest[some] = each.newest[rows[some]]
            lowest[some] = each.lowest[rows[some]]
        return newest, lowest

    def push(self, rows: Ints, offsets: Ints, now_s: float) -> None:
        for start in range(0, len(rows), CHUNK):
            some, new = rows[start : start + CHUNK], offsets[start : start + CHUNK]
            self._pace(some, new, now_s)
            push(self.ends, some, new[:, None], self.filled[some] == 0)
            self.newest[some] = new
            self.lowest[some] = self.ends[some].min(axis=1)
            held = self.filled[some].astype(np.int64)
            self.filled[some] = np.minimum(held + 1, self.intervals)

    def _pace(self, rows: Ints, new: Ints, now_s: float) -> None:
        """Update the rates; the longer ago the last reading, the more the new growth weighs."""
        took_s = now_s - self.seen_s[rows]
        is_new = (self.filled[rows] == 0) | (self.seen_s[rows] == 0)
        later = ~is_new & (took_s > 0)
        rates = np.where(is_new, np.nan, self.rate[rows])
        grown = np.maximum(new - self.newest[rows], 0)[later] / took_s[later]
        before = np.where(np.isnan(rates[later]), grown, rates[later])
        rates[later] = grown + (before - grown) * np.exp(-took_s[later] / PACE_S)
        self.rate[rows], self.seen_s[rows] = rates, now_s


def _moved(column: Ints, source: Ints, target: Ints) -> Ints:
    there = source < len(column)
    if there.any() and target.max() >= len(column):
        spare = (int(target.max()) + 1) // 4  # other topics may grow next
        column = np.concatenate(
            [column, np.full(target.max() + 1 + spare - len(column), NOT_THERE)]
        )
    column[target[there]] = column[source[there]]
    return column


def _taken(column: Ints, rows: Ints) -> Ints:
    taken = np.full(len(rows), NOT_THERE)
    there = rows < len(column)
    taken[there] = column[rows[there]]
    return taken


def _dispensable(times: list[float]) -> int:
    """The round whose removal leaves the smallest gap for its age; never the first or the last."""
    gaps = [
        (times[at + 1] - times[at - 1]) / (times[-1] - times[at - 1])
        for at in range(1, len(times) - 1)
    ]
    return 1 + int(np.argmin(gaps))


class Columns(NamedTuple):
    counts: Ints  # by topic: its partitions
    is_known: Mask  # whether a partition has an end; if not, ignore the two below
    newest: Ints
    rate: Singles  # NaN: not known


class LogEnds:
    """A topic keeps the most partitions it ever had: delete it when it is created again."""

    def __init__(self, intervals: int) -> None:
        self.topics = Names()
        self.rows = EndRows(intervals)
        self.blocks = Blocks(self.rows)

    def ensure(self, topic: str, count: int) -> int:
        number = self.topics.id(topic)
        self.blocks.ensure(number, count)
        return number

    def refresh(
        self, ends: pa.Table, partition_counts: Mapping[str, int], now_s: float = 0
    ) -> None:
        """Take in one answer of the brokers; partitions with a null end stay as they were."""
        for topic, count in partition_counts.items():
            self.ensure(topic, count)
        ends = ends.filter(ends["offset"].is_valid())
        codes, names = encoded(ends["topic"])
        partition = ends["partition"].to_numpy().astype(np.int64)
        seen = np.zeros(len(names), np.int64)
        np.maximum.at(seen, codes, partition + 1)  # a partition may be newer than the counts
        numbers = [self.ensure(*topic) for topic in zip(names, seen.tolist(), strict=True)]
        rows = self.blocks.base[numbers][codes] + partition
        in_order = np.argsort(rows, kind="stable")
        self.rows.push(rows[in_order], ends["offset"].to_numpy()[in_order], now_s)
        self.rows.remember(now_s)

    def where(self, topics: list[str]) -> tuple[Ints, Ints]:
        """First row and number of partitions of each topic; an unknown topic has none."""
        numbers = np.array([self.topics.find(topic) for topic in topics], np.int64)
        known = numbers >= 0
        base, count = np.zeros_like(numbers), np.zeros_like(numbers)
        base[known] = self.blocks.base[numbers[known]]
        count[known] = self.blocks.count[numbers[known]]
        return base, count

    def has_end(self, topic: str, partition: int) -> bool:
        number = self.topics.find(topic)
        if number < 0 or not 0 <= partition < self.blocks.count[number]:
            return False
        return bool(self.rows.filled[self.blocks.base[number] + partition])

    def newest_of(self, topics: list[str], partitions: list[int]) -> Ints:
        """The newest end of partitions that have one."""
        base, _ = self.where(topics)
        return self.rows.newest[base + np.array(partitions, np.int64)]

    def delete(self, topic: str) -> None:
        number = self.topics.find(topic)
        if number >= 0:
            self.blocks.release(np.array([number]))
            self.topics.drop(number)
            self.blocks.compact()

    def newest(self, topic: str) -> list[int | None]:
        """By partition: the newest end, or None if it is unknown."""
        rows = self._rows(topic)
        ends, known = self.rows.newest[rows].tolist(), (self.rows.filled[rows] > 0).tolist()
        return [end if is_known else None for end, is_known in zip(ends, known, strict=True)]

    def columns(self, topics: Sequence[str]) -> Columns:
        """All partitions of these topics, one after the other."""
        numbers = np.array([self.topics.ids[topic] for topic in topics], np.int64)
        rows = self.blocks.rows_of(numbers)
        is_known = self.rows.filled[rows] > 0
        rate = np.where(is_known, self.rows.rate[rows], np.float32(np.nan))
        return Columns(self.blocks.count[numbers], is_known, self.rows.newest[rows], rate)

    def recent(self, topic: str) -> list[list[int]]:
        """By partition: the ends we remember, oldest first."""
        return [
            self.rows.ends[row, self.rows.intervals - int(self.rows.filled[row]) :].tolist()
            for row in self._rows(topic)
        ]

    def _rows(self, topic: str) -> Ints:
        return self.blocks.rows_of(np.array([self.topics.ids[topic]]))
