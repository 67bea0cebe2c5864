"""Windows, verdicts and numbers -> the words on every partition and every group.

Beside Burrow's verdicts, as a second opinion or instead of them.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from warren.evaluate import rhythm
from warren.evaluate.evidence import Clock, Cluster, Commits, Decided, Evidence
from warren.evaluate.figures import figures
from warren.evaluate.word_rules import decide
from warren.model import bounds
from warren.model.arrays import Bytes, Floats, Ints, Mask, Singles, UInts
from warren.model.figures import Figures
from warren.model.grounds import Grounds, LineSettings
from warren.model.group_life import GroupLife
from warren.model.judgement import (
    PAGES,
    STATUS_OF_WORD,
    TRANSACTION_TIMEOUT_S,
    Judgement,
    Word,
)
from warren.model.memory import Memory, Past, regular
from warren.model.numbers import Numbers, PartitionNumbers
from warren.model.policies import LinePolicies
from warren.model.status import Status
from warren.model.verdicts import Verdicts
from warren.model.window_arrays import WindowArrays, span

MS = 1000
CHUNK = 16_384  # lines at once: their columns fit into a processor's cache
SLOWEST, LONGEST_S = 1e-3, 7 * 86_400  # of a pace that tells an age, and the age
FAR = np.iinfo(np.uint32).max


@dataclass(frozen=True)
class Facts:
    """What is known besides windows and verdicts; None: nothing of that kind."""

    numbers: Numbers
    end_s: Floats  # when the log end of each line was read
    start: Ints | None = None  # log starts, of the lines
    stable: Ints | None = None  # last stable offsets
    produced: Singles | None = None  # lately, records a second of each line's log; NaN: not known
    life: GroupLife | None = None
    policies: LinePolicies | None = None
    between_readings_s: float = 10.0
    allowed_lag: int = 0
    gone: Mask | None = None  # groups whose query has ended


def judge_words(
    arrays: WindowArrays, memory: Memory, past: Past, verdicts: Verdicts, facts: Facts
) -> Judgement:
    """Judge every line, and bring memory and past, which are by row, up to date."""
    by_line = _ByLine(arrays, verdicts, facts)
    said = _Said.empty(len(verdicts.partitions.status))
    said.longest_pause_s[:] = _regular(memory, past, by_line.rows, verdicts.groups.first)
    commits = Commits(arrays.offset, arrays.committed_ms, arrays.lag)
    cluster = Cluster(commits, past, Clock(verdicts.now_s, facts.between_readings_s))
    grounds, parts = Grounds.empty(len(said.word)), list[Figures]()
    for begin in range(0, len(said.word), CHUNK):
        some = slice(begin, begin + CHUNK)
        where = span(by_line.rows[some])
        part, evidence = memory.of(where), by_line.evidence(some)
        decided, stands_on = decide(part, evidence, said.longest_pause_s[some], cluster)
        if not isinstance(where, slice):  # else it is the memory itself, not a copy
            memory.put(where, part)
        said.note(some, decided, part, evidence)
        grounds.note(some, stands_on)
        if (found := figures(decided.word, part, evidence, past, begin)) is not None:
            parts.append(found)
    judgement = _judgement(said, verdicts, Figures.join(parts), facts.policies)
    return replace(judgement, grounds=grounds, settings=by_line.settings)


class _Said(NamedTuple):
    """The columns of a `Judgement` that are by line, to be filled some lines at a time."""

    word: Bytes
    before: Bytes
    since_s: UInts
    silent_s: Singles
    held_s: Singles
    limit_s: Singles
    longest_pause_s: Singles
    period_s: Singles
    usual_gap_s: Singles
    former: Ints

    @classmethod
    def empty(cls, lines: int) -> "_Said":
        kinds = (np.uint8, np.uint8, np.uint32, *(np.float32,) * 6, np.int64)
        return cls._make(np.empty(lines, kind) for kind in kinds)

    def note(self, some: slice, decided: Decided, memory: Memory, evidence: Evidence) -> None:
        self.word[some], self.before[some] = decided.word, memory.word
        self.since_s[some] = memory.since_s
        self.silent_s[some], self.held_s[some] = decided.silent_s, decided.held_s
        self.limit_s[some], self.period_s[some] = decided.limit_s, memory.period_s
        self.usual_gap_s[some] = np.where(evidence.filled > 1, evidence.gap_s, 0)
        self.former[some] = memory.high


def _regular(memory: Memory, past: Past, rows: Ints, first: Ints) -> Singles:
    """The longest regular pause of each line; its group's while it has been seen too little."""
    own = np.zeros(len(rows), np.float32)
    pausing = np.flatnonzero(memory.rested_s[rows] > 0)
    if not len(pausing):
        return own
    own[pausing] = regular(past.pauses[rows[pausing]])
    of_group = np.repeat(np.maximum.reduceat(own, first[:-1]), np.diff(first))
    is_strange = memory.commits[rows] < rhythm.FEW_COMMITS
    return np.where(is_strange, of_group, own)


