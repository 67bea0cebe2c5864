"""The brokers' end offsets: the last few of each partition of each topic.

We may read commits later than log ends. So the ends of each round are remembered until all earlier
commits have been read: a commit's lag is computed with the log end of its own time.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from warren.model.arrays import Counts, Floats, Ints, Mask, Singles
from warren.model.board import NO_END, TopicEnds
from warren.windows import edge_readings
from warren.windows.commit_columns import encoded
from warren.windows.end_columns import EndColumns, dispensable
from warren.windows.grid import CHUNK, push
from warren.windows.names import Names
from warren.windows.row_blocks import Blocks, Rows

PACE_S = 30.0  # a rate covers about twice as long
SLOW_PACE_S = 300.0
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
    slow_rate: Singles  # likewise, over ten minutes
    start: Ints  # the log start, if it has one
    has_start: Mask
    start_s: Floats  # when that was answered; 0: never
    start_before: Ints  # the answer before
    start_before_s: Floats
    stable: Ints  # where readers of committed data stop
    stable_s: Floats
    stable_before: Ints
    stable_before_s: Floats
    is_held: Mask  # an open transaction holds them back
    was_held: Mask  # or one did, ever
    start_was: Ints  # in the round before, and when it was another; see `paces`
    start_changed_s: Floats  # 0: no start was read
    start_every_s: Singles  # usually from one move to the next; 0: it has not moved, NaN: once
    start_pace: Singles

    def __init__(self, intervals: int) -> None:
        super().__init__(
            {
                "ends": ((intervals,), np.int64),
                "newest": ((), np.int64),
                "lowest": ((), np.int64),
                "filled": ((), np.uint16),
                "seen_s": ((), np.float64),
                "rate": ((), np.float32),
                "slow_rate": ((), np.float32),
                "start": ((), np.int64),
                "has_start": ((), np.bool_),
                "stable": ((), np.int64),
                **dict.fromkeys(("start_before", "stable_before"), ((), np.int64)),
                **dict.fromkeys(edge_readings.TIMES, ((), np.float64)),
                "is_held": ((), np.bool_),
                "was_held": ((), np.bool_),
                "start_was": ((), np.int64),
                "start_changed_s": ((), np.float64),
                "start_every_s": ((), np.float32),
                "start_pace": ((), np.float32),
            },
            unsaved=(
                *("start", "has_start", "start_before", "stable", "stable_before"),
                *("is_held", "was_held", *edge_readings.TIMES),
            ),
        )
        self.intervals = intervals
        self.rounds: list[EndsRound] = []  # oldest first
        self.has_moved_starts = False  # since losses were counted
        self.between_s = 0.0  # usually, from one round to the next; 0: not known yet
        self.past = EndColumns()
        self.asked_s: Floats = np.zeros(0)  # of the past rounds, and of one that goes on

    def clear(self, rows: Ints) -> None:
        self.filled[rows] = 0
        self.has_start[rows] = self.is_held[rows] = self.was_held[rows] = False
        self.start_changed_s[rows] = self.start_every_s[rows] = 0
        for name in edge_readings.TIMES:
            getattr(self, name)[rows] = 0
        for each in self.rounds:
            known = rows[rows < len(each.newest)]
            each.newest[known] = each.lowest[known] = NOT_THERE
        self.past.clear(rows)

    def copy(self, source: Ints, target: Ints) -> None:
        super().copy(source, target)
        self._arrange_rounds(lambda column: _moved(column, source, target))
        self.past.copy(source, target)

    def keep(self, rows: Ints) -> None:
        super().keep(rows)
        self._arrange_rounds(lambda column: _taken(column, rows))
        self.past.keep(rows)

    def _arrange_rounds(self, arrange: Callable[[Ints], Ints]) -> None:
        self.rounds = [
            each._replace(newest=arrange(each.newest), lowest=arrange(each.lowest))
            for each in self.rounds
        ]

    def begin_round(self, asked_s: float) -> None:
        """Log ends are asked for from now on."""
        before_s = self.past.asked_s
        self.asked_s = np.append(before_s[before_s < asked_s], asked_s)

    def remember(self, answered_s: float) -> None:
        """Remember the ends as they are now."""
        # The clock may have been set back, and tests have none.
        self.rounds = [each for each in self.rounds if each.answered_s < answered_s]
        if self.rounds:
            took_s = answered_s - self.rounds[-1].answered_s
            # One long silence of the brokers does not change what is usual.
            usual_s = min(self.between_s, took_s) if took_s > 3 * self.between_s else took_s
            self.between_s += (usual_s - self.between_s) / 4 if self.between_s else took_s
        is_known = self.filled[: self.size] > 0
        newest, lowest = self.newest[: self.size], self.lowest[: self.size]
        newest, lowest = (np.where(is_known, each, NOT_THERE) for each in (newest, lowest))
        self.rounds.append(EndsRound(answered_s, newest, lowest))
        while len(self.rounds) > self._most_rounds():
            del self.rounds[dispensable([each.answered_s for each in self.rounds])]

    def _most_rounds(self) -> int:
        a_round = 2 * np.dtype(np.int64).itemsize * max(self.size, 1)
        return min(max(ROUNDS_BYTES // a_round, FEWEST_ROUNDS), MOST_ROUNDS)

    def finish_round(self, asked_s: float, answered_s: float, answered: Ints) -> None:
        """Remember the round that has just finished, and which rows were answered."""
        self.remember(answered_s)
        is_answered = np.zeros(self.size, np.bool_)
        is_answered[answered] = True
        self.past.add(asked_s, answered_s, self.newest[: self.size], is_answered)
        self.asked_s = self.past.asked_s

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

    def before_newest(self, rows: Ints) -> Ints:
        """The end that came before the newest; the newest, if none is remembered."""
        before: Ints = self.ends[rows, max(self.intervals - 2, 0)]
        return before

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
        grown = np.maximum(new - self.newest[rows], 0)[later] / took_s[later]
        for column, over_s in ((self.rate, PACE_S), (self.slow_rate, SLOW_PACE_S)):
            rates = np.where(is_new, np.nan, column[rows])
            rates[later] = smoothed(rates[later], grown, took_s[later], over_s)
            column[rows] = rates
        self.seen_s[rows] = now_s


def smoothed(before: Singles, grown: Floats, took_s: Floats, over_s: float) -> Floats:
    """A rate that forgets: the longer the new growth took, the more it weighs."""
    rate: Floats = np.where(np.isnan(before), grown, before)
    forgotten: Floats = grown + (rate - grown) * np.exp(-took_s / over_s)
    return forgotten


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


class LogEnds:
    """A topic keeps the most partitions it ever had: delete it when it is created again."""

    def __init__(self, intervals: int) -> None:
        self.topics = Names()
        self.rows = EndRows(intervals)
        self.blocks = Blocks(self.rows)
        self._of_topics: TopicEnds | None = None  # None: something has changed since

    def ensure(self, topic: str, count: int) -> int:
        self._of_topics = None
        number = self.topics.id(topic)
        self.blocks.ensure(number, count)
        return number

    def refresh(
        self,
        ends: pa.Table,
        partition_counts: Mapping[str, int],
        now_s: float = 0,
        asked_s: float | None = None,
    ) -> None:
        """Take in one answer of the brokers; partitions with a null end stay as they were."""
        self._of_topics = None
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
        self.rows.finish_round(now_s if asked_s is None else asked_s, now_s, rows)

    def refresh_edges(
        self, starts: pa.Table, stable: pa.Table, answered_s: float | None = None
    ) -> list[str]:
        """Take in log starts and stable ends; returns the topics with an open transaction.

        A stable end that was read after the log end it is compared with, and is not before it,
        holds nobody back. `answered_s` is when they came; without it they are of the moment when
        log ends were asked for.
        """
        self._of_topics = None
        if answered_s is None:
            answered_s = float(self.rows.asked_s[-1]) if len(self.rows.asked_s) else 0.0
        rows, offsets, _ = self.known(starts)
        edge_readings.set_starts(self.rows, rows, offsets, answered_s)
        rows, offsets, topics = self.known(stable)
        is_held = edge_readings.set_stable(self.rows, rows, offsets, answered_s)
        held: list[str] = topics.filter(pa.array(is_held)).unique().to_pylist()
        return held

    def known(self, offsets: pa.Table) -> tuple[Ints, Ints, pa.ChunkedArray]:
        """Rows, offsets and topics of LOG_ENDS, without partitions that we do not know."""
        codes, names = encoded(offsets["topic"])
        base, count = self.where(names)
        partition = offsets["partition"].to_numpy().astype(np.int64)
        is_known = partition < count[codes]
        rows = (base[codes] + partition)[is_known]
        some = offsets.filter(pa.array(is_known))
        return rows, some["offset"].to_numpy(), some["topic"]

    def places(self, rows: Ints) -> list[tuple[str, int]]:
        """The topic and the partition of each row."""
        numbers = np.flatnonzero(self.blocks.count)
        numbers = numbers[np.argsort(self.blocks.base[numbers])]
        of = numbers[np.searchsorted(self.blocks.base[numbers], rows, side="right") - 1]
        topics = (self.topics[number] for number in of.tolist())
        return [*zip(topics, (rows - self.blocks.base[of]).tolist(), strict=True)]

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
        self._of_topics = None
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

    def of_topics(self) -> TopicEnds:
        """A copy of where every log starts and ends, and how fast it grows."""
        known = self._of_topics
        if known is None or len(known.topics) != len(self.topics.ids):
            known = self._of_topics = self._copied()
        return known

    def _copied(self) -> TopicEnds:
        topics = sorted(self.topics.ids)
        numbers = np.array([self.topics.ids[topic] for topic in topics], np.int64)
        rows, of = self.blocks.rows_of(numbers), self.rows
        is_known = of.filled[rows] > 0
        return TopicEnds(
            tuple(topics),
            np.concatenate([[0], np.cumsum(self.blocks.count[numbers])]).astype(np.int64),
            np.where(is_known, of.newest[rows], NO_END),
            np.where(is_known, of.rate[rows], np.float32(np.nan)),
            np.where(of.has_start[rows], of.start[rows], NO_END),
        )

    def recent(self, topic: str) -> list[list[int]]:
        """By partition: the ends we remember, oldest first."""
        return [
            self.rows.ends[row, self.rows.intervals - int(self.rows.filled[row]) :].tolist()
            for row in self._rows(topic)
        ]

    def _rows(self, topic: str) -> Ints:
        return self.blocks.rows_of(np.array([self.topics.ids[topic]]))
