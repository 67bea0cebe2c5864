"""Commits, log ends and paces -> lag and age with their bounds, and what will be.

A lag is proven for the moment when a round of log ends was asked for: then the log ended no later
than that round shows and no sooner than the one before. An age is proven by two rounds: the first
does not show the record yet, the next one does. `docs/numbers.md` says what each number means.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from warren.model import bounds
from warren.model.arrays import Bytes, Floats, Ints, Mask, Singles
from warren.model.line_readings import Looked, Readings
from warren.model.numbers import (
    UNKNOWN,
    GroupNumbers,
    Lack,
    Method,
    Numbers,
    PartitionNumbers,
)

Span = tuple[Singles, Singles]

NEVER_S = 1e9  # thirty years
ROUNDING = float(np.finfo(np.float32).eps)  # of a number of four bytes, at most twice its part


@dataclass(frozen=True)
class Retention:
    """How long the topic of each line keeps its records."""

    seconds: Floats  # infinite: not limited by time; NaN: unknown
    is_compacted: Mask


def measure(
    readings: Iterable[Readings],
    first: Ints,
    retention: Retention | None = None,
    expires: Singles | None = None,
) -> Numbers:
    """The numbers of every line, and of every group: its lines are first[i] to first[i + 1].

    The readings come in parts, which together are all lines.
    """
    lines = int(first[-1])
    retention = retention or _unknown_retention(lines)
    partitions, scalable, at = _empty(lines), np.empty(lines, np.int64), 0
    for read in readings:
        some = slice(at, at + len(read.commit))
        kept = Retention(retention.seconds[some], retention.is_compacted[some])
        part = _partitions(read, kept)
        for name, column in vars(part).items():
            getattr(partitions, name)[some] = column
        scalable[some] = np.where(read.is_stuck, 0, part.lag)
        at = some.stop
    if expires is None:
        expires = np.full(len(first) - 1, np.nan, np.float32)
    return Numbers(partitions, _groups(partitions, first, scalable, expires))


def _empty(lines: int) -> PartitionNumbers:
    """To be filled some lines at a time."""
    counts, bits = {"lag", "lag_low", "lag_high", "lost"}, {"age_method", "lack"}
    kinds = {**dict.fromkeys(counts, np.int64), **dict.fromkeys(bits, np.uint8)}
    names = (each.name for each in fields(PartitionNumbers))
    return PartitionNumbers(
        **{name: np.empty(lines, kinds.get(name, np.float32)) for name in names}
    )


def _unknown_retention(lines: int) -> Retention:
    return Retention(np.full(lines, np.nan), np.zeros(lines, np.bool_))


def _partitions(read: Readings, retention: Retention) -> PartitionNumbers:
    lag, lag_low, lag_high = _lags(read)
    age, age_low, age_high, method = _ages(read, lag, retention)
    drain_low, drain_high = _drain(read, lag, lag_low, lag_high)
    return PartitionNumbers(
        lag=lag,
        lag_low=lag_low,
        lag_high=lag_high,
        age_s=age,
        age_low_s=age_low,
        age_high_s=age_high,
        age_method=method,
        produced=_either(read.produced_fast, read.produced_slow),
        consumed=_either(read.consumed_fast, read.consumed_slow),
        drain_low_s=drain_low,
        drain_high_s=drain_high,
        margin_s=_margin(read, lag, age, retention),
        lost=read.lost,
        lack=_lack(read, age_high, retention),
    )


def _lags(read: Readings) -> tuple[Ints, Ints, Ints]:
    """The lag, and between what it was when log ends were asked for the last time."""
    start = np.where(read.has_start, read.start, bounds.LEAST)
    known = read.has_end & (read.has_commit | read.has_start)
    now = np.where(read.has_commit, np.maximum(read.commit, start), start)
    then = np.where(read.has_commit, np.maximum(read.commit_then, start), start)
    if read.looked is not None:  # who stands before what nobody can read stands behind it
        line = read.looked.line
        now[line] = np.maximum(now[line], read.looked.readable)
    guess = bounds.lag(read.end, now)
    low = np.where(read.has_least, bounds.lag(read.end_least, then), 0)
    high = bounds.lag(read.end_most, then)
    if read.looked is not None:
        _leave_out_unreadable(read, read.looked, then, (low, high))
    held = np.flatnonzero(read.is_held & known)
    if len(held):
        _hold_back(read, held, (now, then), (guess, low, high))
    low = np.minimum(low, high, out=low, where=read.has_most)
    guess = np.where(read.has_most, np.clip(guess, low, high), guess)
    return (
        np.where(known, guess, UNKNOWN),
        np.where(known, np.where(read.has_most, low, np.minimum(low, guess)), UNKNOWN),
        np.where(known & read.has_most, high, UNKNOWN),
    )


def _leave_out_unreadable(
    read: Readings, looked: Looked, then: Ints, lags: tuple[Ints, Ints]
) -> None:
    """What was unread then, without what nobody can read of it.

    Aborted records are nothing to readers of committed data; of others they are still to be read.
    """
    line, (low, high) = looked.line, lags
    since = np.maximum(then[line], looked.offset)
    for lag, end, readable in (
        (low, read.end_least, looked.readable),
        (high, read.end_most, looked.readable_by_any),
    ):
        nothing = bounds.lag(np.minimum(end[line], readable), since)
        lag[line] = bounds.lag(lag[line], nothing)


def _by_clock(
    read: Readings, looked: Looked, unread: Mask, ages: tuple[Floats, Floats, Floats]
) -> Ints:
    """Bound ages that our own clock does not, by timestamps of records; returns these lines.

    A timestamp that contradicts our own clock is not used.
    """
    guess, low, high = ages
    as_of_s = read.as_of_s[looked.line]
    least = np.maximum(as_of_s - looked.latest_s, low[looked.line])
    most = np.maximum(as_of_s - looked.earliest_s, 0)
    wanted = unread[looked.line] & np.isinf(high[looked.line])
    chosen = wanted & np.isfinite(most) & (most >= least)
    line = looked.line[chosen]
    low[line], high[line] = least[chosen], most[chosen]
    guess[line] = (least[chosen] + most[chosen]) / 2
    return line


def _hold_back(
    read: Readings, held: Ints, commits: tuple[Ints, Ints], lags: tuple[Ints, Ints, Ints]
) -> None:
    """Open transactions end the log for readers of committed data.

    Who has committed beyond the stable end reads everything. Who stands at it has read all that it
    may see. Of all others we do not know which of the two they are, unless a policy says it.
    """
    (now, then), (guess, low, high) = commits, lags
    readable = bounds.lag(read.stable[held], now[held])
    before = now[held] < read.stable[held]
    at = now[held] == read.stable[held]
    guess[held] = np.where(before | at, np.minimum(guess[held], readable), guess[held])
    low[held] = np.where(before | at, np.minimum(low[held], readable), low[held])
    high[held] = np.where(at, 0, high[held])
    if read.reads_committed is not None:
        most = np.minimum(high[held], bounds.lag(read.stable[held], then[held]))
        high[held] = np.where(before & read.reads_committed[held], most, high[held])


def _ages(
    read: Readings, lag: Ints, retention: Retention
) -> tuple[Singles, Singles, Singles, Bytes]:
    """Of the oldest unread record; if none is known, one may have come since the last round."""
    unread, known = lag > 0, lag >= 0
    low = np.where(unread, np.maximum(read.as_of_s - read.visible_s, 0), 0)
    high = np.maximum(read.as_of_s - read.not_yet_s, 0)
    guess = np.clip(np.nan_to_num(read.as_of_s - read.perhaps_s, nan=-1.0), low, high)
    guess[~unread] = 0
    clocked = np.zeros(0, np.int64)
    if read.looked is not None:
        clocked = _by_clock(read, read.looked, unread, (guess, low, high))
    gaps = retention.is_compacted & unread  # the next record may be far beyond the commit
    low[gaps] = 0
    method = np.where(unread, np.uint8(Method.BY_ENDS), np.uint8(Method.NOTHING_UNREAD))
    method[~known | (unread & ~np.isfinite(read.visible_s))] = Method.UNKNOWN
    method[clocked] = Method.BY_CLOCK
    for column in (guess, low, high):
        column[~known] = np.nan
    return (
        guess.astype(np.float32),
        _rounded_down(low),
        _rounded_up(high),
        method.astype(np.uint8),
    )


def _rounded_down(seconds: Floats) -> Singles:
    """Rounding must not move a bound beyond the truth."""
    return (seconds * (1 - ROUNDING)).astype(np.float32)


def _rounded_up(seconds: Floats) -> Singles:
    return (seconds * (1 + ROUNDING)).astype(np.float32)


def _either(fast: Singles, slow: Singles) -> Singles:
    return np.where(np.isnan(fast), slow, fast)


def _drain(read: Readings, lag: Ints, low: Ints, high: Ints) -> Span:
    """Until everything is read, at the better and at the worse of two paces."""
    fast = read.consumed_fast - read.produced_fast
    slow = read.consumed_slow - read.produced_slow
    best, worst = np.fmax(fast, slow), np.fmin(fast, slow)
    most = np.where(high >= 0, high, lag)
    return _time_to_read(lag, low, best), _time_to_read(lag, most, worst)


def _time_to_read(lag: Ints, amount: Ints, gain: Singles) -> Singles:
    gains = gain > 0
    seconds = np.where(gains, amount / np.where(gains, gain, 1), np.inf)
    seconds[np.isnan(gain) | (lag < 0)] = np.nan
    seconds[lag == 0] = 0
    return _or_never(seconds)


def _margin(read: Readings, lag: Ints, age: Singles, retention: Retention) -> Singles:
    """By the log start's own pace, or by the record's age, whichever is sooner."""
    ahead = bounds.lag(read.commit, read.start)
    moves = read.has_start & (read.start_pace > 0)
    by_pace = np.where(moves, ahead / np.where(moves, read.start_pace, 1), np.nan)
    by_age = np.maximum(retention.seconds - age, 0)
    seconds = np.fmin(by_pace, by_age)
    seconds[read.has_start & read.has_commit & (read.start > read.commit)] = 0
    seconds[lag == 0] = np.inf
    seconds[lag < 0] = np.nan
    return _or_never(seconds)


def _or_never(seconds: Floats) -> Singles:
    """Paces that differ by a rounding error tell of no end."""
    return np.where(seconds > NEVER_S, np.inf, seconds).astype(np.float32)


def _lack(read: Readings, age_high: Singles, retention: Retention) -> Bytes:
    bits = {
        Lack.NO_END: ~read.has_end | ~read.has_most,
        Lack.NO_START: ~read.has_start,
        Lack.NO_CONFIG: np.isnan(retention.seconds),
        Lack.COMPACTED: retention.is_compacted,
        Lack.NO_HISTORY: np.isinf(age_high),
        Lack.NO_COMMIT: ~read.has_commit,
    }
    if read.looked is not None:
        refused = np.zeros(len(read.commit), np.bool_)
        refused[read.looked.line] = read.looked.is_refused
        bits[Lack.NO_RECORDS] = refused
    lack = np.zeros(len(read.commit), np.uint8)
    for bit, is_set in bits.items():
        lack |= is_set.astype(np.uint8) * np.uint8(bit)
    return lack


def _groups(each: PartitionNumbers, first: Ints, scalable: Ints, expires: Singles) -> GroupNumbers:
    begin, count = first[:-1], np.diff(first)
    line = _oldest(each, begin, count)
    return GroupNumbers(
        lag=_total(each.lag, begin),
        lag_low=_total(each.lag_low, begin),
        lag_high=_total_high(each, begin),
        age_s=each.age_s[line],
        age_low_s=each.age_low_s[line],
        age_high_s=each.age_high_s[line],
        age_method=each.age_method[line],
        age_line=line,
        produced=_pace(each.produced, begin),
        consumed=_pace(each.consumed, begin),
        drain_low_s=_last(each.drain_low_s, each.lag, begin),
        drain_high_s=_last(each.drain_high_s, each.lag, begin),
        margin_s=_reduced(np.fmin, each.margin_s, begin),
        lost=_total(each.lost, begin),
        scalable_lag=_scalable(scalable, begin),
        expires_s=expires,
    )


def _reduced(how: np.ufunc, column: Singles, begin: Ints) -> Singles:
    return np.asarray(how.reduceat(column, begin)) if len(begin) else column[:0]


def _oldest(each: PartitionNumbers, begin: Ints, count: Ints) -> Ints:
    """The line with the greatest age of each group; the greatest lag decides among unknown ones."""
    if not len(begin):
        return begin
    age = np.nan_to_num(each.age_s, nan=-1.0)
    is_greatest = age == np.repeat(np.maximum.reduceat(age, begin), count)
    lag = np.where(is_greatest, each.lag, UNKNOWN - 1)
    is_oldest = np.flatnonzero(lag == np.repeat(np.maximum.reduceat(lag, begin), count))
    return np.asarray(is_oldest[np.searchsorted(is_oldest, begin)])


def _total(column: Ints, begin: Ints) -> Ints:
    """The sum of what is known; unknown only if nothing is."""
    if not len(begin):
        return column[:0]
    known = np.maximum.reduceat(column, begin) >= 0
    return np.where(known, bounds.sums(np.maximum(column, 0), begin), UNKNOWN)


def _scalable(column: Ints, begin: Ints) -> Ints:
    """The sum of what is known. Nothing is only said when all is known: 0 stops all members."""
    if not len(begin):
        return column[:0]
    total = bounds.sums(np.maximum(column, 0), begin)
    is_open = (total == 0) & (np.minimum.reduceat(column, begin) < 0)
    return np.where(is_open, UNKNOWN, total)


def _total_high(each: PartitionNumbers, begin: Ints) -> Ints:
    """Unknown if one of the lags may be anything."""
    if not len(begin):
        return each.lag_high[:0]
    open_ended = np.logical_or.reduceat((each.lag >= 0) & (each.lag_high < 0), begin)
    return np.where(open_ended, UNKNOWN, _total(each.lag_high, begin))


def _pace(column: Singles, begin: Ints) -> Singles:
    total = _reduced(np.add, np.nan_to_num(column), begin)
    return np.where(np.isnan(_reduced(np.fmax, column, begin)), np.float32(np.nan), total)


def _last(drain: Singles, lag: Ints, begin: Ints) -> Singles:
    """When the last partition is read; lines without a lag have nothing to wait for."""
    return _reduced(np.maximum, np.where(lag < 0, np.float32(0), drain), begin)
