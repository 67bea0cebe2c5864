"""Lag alerts: a notifier may ask for an alert when lag is above a number, or keeps growing.

They come in addition to the verdicts, never instead of them. To judge growth, the configured time
is split into stretches and the lowest lag of each is compared. Consumers commit in batches, so lag
goes up and down all the time; it is growing only if these lows never fall.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.config.notifiers import Notifier
from warren.model import bounds
from warren.model.arrays import Ints
from warren.model.group_filter import GroupFilter
from warren.model.verdicts import Verdicts

States = npt.NDArray[np.int8]  # of Alarm
Name = tuple[str, str]  # group, and topic or ""

STRETCHES = 6
NOT_SEEN = -1


class Alarm(IntEnum):
    UNKNOWN = -1  # not watched for long enough: open alerts stay open, none opens
    QUIET = 0
    FIRING = 1


class LagRule(NamedTuple):
    """A notifier's `lag-…` keys; with both numbers set, both must hold."""

    above: int | None
    growing_for_ms: int  # 0: no condition on growth
    groups: str  # regular expressions
    topics: str  # empty: the total lag of each group

    @classmethod
    def of(cls, notifier: Notifier) -> "LagRule | None":
        if notifier.lag_above is None and not notifier.lag_growing_for:
            return None
        return cls(
            notifier.lag_above,
            notifier.lag_growing_for * 1000,
            notifier.lag_groups,
            notifier.lag_topics,
        )

    def reason(self, lag: int, topic: str, *, is_over: bool) -> str:
        conditions = []
        if self.above is not None:
            conditions.append(f"above {self.above}")
        if self.growing_for_ms:
            conditions.append(f"growing for {self.growing_for_ms // 1000} s")
        where = f" of topic {topic}" if topic else ""
        return f"lag{where} is {lag}, {'no longer ' * is_over}{' and '.join(conditions)}"


class Lags(NamedTuple):
    """Lag of groups, or of topics of groups, at one moment."""

    names: Sequence[Name]
    lag: Ints
    line: Ints  # of the group in the verdicts


@dataclass(frozen=True)
class LagAlarms:
    """What a rule says about each group or topic."""

    places: Mapping[Name, int]
    lag: Ints
    line: Ints
    state: States

    def firing(self) -> list[Name]:
        names = list(self.places)
        return [names[at] for at in np.flatnonzero(self.state == Alarm.FIRING).tolist()]


@dataclass
class Lows:
    """The lowest lag in each stretch of the last `back_ms`."""

    back_ms: int
    longest_pause_ms: int  # after a longer pause between looks, start over
    names: Sequence[Name] = ()
    starts_ms: list[int] = field(default_factory=list)
    lows: list[Ints] = field(default_factory=list)
    seen_ms: int = 0

    def add(self, lags: Lags, now_ms: int) -> None:
        if abs(now_ms - self.seen_ms) > self.longest_pause_ms:  # or the clock was set back
            self.starts_ms, self.lows = [], []
        self._follow(lags.names)
        if not self.starts_ms or now_ms - self.starts_ms[-1] >= self.back_ms / STRETCHES:
            self.starts_ms.append(now_ms)
            self.lows.append(lags.lag)
        else:
            newest = self.lows[-1]
            low = np.where(newest == NOT_SEEN, lags.lag, np.minimum(newest, lags.lag))
            self.lows[-1] = low
        while len(self.starts_ms) > 2 and now_ms - self.starts_ms[1] >= self.back_ms:
            del self.starts_ms[0], self.lows[0]
        self.seen_ms = now_ms

    def growing(self) -> States:
        """Whether each kept growing: its lows never fell, and the last is above the first."""
        low = np.stack(self.lows)
        seen = low != NOT_SEEN
        fell = np.any((np.diff(low, axis=0) < 0) & seen[1:] & seen[:-1], axis=0)
        is_long_enough = self.seen_ms - self.starts_ms[0] >= self.back_ms
        known = seen.all(axis=0) & is_long_enough
        quiet = fell | (known & (low[-1] <= low[0]))
        return np.where(quiet, Alarm.QUIET, np.where(known, Alarm.FIRING, Alarm.UNKNOWN)).astype(
            np.int8
        )

    def _follow(self, names: Sequence[Name]) -> None:
        """Reorder the columns to match the current names."""
        if names == self.names:
            return
        before = {name: at for at, name in enumerate(self.names)}
        rows = np.array([before.get(name, NOT_SEEN) for name in names], np.int64)
        was_there = rows != NOT_SEEN
        for at, low in enumerate(self.lows):
            self.lows[at] = np.full(len(names), NOT_SEEN, np.int64)
            self.lows[at][was_there] = low[rows[was_there]]
        self.names = names


class LagWatch:
    """Applies a rule to one cluster, board after board."""

    def __init__(self, rule: LagRule, round_ms: int) -> None:
        self.rule = rule
        self._lows = Lows(rule.growing_for_ms, rule.growing_for_ms // STRETCHES + 3 * round_ms)

    def look(self, verdicts: Verdicts, now_ms: int) -> LagAlarms:
        rule = self.rule
        lags = keep_matching(
            lag_by_topic(verdicts) if rule.topics else lag_by_group(verdicts), rule
        )
        state = np.full(len(lags.names), Alarm.FIRING, np.int8)
        if rule.growing_for_ms:
            self._lows.add(lags, now_ms)
            state = self._lows.growing()
        if rule.above is not None:
            state[lags.lag <= rule.above] = Alarm.QUIET
        places = {name: at for at, name in enumerate(lags.names)}
        return LagAlarms(places, lags.lag, lags.line, state)


def lag_by_group(verdicts: Verdicts) -> Lags:
    names = [(group, "") for group in verdicts.names]
    return Lags(names, verdicts.groups.total_lag, np.arange(len(names)))


def lag_by_topic(verdicts: Verdicts) -> Lags:
    group = np.repeat(np.arange(len(verdicts.names)), np.diff(verdicts.groups.first))
    topic = verdicts.partitions.topic
    changes = (np.diff(group) != 0) | (np.diff(topic) != 0)
    first = np.flatnonzero(np.concatenate([[True], changes])) if len(topic) else np.array([], int)
    names = [
        (verdicts.names[at], verdicts.topics[what])
        for at, what in zip(group[first].tolist(), topic[first].tolist(), strict=True)
    ]
    lag = bounds.sums(verdicts.partitions.current_lag, first)
    return Lags(names, lag, group[first])


def keep_matching(lags: Lags, rule: LagRule) -> Lags:
    groups, topics = GroupFilter(rule.groups), GroupFilter(rule.topics)
    if not rule.groups and not rule.topics:
        return lags
    kept = [
        at
        for at, (group, topic) in enumerate(lags.names)
        if groups.accepts(group) and topics.accepts(topic)
    ]
    return Lags([lags.names[at] for at in kept], lags.lag[kept], lags.line[kept])
