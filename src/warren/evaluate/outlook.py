"""Lags, ages and paces -> what will be: when all is read, and what retention takes before that.

A group that keeps up with a busy log gains nothing on it, and something is always unread: what came
since its last commit. So paces say something only of a group whose oldest unread record has waited
for longer than the group's own rhythm explains, and only if they differ by more than such paces
differ by chance.
"""

from dataclasses import dataclass

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask, Singles
from warren.model.line_readings import Readings

Span = tuple[Singles, Singles]

NEVER_S = 1e9  # thirty years
PATIENCE_S = np.float32(60)  # nobody is late before this
STANDING_S = np.float32(120)  # who leaves a record unread for longer stands still for good
PAUSES = np.float32(2)  # of its usual ones that a group may take
FEW = 100  # records that any group reads at once
FAST_S, SLOW_S = np.float32(60), np.float32(600)  # what the paces cover
SAME = np.float32(0.05)  # of a pace: one that differs by less is no other
CHANCE = np.float32(2)  # standard deviations of what comes at random


@dataclass(frozen=True)
class Retention:
    """How long the topic of each line keeps its records."""

    seconds: Floats  # infinite: not limited by time; NaN: unknown
    is_compacted: Mask
    is_by_size: Mask

    def of(self, some: slice | Ints) -> "Retention":
        return Retention(self.seconds[some], self.is_compacted[some], self.is_by_size[some])


@dataclass(frozen=True)
class Course:
    """Where the lines of some readings are going."""

    read: Readings
    lag: Ints
    limit_s: Singles  # how long a record may wait before it is late
    is_late: Mask  # one has waited for longer
    pace: Singles  # records a second that are read, by the better of two paces; NaN: unknown

    @classmethod
    def of(cls, read: Readings, lag: Ints) -> "Course":
        limit_s = np.maximum(PATIENCE_S, PAUSES * read.pause_s)
        pace = np.fmax(read.consumed_fast, read.consumed_slow)
        return cls(read, lag, limit_s, read.as_of_s - read.visible_s > limit_s, pace)


def drain(course: Course, least: Ints, most: Ints) -> Span:
    """Until everything is read: at best and at worst."""
    read, lag = course.read, course.lag
    fast = _gains(read.consumed_fast, read.produced_fast, FAST_S)
    slow = _gains(read.consumed_slow, read.produced_slow, SLOW_S)
    low = _time_to_read(least, np.fmax(fast[1], slow[1]))
    high = _time_to_read(most, np.fmin(fast[0], slow[0]))
    young = np.flatnonzero(~course.is_late)
    pace, limit_s = np.nan_to_num(course.pace[young]), course.limit_s[young]
    is_usual = lag[young] <= FEW + PAUSES * limit_s * pace
    is_usual |= np.isnan(course.pace[young])
    # A burst that has just come is read at the group's pace, and the next may be far.
    at_once = least[young] / np.maximum(pace, np.float32(1 / NEVER_S))
    low[young] = np.where(is_usual, 0, np.fmin(low[young], at_once))
    high[young] = np.where(is_usual, limit_s, high[young])
    for seconds in (low, high):
        seconds[seconds > NEVER_S] = np.inf  # paces that differ by a rounding error tell of no end
        seconds[lag <= 0] = np.where(lag < 0, np.float32(np.nan), 0)[lag <= 0]
    return low, high


def _gains(consumed: Singles, produced: Singles, over_s: np.float32) -> Span:
    """How fast a group may come nearer to the log end, at least and at most."""
    gain = consumed - produced
    chance = SAME * produced + CHANCE * np.sqrt(produced / over_s)
    is_chance = np.abs(gain) <= chance
    return np.where(is_chance, np.float32(0), gain), np.where(is_chance, chance, gain)


def _time_to_read(amount: Ints, gain: Singles) -> Singles:
    """Infinite: never; NaN: it is not known how much is gained."""
    seconds = amount.astype(np.float32)
    seconds /= np.maximum(gain, np.float32(1 / NEVER_S))
    seconds[gain <= 0] = np.inf
    return seconds


def margin(
    course: Course, age: Singles, age_high: Singles, kept: Retention, soonest: Singles
) -> Singles:
    """Until retention reaches the commit, if group and retention go on as they do.

    It does not reach a group that does not fall behind, nor one that may have read all before, as
    the soonest drain says.
    """
    read, lag = course.read, course.lag
    by_pace = _moves_by_itself(read, kept)
    is_known = ~np.isnan(kept.seconds) | by_pace
    margins = np.where(is_known, np.float32(np.inf), np.float32(np.nan))
    some = np.flatnonzero(is_known & course.is_late & (lag > 0))
    old, falls = _falls_behind(course, some, age, age_high)
    seconds = np.maximum(kept.seconds[some] - old, 0)
    ahead = bounds.lag(read.commit[some], read.start[some])
    pace = np.where(by_pace[some], read.start_pace[some], np.nan)
    seconds = np.fmin(seconds, ahead / pace)
    is_safe = (falls <= SAME) | (soonest[some] <= seconds)
    margins[some] = np.where(is_safe, np.inf, seconds / np.maximum(falls, SAME))
    margins[margins > NEVER_S] = np.inf
    margins[read.has_start & (read.start > read.commit)] = 0
    margins[lag == 0] = np.inf
    margins[(lag < 0) | ~read.has_commit] = np.nan
    return margins


def _moves_by_itself(read: Readings, kept: Retention) -> Mask:
    """Whether the pace of the log start tells when it comes further.

    Where only age limits a log, its start goes by what was written long ago.
    """
    mask: Mask = read.has_start & (read.start_pace > 0)
    return mask & (kept.is_by_size | ~np.isfinite(kept.seconds)) if mask.any() else mask


def _falls_behind(
    course: Course, some: Ints, age: Singles, age_high: Singles
) -> tuple[Floats, Floats]:
    """How old the oldest unread record is, and by how much of a second it gets older each second.

    Where no round goes back so far, the pace of the log tells.
    """
    read, lag, old = course.read, course.lag[some], age[some].astype(np.float64)
    produced = np.fmax(read.produced_fast[some], read.produced_slow[some])
    by_pace = lag / np.where(produced > 0, produced, np.inf)
    is_known = np.isfinite(age_high[some]) & (old > 0)
    old = np.where(is_known, old, np.fmax(old, by_pace))
    unread_pace = lag / np.maximum(old, 1 / NEVER_S)
    return old, 1 - np.nan_to_num(course.pace[some]) / np.maximum(unread_pace, 1 / NEVER_S)


def drain_of_groups(
    drain_s: Singles, lag: Ints, age_s: Singles, begin: Ints, pace: Singles
) -> Singles:
    """When the last partition is read; lines without a lag have nothing to wait for.

    Partitions that stand still are no matter for a while, if the group reads more in a minute than
    they hold.
    """
    if not len(begin):
        return drain_s[:0]
    waits = np.where(lag < 0, np.float32(0), drain_s)
    is_endless = np.isinf(waits)
    if is_endless.any():
        held = bounds.sums(np.where(is_endless, lag, 0), begin)
        is_little = held <= PATIENCE_S * np.nan_to_num(pace)
        is_little = np.repeat(is_little, np.diff(begin, append=len(lag)))
        waits[is_endless & is_little & ~(age_s > STANDING_S)] = PATIENCE_S
    return np.asarray(np.maximum.reduceat(waits, begin))
