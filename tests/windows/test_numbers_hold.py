"""The truth is always within the bounds: random histories, read by random rounds, late and early.

A partition's history is what the broker knows: when each record and each commit was written, which
offsets are markers, when transactions were open, where the log began, and when it was cut. Warren
sees commits, rounds of log ends, and some of the starts and stable ends, each read somewhere
between request and answer. Starts and stable ends that a round does not read are as they were read
last: that much is not promised.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from support.batches import COMMITS

from warren.config import Storage
from warren.evaluate.measure import measure
from warren.model.numbers import Method, PartitionNumbers
from warren.model.probe_answers import Answer, Known
from warren.model.tables import LOG_ENDS
from warren.pipeline.cluster import new_cluster
from warren.pipeline.steps import refresh_edges
from warren.sources.log_edges import Asked, Edges
from warren.sources.log_ends import EARLIEST, TopicListing, as_table
from warren.windows import probed
from warren.windows.readings import readings
from warren.windows.window_reader import window_arrays

BEGIN_S = 1_700_000_000.0
PARTITIONS = 4


class Kind(NamedTuple):
    """What happens to logs besides produce and commit."""

    starts: bool = False  # they jump
    transactions: bool = False
    cuts: bool = False  # ends go back


KINDS = (
    Kind(),
    Kind(starts=True),
    Kind(transactions=True),
    Kind(starts=True, transactions=True),
    Kind(cuts=True),
)


class Moments:
    """Something that is one value from each of these moments on."""

    def __init__(self, first: int) -> None:
        self.at_s, self.values = [0.0], [first]

    def set(self, moment_s: float, value: int) -> None:
        self.at_s.append(moment_s)
        self.values.append(value)

    def at(self, moment_s: float) -> int:
        return self.values[bisect_right(self.at_s, moment_s) - 1]


@dataclass
class History:
    """What a broker knows of one partition."""

    first: int = 0  # offset of the first record
    ends: Moments = field(init=False)
    starts: Moments = field(init=False)
    opened: Moments = field(init=False)  # the first offset of an open transaction; -1: none
    written: dict[int, list[tuple[float, bool]]] = field(default_factory=dict)  # whether a marker
    committed_s: list[float] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    reads_committed: bool = False
    cuts_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ends, self.starts = Moments(self.first), Moments(self.first)
        self.opened = Moments(-1)

    def write(self, moment_s: float, *, marker: bool = False) -> None:
        end = self.ends.values[-1]
        self.written.setdefault(end, []).append((moment_s, marker))
        self.ends.set(moment_s, end + 1)

    def stable(self, moment_s: float) -> int:
        opened = self.opened.at(moment_s)
        return self.ends.at(moment_s) if opened < 0 else opened

    def commit(self, moment_s: float) -> int:
        return self.committed[bisect_right(self.committed_s, moment_s) - 1]

    def record(self, offset: int, moment_s: float) -> tuple[float, bool]:
        """When the record that was there at a moment was written, and whether it is a marker."""
        there = self.written[offset]
        return there[bisect_right(there, (moment_s, True)) - 1]

    def readable(self, moment_s: float, since: int, until: int) -> Iterator[int]:
        """The offsets from one to the other that are of records."""
        some = range(max(since, self.first), until)
        return (each for each in some if not self.record(each, moment_s)[1])


class Truth(NamedTuple):
    """From the least to the most: markers may count as records until somebody has looked."""

    lag: tuple[int, int]
    age_s: tuple[float, float]

    @classmethod
    def of(cls, history: History, moment_s: float, start: int, stable: int) -> "Truth":
        limit = stable if history.reads_committed else history.ends.at(moment_s)
        since = max(history.commit(moment_s), start)
        if since >= limit:
            return cls((0, 0), (0.0, 0.0))
        first = next(history.readable(moment_s, since, limit), limit)
        oldest = moment_s - history.record(since, moment_s)[0]
        youngest = moment_s - history.record(first, moment_s)[0] if first < limit else 0.0
        return cls((limit - first, limit - since), (youngest, oldest))


def random_history(chance: Random, lasts_s: float, refresh_s: float, kind: Kind) -> History:
    """Bursts, pauses, and a group that reads in its own way, or stops."""
    history, now = History(first=chance.choice([0, 5, 2**40])), BEGIN_S
    history.reads_committed = kind.transactions
    events: list[tuple[float, str]] = []
    while now < BEGIN_S + lasts_s:
        rate, phase_s = chance.choice([0, 0.05, 0.5, 5]), chance.uniform(1, lasts_s / 4)
        events += [(now + chance.uniform(0, phase_s), "write") for _ in range(int(rate * phase_s))]
        if kind.starts and chance.random() < 0.5:
            events.append((now + chance.uniform(0, phase_s), "start"))
        if kind.cuts and chance.random() < 0.5:
            events.append((now + chance.uniform(0, phase_s), "cut"))
        if kind.transactions and chance.random() < 0.7:
            opens_s = now + chance.uniform(0, phase_s)
            closes_s = opens_s + chance.uniform(0.1, phase_s)
            events += [(opens_s, "open"), (closes_s, "close")]
        now += phase_s
    _happen(history, sorted(events), chance, refresh_s)
    _commit_at_random(history, chance, lasts_s)
    return history


def _happen(
    history: History, events: list[tuple[float, str]], chance: Random, refresh_s: float
) -> None:
    low, low_until_s = 0, 0.0  # after a cut a log stays shorter for some rounds
    for moment_s, what in events:
        end, start, opened = (
            each.values[-1] for each in (history.ends, history.starts, history.opened)
        )
        if what == "write" and (moment_s > low_until_s or end < low):
            history.write(moment_s)
        elif what == "open" and opened < 0:
            history.opened.set(moment_s, end)
            history.write(moment_s)
        elif what == "close" and opened >= 0:
            history.opened.set(moment_s, -1)
            history.write(moment_s, marker=True)
        elif what == "start":
            history.starts.set(
                moment_s, chance.randint(start, max(history.stable(moment_s), start))
            )
        elif what == "cut" and moment_s > low_until_s:
            seen = history.ends.at(moment_s - 2 * refresh_s)
            if seen - start < 2:
                continue
            low, low_until_s = seen - 1, moment_s + 3 * refresh_s
            history.ends.set(moment_s, chance.randint(start, low - 1))
            history.cuts_s.append(moment_s)


def _commit_at_random(history: History, chance: Random, lasts_s: float) -> None:
    every_s, now, offset = chance.choice([0.3, 1, 5, 60]), BEGIN_S - 1.0, history.first
    stops_s = BEGIN_S + chance.uniform(0, 2 * lasts_s)
    while now < min(stops_s, BEGIN_S + lasts_s):
        history.committed_s.append(now)
        history.committed.append(offset)
        now += chance.uniform(0.1, 2) * every_s
        end = history.stable(now) if history.reads_committed else history.ends.at(now)
        offset = max(chance.choice([end, offset, (offset + end + 1) // 2]), history.starts.at(now))


class Monitor:
    """Sees what a Warren would see of some histories."""

    def __init__(self, histories: list[History], chance: Random) -> None:
        self.histories, self.chance = histories, chance
        storage = Storage(name="default", intervals=chance.choice([1, 3, 10]))
        self.cluster = new_cluster("c", storage)
        self.windows = self.cluster.windows
        leaders = {("t", number): 1 for number in range(len(histories))}
        self.cluster.topics = TopicListing({"t": len(histories)}, leaders, {})
        self.folded = [0] * len(histories)
        self.order = 0
        self.rounds: list[list[tuple[float, float]]] = [[] for _ in histories]  # asked, answered
        self.start_s = [0.0] * len(histories)  # when each was read last
        self.stable_s = [0.0] * len(histories)

    def round(self, asked_s: float, took_s: float, missing: float) -> None:
        self.windows.ends.rows.begin_round(asked_s)
        self.fold(asked_s + self.chance.uniform(0, took_s))  # commits are read meanwhile
        rows = []
        for number, history in enumerate(self.histories):
            if self.chance.random() >= missing:
                seen_s = asked_s + self.chance.uniform(0, took_s)
                rows.append({"topic": "t", "partition": number, "offset": history.ends.at(seen_s)})
                self.rounds[number].append((asked_s, asked_s + took_s))
        self.windows.set_log_ends(
            pa.Table.from_pylist(rows, LOG_ENDS),
            {"t": len(self.histories)},
            now_s=asked_s + took_s,
            asked_s=asked_s,
        )
        self.edges(asked_s + took_s, took_s)

    def edges(self, asked_s: float, took_s: float) -> None:
        def answer(_leaders: object, asked: Asked) -> Edges:
            starts, stable = {}, {}
            for (topic, number), edge in asked.items():
                seen_s, history = asked_s + self.chance.uniform(0, took_s), self.histories[number]
                if edge is EARLIEST:
                    starts[topic, number] = history.starts.at(seen_s)
                    self.start_s[number] = seen_s
                else:
                    stable[topic, number] = history.stable(seen_s)
                    self.stable_s[number] = seen_s
            return Edges(as_table(starts), as_table(stable), {})

        self.cluster.clock = lambda: asked_s + took_s
        refresh_edges(self.cluster, answer)

    def look(self, at_s: float) -> None:
        """Answer what the monitor wants to know of first records."""
        view = window_arrays(self.windows)
        wanted = probed.tails(self.windows, view, frozenset(), self.cluster.random)
        columns = (wanted.partition.tolist(), wanted.commit.tolist(), wanted.first.tolist())
        for number, commit, since in zip(*columns, strict=True):
            history = self.histories[number]
            first = max(since, history.starts.at(at_s))
            limit = history.stable(at_s)
            record = next(history.readable(at_s, first, limit), None)
            known = Known.READ if record is None else Known.READ | Known.RECORD
            readable = max(limit, first) if record is None else record
            answer = Answer(known, commit, readable, readable)
            probed.note(self.windows, "g", "t", number, answer)

    def truths(self, number: int, moment_s: float) -> list[Truth]:
        """As it was, or with the log start and the stable end that were read last before."""
        history, read_s = self.histories[number], self.stable_s[number]
        starts = {
            history.starts.at(min(moment_s, at_s)) for at_s in (moment_s, self.start_s[number])
        }
        stables = {history.stable(moment_s)}
        rows = self.windows.ends.rows
        if not rows.was_held[number] or (read_s < moment_s and not rows.is_held[number]):
            stables.add(history.ends.at(moment_s))  # nobody saw a transaction
        elif read_s < moment_s:
            stables.add(history.stable(read_s))
        return [Truth.of(history, moment_s, *each) for each in product(starts, stables)]

    def sudden(self, number: int, as_of_s: float, moment_s: float) -> int:
        """Records since the last round that the growth in the round before does not explain."""
        end_at = self.histories[number].ends.at
        rounds = [each for each in self.rounds[number] if each[1] <= as_of_s][-2:]
        if not rounds:
            return 0
        paces = [
            max(end_at(after) - end_at(before_until), 0) / (after - before)
            for (before, before_until), (after, _) in pairwise(rounds)
        ]
        since_s = rounds[-1][0]
        explained = int(max(paces, default=0) * (moment_s - since_s))
        return max(end_at(moment_s) - end_at(since_s) - explained, 0)

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

    def numbers(self, as_of_s: float, now_s: float) -> tuple[PartitionNumbers, list[float]]:
        """The numbers, and the moment of each line."""
        view = window_arrays(self.windows, lambda groups: np.full(len(groups), as_of_s))
        read = next(readings(self.windows, view, now_s))
        first = np.array([0, len(view.rows)])
        partitions = measure([read], first).partitions
        return partitions, read.as_of_s.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_the_truth_is_within_the_bounds(seed: int) -> None:
    chance, kind = Random(seed), KINDS[seed % len(KINDS)]  # noqa: S311  # the same each time
    lasts_s, refresh_s = chance.choice([(300.0, 2.0), (1_500.0, 10.0)])
    histories = [random_history(chance, lasts_s, refresh_s, kind) for _ in range(PARTITIONS)]
    monitor = Monitor(histories, chance)
    took_s, missing = chance.choice([0.01, 0.5, 0.9]), chance.choice([0, 0, 0.3])
    delay_s = chance.choice([0, 1, 3, 3 * refresh_s])
    if kind.cuts:  # of a log that was cut and has grown since, nobody can tell
        missing, delay_s = 0, 0
    wrong, looked, now = [], 0, BEGIN_S

    while now < BEGIN_S + lasts_s:
        monitor.round(now, took_s, missing)
        answered_s = now + 2 * took_s
        monitor.windows.ends.rows.past.thin(answered_s - delay_s, answered_s)
        is_tight = missing == 0 and kind == Kind()
        for read_s in (answered_s, chance.uniform(answered_s, now + refresh_s)):
            as_of_s = read_s - delay_s  # everything older has been read, and some that is newer
            monitor.fold(as_of_s + chance.uniform(0, delay_s))
            if as_of_s > BEGIN_S and all(monitor.folded):
                wrong += wrong_numbers(monitor, as_of_s, refresh_s, took_s, is_tight=is_tight)
                looked += 1
        if not delay_s:
            monitor.look(answered_s)
        now += refresh_s

    assert looked > 180
    assert wrong == []


def meets(truths: Sequence[tuple[float, float]], low: float, high: float) -> bool:
    return any(low <= most and least <= high for least, most in truths)


def wrong_numbers(
    monitor: Monitor, as_of_s: float, refresh_s: float, took_s: float, *, is_tight: bool
) -> list[tuple[object, ...]]:
    wrong: list[tuple[object, ...]] = []
    said, of_line_s = monitor.numbers(as_of_s, as_of_s + 60)
    for line, history in enumerate(monitor.histories):
        rounds = [asked_s for asked_s, _ in monitor.rounds[line]]
        if any(rounds[-1] <= cut_s <= as_of_s for cut_s in history.cuts_s):
            continue  # no round has shown it yet
        truths = monitor.truths(line, of_line_s[line])
        ages_s = [each.age_s for each in truths]
        low, high = said.age_low_s[line], said.age_high_s[line]
        if not np.isnan(low) and not meets(ages_s, low, high):
            wrong.append(("age", as_of_s, line, low, ages_s, high))
        if is_tight and said.age_method[line] == Method.BY_ENDS and np.isfinite(high):
            width = high - low
            if width > max(refresh_s + took_s, 0.1 * ages_s[0][0]) + 1e-3:
                wrong.append(("age is wide", as_of_s, line, low, ages_s, high))
        low, lag, high = (int(each[line]) for each in (said.lag_low, said.lag, said.lag_high))
        lags, sudden = [each.lag for each in truths], monitor.sudden(line, as_of_s, of_line_s[line])
        if high >= 0 and not meets(lags, low, high + sudden):
            wrong.append(("lag", as_of_s, of_line_s[line], line, low, lags, high))
        if high >= 0 and not low <= lag <= high:
            wrong.append(("guess", as_of_s, line, low, lag, high))
    return wrong
