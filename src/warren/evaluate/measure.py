"""Commits, log ends and paces -> lag and age with their bounds, and what will be.

A lag is of the moment up to which the group's commits have been read. The last round of log ends
before proves what is at least unread then; at most it is what the log may have grown by since, too.
An age is proven by two rounds: the first does not show the record yet, the next one does.
`docs/numbers.md` says what each number means.
"""

from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from warren.evaluate.outlook import Course, Retention, drain, drain_of_groups, margin
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

MOVES = 0.01  # records a second: a partition that is read
ROUNDING = float(np.finfo(np.float32).eps)  # of a number of four bytes, at most twice its part


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
    has_stopped, moves = np.empty((2, lines), np.bool_)
    for read in readings:
        some = slice(at, at + len(read.commit))
        part = _partitions(read, retention.of(some))
        for name, column in vars(part).items():
            getattr(partitions, name)[some] = column
        scalable[some] = np.where(read.is_stuck, 0, part.lag)
        has_stopped[some], moves[some] = read.has_stopped, read.consumed_fast > MOVES
        at = some.stop
    if expires is None:
        expires = np.full(len(first) - 1, np.nan, np.float32)
    if has_stopped.any():  # while others of its group move, it is not short of members
        others_move = np.logical_or.reduceat(moves & ~has_stopped, first[:-1])
        scalable[has_stopped & np.repeat(others_move, np.diff(first))] = 0
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
    nothing = np.zeros(lines, np.bool_)
    return Retention(np.full(lines, np.nan), nothing, nothing)


def _partitions(read: Readings, kept: Retention) -> PartitionNumbers:
    lag, lag_low, lag_high, was_read = _lags(read)
    lag_low[kept.is_compacted & (lag_low > 0)] = 0  # there may be holes instead
    age, age_low, age_high, method = _ages(read, lag, was_read, kept)
    course, most = Course.of(read, lag), np.where(lag_high < 0, lag, lag_high)
    drain_low, drain_high = drain(course, lag_low, most)
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
        margin_s=margin(course, age, age_high, kept, drain_low),
        lost=read.lost,
        lack=_lack(read, age_high, kept),
    )


def _lags(read: Readings) -> tuple[Ints, Ints, Ints, Mask]:
    """The lag with its bounds, and where nothing was unread when the last round was asked for."""
    start = np.where(read.has_start, read.start, bounds.LEAST)
    known = read.has_end & (read.has_commit | read.has_start)
    now = np.where(read.has_commit, np.maximum(read.commit, start), start)
    least = _before_the_start_moved(read, now)
    if read.looked is not None:  # who stands before what nobody can read stands behind it
        line, least = read.looked.line, least.copy()
        least[line] = np.maximum(least[line], read.looked.readable_by_any)
        now[line] = np.maximum(now[line], read.looked.readable)
    guess = bounds.lag(read.end, now)
    low = np.where(read.has_asked, bounds.lag(read.end_asked, now), 0)
    high = bounds.lag(bounds.minus(read.end_asked, -read.grown), least)
    was_read = read.has_asked & (read.end_asked <= least)
    if read.committed is not None:  # a transaction may have been opened since
        line, until = read.committed
        low[line] = np.minimum(low[line], bounds.lag(until, now[line]))
    held = np.flatnonzero(read.is_held & known)
    if len(held):
        was_read[held] |= _hold_back(read, held, now, (guess, low, high))
    low = np.minimum(low, high, out=low, where=read.has_asked)
    guess = np.where(read.has_asked, np.clip(guess, low, high), guess)
    return (
        np.where(known, guess, UNKNOWN),
        np.where(known, np.where(read.has_asked, low, np.minimum(low, guess)), UNKNOWN),
        np.where(known & read.has_asked, high, UNKNOWN),
        was_read,
    )


def _before_the_start_moved(read: Readings, now: Ints) -> Ints:
    """Where each line may still stand, if the log start has moved about that time."""
    moved = np.flatnonzero(read.has_start & (read.start_then < read.start))
    if not len(moved):
        return now
    committed = np.where(read.has_commit[moved], read.commit[moved], bounds.LEAST)
    least = now.copy()
    least[moved] = np.maximum(committed, read.start_then[moved])
    return least


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


def _hold_back(read: Readings, held: Ints, now: Ints, lags: tuple[Ints, Ints, Ints]) -> Mask:
    """Open transactions end the log for readers of committed data.

    Who has committed beyond the stable end reads everything. Who stands at it has read all that it
    may see: these are returned. Of all others we do not know which of the two they are, unless a
    policy says it.
    """
    guess, low, high = lags
    stable = read.stable[held]
    readable, reaches = bounds.lag(stable, now[held]), now[held] <= stable
    guess[held] = np.where(reaches, np.minimum(guess[held], readable), guess[held])
    low[held] = np.where(reaches, np.minimum(low[held], readable), low[held])
    was_passed = ~read.has_commit[held] | (read.start[held] > read.commit[held])
    stands_at: Mask = (now[held] == stable) & ~was_passed
    high[held] = np.where(stands_at, 0, high[held])
    if read.reads_committed is not None:
        most = np.minimum(high[held], readable)
        high[held] = np.where(reaches & read.reads_committed[held], most, high[held])
    return stands_at


def _ages(
    read: Readings, lag: Ints, was_read: Mask, retention: Retention
) -> tuple[Singles, Singles, Singles, Bytes]:
    """Of the oldest unread record; if none is known, one may have come since the last round."""
    unread, known = lag > 0, lag >= 0
    low = np.where(unread, np.maximum(read.as_of_s - read.visible_s, 0), 0)
    # What is unread now and was not then has come since, also where nobody may read the rest.
    since_s = np.where(was_read, np.maximum(read.asked_s, read.not_yet_s), read.not_yet_s)
    high = np.maximum(read.as_of_s - since_s, 0)
    guess = np.clip(np.nan_to_num(read.as_of_s - read.perhaps_s, nan=-1.0), low, high)
    guess[~unread] = 0
    clocked = np.zeros(0, np.int64)
    if read.looked is not None:
        clocked = _by_clock(read, read.looked, unread, (guess, low, high))
    gaps = retention.is_compacted & unread  # the next record may be far beyond the commit
    low[gaps] = 0
    if read.committed is not None:  # it may just have become readable
        line, until = read.committed
        low[line[until <= read.commit[line]]] = 0
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


def _lack(read: Readings, age_high: Singles, retention: Retention) -> Bytes:
    bits = {
        Lack.NO_END: ~read.has_end | ~read.has_asked,
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
    line, consumed = _oldest(each, begin, count), _pace(each.consumed, begin)
    drain_low, drain_high = (
        drain_of_groups(until_s, each.lag, each.age_low_s, begin, consumed)
        for until_s in (each.drain_low_s, each.drain_high_s)
    )
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
        consumed=consumed,
        drain_low_s=drain_low,
        drain_high_s=np.maximum(drain_low, drain_high),
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
