"""The truth is always within the bounds: random histories, read by random rounds, late and early.

A partition's history is what the broker knows: when each record and each commit was written.
Warren sees commits, and rounds of log ends, each read somewhere between request and answer.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from support.batches import COMMITS

from warren.evaluate.measure import measure
from warren.model.numbers import Method, PartitionNumbers
from warren.model.tables import LOG_ENDS
from warren.windows.readings import readings
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

BEGIN_S = 1_700_000_000.0
PARTITIONS = 4


@dataclass
class History:
    """What a broker knows of one partition: sorted moments, and what was true from then on."""

    written_s: list[float] = field(default_factory=list)  # one for each record
    committed_s: list[float] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    first: int = 0  # offset of the first record

    def end(self, moment_s: float) -> int:
        return self.first + bisect_right(self.written_s, moment_s)

    def commit(self, moment_s: float) -> int:
        return self.committed[bisect_right(self.committed_s, moment_s) - 1]

    def lag(self, moment_s: float) -> int:
        return self.end(moment_s) - self.commit(moment_s)

    def age_s(self, moment_s: float) -> float:
        if not self.lag(moment_s):
            return 0.0
        return moment_s - self.written_s[self.commit(moment_s) - self.first]


def random_history(chance: Random, lasts_s: float) -> History:
    """Bursts, pauses, and a group that reads in its own way, or stops."""
    history, now = History(first=chance.choice([0, 5, 2**40])), BEGIN_S
    while now < BEGIN_S + lasts_s:
        rate, phase_s = chance.choice([0, 0.05, 0.5, 5]), chance.uniform(1, lasts_s / 4)
        if rate:
            moments = [now + chance.uniform(0, phase_s) for _ in range(int(rate * phase_s))]
            history.written_s += sorted(moments)
        now += phase_s
    _commit_at_random(history, chance, lasts_s)
    return history


def _commit_at_random(history: History, chance: Random, lasts_s: float) -> None:
    every_s, now, offset = chance.choice([0.3, 1, 5, 60]), BEGIN_S - 1.0, history.first
    stops_s = BEGIN_S + chance.uniform(0, 2 * lasts_s)
    while now < min(stops_s, BEGIN_S + lasts_s):
        history.committed_s.append(now)
        history.committed.append(offset)
        now += chance.uniform(0.1, 2) * every_s
        end = history.end(now)
        offset = chance.choice([end, offset, (offset + end + 1) // 2])


class Monitor:
    """Sees what a Warren would see of some histories."""

    def __init__(self, histories: list[History], chance: Random) -> None:
        self.histories, self.chance = histories, chance
        self.windows = Windows(intervals=chance.choice([1, 3, 10]))
        self.folded = [0] * len(histories)
        self.order = 0
        self.asked: list[float] = []
        self.answers: list[list[tuple[float, float] | None]] = []

    def round(self, asked_s: float, took_s: float, missing: float) -> None:
        self.windows.ends.rows.begin_round(asked_s)
        self.asked.append(asked_s)
        self.fold(asked_s + self.chance.uniform(0, took_s))  # commits are read meanwhile
        rows = []
        for number, history in enumerate(self.histories):
            if self.chance.random() >= missing:
                seen_s = asked_s + self.chance.uniform(0, took_s)
                rows.append({"topic": "t", "partition": number, "offset": history.end(seen_s)})
        self.windows.set_log_ends(
            pa.Table.from_pylist(rows, LOG_ENDS),
            {"t": len(self.histories)},
            now_s=asked_s + took_s,
            asked_s=asked_s,
        )

    def fold(self, until_s: float) -> None:
        """Read the commits up to a moment, in batches of random sizes."""
        rows = []
        for number, history in enumerate(self.histories):
            upto = bisect_right(history.committed_s, until_s)
            rows += [
                (history.committed_s[at], number, history.committed[at])
                for at in range(self.folded[number], upto)
            ]
            self.folded[number] = max(upto, self.folded[number])
        rows.sort()
        while rows:
            count = self.chance.randint(1, len(rows))
            self._fold(rows[:count])
            rows = rows[count:]

    def _fold(self, rows: list[tuple[float, int, int]]) -> None:
        lines = []
        for moment_s, number, offset in rows:
            self.order += 1
            lines.append(
                {
                    "group": b"g",
                    "topic": b"t",
                    "partition": number,
                    "offset": offset,
                    "committed_ms": int(moment_s * 1000),
                    "order": self.order,
                }
            )
        table = pa.Table.from_pylist(lines, COMMITS)
        written_ms = pa.array([int(np.ceil(moment_s * 1000)) for moment_s, *_ in rows])
        self.windows.fold(table.append_column("written_ms", written_ms), int(rows[-1][0]))

    def numbers(
        self, as_of_s: float, now_s: float
    ) -> tuple[PartitionNumbers, list[float], list[float]]:
        """The numbers, and the moments of each age and of each lag."""
        view = window_arrays(self.windows, lambda groups: np.full(len(groups), as_of_s))
        read = next(readings(self.windows, view, now_s))
        first = np.array([0, len(view.rows)])
        partitions = measure([read], first).partitions
        return partitions, read.as_of_s.tolist(), read.then_s.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_the_truth_is_within_the_bounds(seed: int) -> None:
    chance = Random(seed)  # noqa: S311  # the same histories each time
    lasts_s, refresh_s = chance.choice([(300.0, 2.0), (1_500.0, 10.0)])
    histories = [random_history(chance, lasts_s) for _ in range(PARTITIONS)]
    monitor = Monitor(histories, chance)
    took_s, missing = chance.choice([0.01, 0.5, 0.9]), chance.choice([0, 0, 0.3])
    delay_s = chance.choice([0, 1, 3, 3 * refresh_s])
    wrong, looked, now = [], 0, BEGIN_S

    while now < BEGIN_S + lasts_s:
        monitor.round(now, took_s, missing)
        answered_s = now + took_s
        monitor.windows.ends.rows.past.thin(answered_s - delay_s, answered_s)
        as_of_s = answered_s - delay_s  # everything older has been read, and some that is newer
        monitor.fold(as_of_s + chance.uniform(0, delay_s))
        if as_of_s > BEGIN_S and all(monitor.folded):
            wrong += wrong_numbers(monitor, as_of_s, refresh_s, took_s, all_answered=missing == 0)
            looked += 1
        now += refresh_s

    assert looked > 90
    assert wrong == []


def wrong_numbers(
    monitor: Monitor, as_of_s: float, refresh_s: float, took_s: float, *, all_answered: bool
) -> list[tuple[object, ...]]:
    wrong: list[tuple[object, ...]] = []
    said, of_line_s, then_s = monitor.numbers(as_of_s, as_of_s + 60)
    for line, history in enumerate(monitor.histories):
        low, high = said.age_low_s[line], said.age_high_s[line]
        age_s = history.age_s(of_line_s[line])
        if not (np.isnan(low) or low <= age_s <= high):
            wrong.append(("age", as_of_s, line, low, age_s, high))
        if all_answered and said.age_method[line] == Method.BY_ENDS and np.isfinite(high):
            width = high - low
            if width > max(refresh_s + took_s, 0.1 * age_s) + 1e-3:
                wrong.append(("age is wide", as_of_s, line, low, age_s, high))
        low, lag, high = (int(each[line]) for each in (said.lag_low, said.lag, said.lag_high))
        if high >= 0 and not low <= history.lag(then_s[line]) <= high:
            wrong.append(("lag", as_of_s, then_s[line], line, low, high))
        if high >= 0 and not low <= lag <= high:
            wrong.append(("guess", as_of_s, line, low, lag, high))
        if all_answered and high >= 0 and len(monitor.asked) > 2:
            grown = history.end(then_s[line] + took_s) - history.end(then_s[line] - refresh_s)
            if high - low > grown:
                wrong.append(("lag is wide", as_of_s, line, low, high))
    return wrong