class _ByLine:
    """The columns that the rules read, gathered for some lines at a time."""

    def __init__(self, arrays: WindowArrays, verdicts: Verdicts, facts: Facts) -> None:
        self.arrays, self.verdicts, self.facts = arrays, verdicts, facts
        count = np.diff(verdicts.groups.first)
        self.group = np.repeat(np.arange(len(count)), count)
        lines, life = len(self.group), facts.life
        self.has_left = np.zeros(lines, np.bool_)
        self.generations = np.zeros(len(count), np.float32)
        if life is not None:
            self.has_left = life.has_left
            self.generations = life.generations_per_minute
        self.settings = line_settings(facts.policies, lines, facts.allowed_lag)
        self.is_named = _is_named(facts.policies, lines)
        self.gone = facts.gone
        self.rows = arrays.rows
        produced = facts.produced
        if produced is None:
            produced = facts.numbers.partitions.produced
        self.produced = np.nan_to_num(produced)

    def evidence(self, some: slice) -> Evidence:
        said, numbers = self.verdicts.partitions, self.facts.numbers.partitions
        rows, group, filled = self.rows[some], self.group[some], said.filled[some]
        offset, end_ms = said.end.offset[some], said.end.committed_ms[some]
        end, stable, start = _edges(self.arrays, self.facts, some)
        lag = _readable_lag(numbers.lag[some], offset, end, stable, start)
        took_s = bounds.minus(end_ms, said.start.committed_ms[some]) / MS
        last_ms, clock_ms = self._written(rows)
        return Evidence(
            row=rows,
            as_of_ms=self.verdicts.groups.as_of_ms[group],
            filled=filled,
            offset=offset,
            last_ms=last_ms,
            clock_ms=clock_ms,
            gap_s=(took_s / np.maximum(filled.astype(np.int64) - 1, 1)).astype(np.float32),
            lag_at_commit=said.end.lag[some],
            end=end,
            end_s=np.clip(self.facts.end_s[some], 0, FAR).astype(np.uint32),
            start=start,
            stable=stable,
            lag=lag,
            age_s=_age(numbers, some, lag, self.produced[some]),
            age_low_s=numbers.age_low_s[some],
            age_high_s=numbers.age_high_s[some],
            produced=self.produced[some],
            is_expected=(said.owner[some] > 0) | self.is_named[some],
            has_left=self.has_left[some],
            generations=self.generations[group],
            settings=self.settings.of(some),
            is_gone=None if self.gone is None else self.gone[group],
        )

    def _written(self, rows: Ints) -> tuple[Ints, Ints]:
        """When the newest commits were written, by our own clock, and how far theirs is ahead."""
        committed_ms, written_s = self.arrays.last_ms[rows], self.arrays.written_s[rows]
        is_known = (written_s > 0) & (written_s < self.verdicts.now_s + 1)
        written_ms = np.rint(np.where(is_known, written_s, 0) * MS).astype(np.int64)
        last_ms = np.where(is_known, written_ms, committed_ms)
        return last_ms, bounds.minus(committed_ms, last_ms)


def _edges(arrays: WindowArrays, facts: Facts, some: slice) -> tuple[Ints, Ints, Ints]:
    """Ends, stable ends and starts; where the last two are not known nothing is held or lost."""
    end = arrays.newest_end[some]
    stable, start = end, np.zeros_like(end)
    if facts.stable is not None:
        is_known = facts.stable[some] >= 0
        stable = np.minimum(facts.stable[some], end, out=end.copy(), where=is_known)
    if facts.start is not None:
        start = np.maximum(facts.start[some], 0)
    return end, stable, start


def _readable_lag(measured: Ints, offset: Ints, end: Ints, stable: Ints, start: Ints) -> Ints:
    """What the group could read now: not what is lost, nor what a transaction holds back.

    A group that has read beyond the stable end reads what is not committed yet, too.
    """
    reachable = np.where(offset <= stable, stable, end)
    lag = np.maximum(reachable - np.maximum(offset, start), 0)
    return np.where(measured < 0, 0, np.minimum(measured, lag))


def _age(numbers: PartitionNumbers, some: slice, lag: Ints, produced: Singles) -> Singles:
    """The best guess; where no reading of the ends goes back so far, by the pace of the log."""
    low_s, high_s = numbers.age_low_s[some], numbers.age_high_s[some]
    by_pace = np.minimum(lag / np.maximum(produced, SLOWEST), LONGEST_S)
    guess = np.where(np.isinf(high_s), np.maximum(low_s, by_pace), numbers.age_s[some])
    return np.nan_to_num(guess).astype(np.float32)


