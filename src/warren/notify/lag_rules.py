"""Lag that is great, or has been growing for a time: alerts that a notifier asks for by number.

They stand beside the verdicts, never instead of them. Growing is judged by the lowest lag of each
stretch of the time asked for: consumers commit in batches, so lag goes up and down all the time,
and only when its lows never fall is it growing.
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
    UNKNOWN = -1  # watched for too short a time: what is open stays open, nothing opens
    QUIET = 0
    FIRING = 1


class LagRule(NamedTuple):
    """A notifier's `lag-…` keys; with both numbers set, both must hold."""

    above: int | None
    growing_for_ms: int  # 0: does not matter
    groups: str  # regular expressions
    topics: str  # empty: the lag of a group is that of all its topics

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
class Seen:
    """What a rule says about each of them."""

    places: Mapping[Name, int]
    lag: Ints
    line: Ints
    state: States

    def firing(self) -> list[Name]:
        names = list(self.places)
        return [names[at] for at in np.flatnonzero(self.state == Alarm.FIRING).tolist()]


@dataclass
class Lows:
    """The lowest lag in each stretch of the time that is looked back over."""

    back_ms: int
    longest_pause_ms: int  # a longer one, in which nobody looked, is a new beginning
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
        """Whether each has grown all the time: the lows never fell, and the last is a new high."""
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
        """Bring the columns into the order of the names there are now."""
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
    """A rule over one cluster, from board to board."""

    def __init__(self, rule: LagRule, round_ms: int) -> None:
        self.rule = rule
        self._lows = Lows(rule.growing_for_ms, rule.growing_for_ms // STRETCHES + 3 * round_ms)

    def look(self, verdicts: Verdicts, now_ms: int) -> Seen:
        rule = self.rule
        lags = matching(lag_by_topic(verdicts) if rule.topics else lag_by_group(verdicts), rule)
        state = np.full(len(lags.names), Alarm.FIRING, np.int8)
        if rule.growing_for_ms:
            self._lows.add(lags, now_ms)
            state = self._lows.growing()
        if rule.above is not None:
            state[lags.lag <= rule.above] = Alarm.QUIET
        places = {name: at for at, name in enumerate(lags.names)}
        return Seen(places, lags.lag, lags.line, state)


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


def matching(lags: Lags, rule: LagRule) -> Lags:
    groups, topics = GroupFilter(rule.groups), GroupFilter(rule.topics)
    if not rule.groups and not rule.topics:
        return lags
    kept = [
        at
        for at, (group, topic) in enumerate(lags.names)
        if groups.accepts(group) and topics.accepts(topic)
    ]
    return Lags([lags.names[at] for at in kept], lags.lag[kept], lags.line[kept])