def line_settings(policies: LinePolicies | None, lines: int, allowed_lag: int) -> LineSettings:
    """What policies say of every line; `allowed_lag` is the evaluator's."""
    if policies is None:
        nan = np.broadcast_to(np.float64(np.nan), lines)
        return LineSettings(np.broadcast_to(np.int64(allowed_lag), lines), nan, nan)
    lags, ages, periods = [], [], []
    for policy in policies.policies:
        lags.append(allowed_lag if policy.allowed_lag is None else policy.allowed_lag)
        ages.append(np.nan if policy.max_time_lag_s is None else policy.max_time_lag_s)
        period_s = policy.schedule.period_s if policy.schedule else 0
        periods.append(period_s or np.nan)
    of_line = policies.of_line  # -1, no policy, is the last of each list
    return LineSettings(
        np.array([*lags, allowed_lag], np.int64)[of_line],
        np.array([*ages, np.nan])[of_line],
        np.array([*periods, np.nan])[of_line],
    )


def _is_named(policies: LinePolicies | None, lines: int) -> Mask:
    """Policies that name both groups and topics say of a line that it is to be read."""
    if policies is None:
        return np.broadcast_to(np.False_, lines)
    named = [bool(policy.groups and policy.topics) for policy in policies.policies]
    mask: Mask = np.array([*named, False])[policies.of_line]
    return mask


def _judgement(
    said: _Said, verdicts: Verdicts, decided: Figures, policies: LinePolicies | None
) -> Judgement:
    first = verdicts.groups.first
    alarm = alarms(said.word, said.before, said.since_s, verdicts.now_s, policies)
    return Judgement(
        **said._asdict(),
        burrow=verdicts.partitions.status,
        group_word=_worst(said.word, first),
        group_burrow=verdicts.groups.status,
        pages=np.minimum(_worst(alarm, first), np.uint8(Status.ERR)),
        figures=decided,
        alarm=alarm,
    )


def _worst(values: Bytes, first: Ints) -> Bytes:
    return np.maximum.reduceat(values, first[:-1]) if len(first) > 1 else values[:0]


def alarms(
    word: Bytes, kept: Bytes, since_s: UInts, now_s: float, policies: LinePolicies | None
) -> Bytes:
    """By line, the status that opens an incident; OK: nobody is paged.

    While a line is STALE, the word that was `kept` from before pages as it did.
    """
    # A policy may page about words that Burrow's clients know as OK.
    status = np.maximum(STATUS_OF_WORD, np.uint8(Status.WARN))[kept]
    is_alarm = pages(kept, since_s, now_s, policies)
    stale = np.flatnonzero((word != kept) & ~is_alarm)
    if len(stale) and policies is not None:
        some = LinePolicies(policies.policies, policies.of_line[stale])
        is_alarm[stale] = pages(word[stale], since_s[stale], now_s, some)
    return np.where(is_alarm, status, np.uint8(Status.OK))


def pages(word: Bytes, since_s: UInts, now_s: float, policies: LinePolicies | None) -> Mask:
    """Which lines page: by their policy's words, after its grace, in the hours of its schedule."""
    default = np.isin(np.arange(len(Word)), [*PAGES])
    if policies is None:
        is_alarm = default[word]
    else:
        words = [word.name for word in Word]
        rows = [each.paging(words, default, now_s) for each in policies.policies]
        table = np.array([*rows, default])
        graces = np.array([each.grace_s or 0 for each in policies.policies] + [0.0])
        lasted_s = now_s - since_s.astype(np.int64)
        is_alarm = table[policies.of_line, word] & (lasted_s >= graces[policies.of_line])
    blocked = np.flatnonzero(word == Word.BLOCKED)
    lasted_s = now_s - since_s[blocked].astype(np.int64)
    is_alarm[blocked] &= lasted_s >= TRANSACTION_TIMEOUT_S
    mask: Mask = is_alarm
    return mask


def deciding(verdicts: Verdicts, judgement: Judgement) -> tuple[Verdicts, Judgement]:
    """The same verdicts with the statuses of the words, and Burrow's as the second opinion."""
    status = STATUS_OF_WORD[judgement.before]
    group = np.minimum(_worst(status, verdicts.groups.first), np.uint8(Status.ERR))
    decided = replace(
        verdicts,
        partitions=replace(verdicts.partitions, status=status),
        groups=replace(verdicts.groups, status=group),
    )
    return decided, replace(judgement, decides=True)
