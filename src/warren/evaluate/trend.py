"""Whether a group falls behind: over minutes, whatever single commits say.

It does if it is later and later: at each commit the oldest unread record is older than before. Its
lag alone does not tell, for that rises with the traffic, though the group may always be as late.
Its lateness alone does not tell either, for that rises while a burst is read. So both have to rise.

Single commits lie. Log ends are read now and then, and groups read in runs, so both go up and down.
The least of a *bucket* of a minute or two does not show the first saw-tooth. The least of a *span*,
some buckets that end where a pause ends, does not show the second.
"""

from typing import NamedTuple, Self

import numpy as np

from warren.model.arrays import AnyArray, Ints, Mask, Singles, UInts
from warren.model.memory import BUCKETS, Memory, Past

BUCKET_S = 75.0  # at least; eight of them are ten minutes
READINGS = 2  # of the log ends, in a bucket
OF_SPAN = 4  # buckets, at least
RUNS = 3  # of the least spans: who has not paused for so long does not read in runs
FEWEST, FEWEST_SPANS = 5, 4
SHORTEST_S = 480.0  # of a trend
STEADY = 0.7  # of the steps go one way
BACK = 0.25  # of all that was gained, at most, is lost again in between
LARGEST = 0.6  # of it, that a single step may be: a pause, or a burst, is no trend
GROWS = 2.0  # times as late in the end, unless it never fell in between
NOISE = 0.5  # of what is not known of the lateness: rises below are not seen
UNEVEN, GAPS = 2.0, 1.5  # times as much as gaps between commits differ, or are: likewise
MATTERS_S = 60.0  # less late than this is nothing to say
OVER_S = 30.0  # and less than this ends it
DRAINS = 0.25  # of the greatest, that it has caught up with in a steady fall
DRAINED = 0.5  # or at any pace, from span to span


class Seen(NamedTuple):
    """What the newest commit of each line tells; `woke` are the places where it ended a pause."""

    row: Ints  # in the past
    lag: Singles
    late_s: Singles
    as_of_s: UInts
    woke: Ints


class Lows(NamedTuple):
    """The least of what was seen in each bucket, or span, that is over; the oldest first."""

    lag: Singles
    late_s: Singles
    ended_s: UInts  # 0: there was none

    @classmethod
    def of_buckets(cls, past: Past, rows: Ints) -> Self:
        return cls(past.bucket_lags[rows], past.bucket_lates[rows], past.buckets_s[rows])

    @classmethod
    def of_spans(cls, past: Past, rows: Ints) -> Self:
        return cls(past.span_lags[rows], past.span_lates[rows], past.spans_s[rows])


def length_s(between_readings_s: float) -> float:
    """Of a bucket, at least."""
    return max(BUCKET_S, READINGS * between_readings_s)


def note(memory: Memory, past: Past, moved: Mask, seen: Seen, least_s: float) -> Ints:
    """Put what was seen of the lines that moved into their open buckets; in place.

    A bucket lasts for `least_s`. Returns the places whose bucket has ended.
    """
    span_s = OF_SPAN * least_s
    # The commit that ends a pause belongs to what comes after it.
    woke = seen.woke[memory.opened_s[seen.woke] > 0]
    woke = woke[_passed(seen.as_of_s[woke], memory.span_s[woke]) >= span_s]
    _end_buckets(memory, past, woke, seen)
    _end_spans(memory, past, woke, seen)
    is_open = moved & (memory.opened_s > 0)
    np.minimum(memory.bucket_lag, seen.lag, out=memory.bucket_lag, where=is_open)
    np.minimum(memory.bucket_late, seen.late_s, out=memory.bucket_late, where=is_open)
    full = np.flatnonzero(is_open & (seen.as_of_s - memory.opened_s >= np.uint32(least_s)))
    _open(memory, np.flatnonzero(moved & ~is_open), seen)
    _end_buckets(memory, past, full, seen)
    is_long = _passed(seen.as_of_s[full], memory.span_s[full]) >= span_s
    is_even = _passed(seen.as_of_s[full], memory.rested_s[full]) > RUNS * span_s
    _end_spans(memory, past, full[is_long & is_even], seen)
    return np.concatenate([woke, full])


def _passed(now_s: UInts, since_s: UInts) -> UInts:
    """Seconds. A clock that was set back makes them huge, which ends everything."""
    passed: UInts = now_s - since_s
    return passed


def _open(memory: Memory, at: Ints, seen: Seen) -> None:
    """The first bucket of these, and the first span."""
    _begin(memory, at, seen)
    _begin_span(memory, at, seen)


def _begin(memory: Memory, at: Ints, seen: Seen) -> None:
    memory.bucket_lag[at], memory.bucket_late[at] = seen.lag[at], seen.late_s[at]
    memory.opened_s[at] = seen.as_of_s[at]


def _begin_span(memory: Memory, at: Ints, seen: Seen) -> None:
    memory.span_lag[at] = memory.span_late[at] = np.inf
    memory.span_s[at] = seen.as_of_s[at]


def _end_buckets(memory: Memory, past: Past, at: Ints, seen: Seen) -> None:
    rows, lag, late_s = seen.row[at], memory.bucket_lag[at], memory.bucket_late[at]
    past.bucket_lags[rows] = _with(past.bucket_lags[rows], lag)
    past.bucket_lates[rows] = _with(past.bucket_lates[rows], late_s)
    past.buckets_s[rows] = _with(past.buckets_s[rows], seen.as_of_s[at])
    memory.span_lag[at] = np.minimum(memory.span_lag[at], lag)
    memory.span_late[at] = np.minimum(memory.span_late[at], late_s)
    _begin(memory, at, seen)


def _end_spans(memory: Memory, past: Past, at: Ints, seen: Seen) -> None:
    rows = seen.row[at]
    past.span_lags[rows] = _with(past.span_lags[rows], memory.span_lag[at])
    past.span_lates[rows] = _with(past.span_lates[rows], memory.span_late[at])
    past.spans_s[rows] = _with(past.spans_s[rows], seen.as_of_s[at])
    _begin_span(memory, at, seen)


def _with(column: AnyArray, newest: AnyArray) -> AnyArray:
    return np.concatenate([column[:, 1:], newest[:, None]], axis=1)


class Doubts(NamedTuple):
    """What makes lateness go up and down though nothing is wrong."""

    unsure_s: Singles  # by how much it may be wrong
    gap_s: Singles  # usual, between two commits
    uneven_s: Singles  # between the longest and the shortest of these gaps


def is_rising(past: Past, rows: Ints, doubts: Doubts) -> Mask:
    """Later and later, by more than chance explains.

    A bucket may see a single commit, which is as late as the gap before it is long. A span sees the
    best of some, which is seldom worse than the usual.
    """
    noise_s = np.float32(NOISE) * doubts.unsure_s
    of_bucket_s = noise_s + np.float32(UNEVEN) * doubts.uneven_s
    of_span_s = noise_s + np.float32(GAPS) * doubts.gap_s
    of_buckets = _rises(Lows.of_buckets(past, rows), FEWEST, of_bucket_s)
    return of_buckets | _rises(Lows.of_spans(past, rows), FEWEST_SPANS, of_span_s)


def _rises(lows: Lows, fewest: int, noise_s: Singles) -> Mask:
    """Later and later nearly all the time, and more and more to read."""
    there = lows.ended_s > 0
    lines, (count, width) = np.arange(len(there)), (there.sum(axis=1), there.shape[1])
    first = np.minimum(width - count, width - 1)
    late, lag = _Steps.of(lows.late_s, there), _Steps.of(lows.lag, there)
    was_s, late_s = lows.late_s[lines, first], lows.late_s[:, -1]
    grows = (late_s >= GROWS * was_s) | ((count == width) & (late.lost == 0))
    took_s = lows.ended_s[:, -1].astype(np.int64) - lows.ended_s[lines, first]
    is_long = (count >= fewest) & (took_s >= SHORTEST_S)
    mask: Mask = (
        is_long & late.go_up() & late.are_even(count) & grows & (late_s - was_s > noise_s)
    ) & lag.go_up()
    return mask


class _Steps(NamedTuple):
    """From each low to the next one."""

    step: Singles
    gained: Singles
    lost: Singles

    @classmethod
    def of(cls, values: Singles, there: Mask) -> Self:
        step = np.where(there[:, :-1], np.diff(values, axis=1), 0)
        return cls(step, np.maximum(step, 0).sum(axis=1), np.maximum(-step, 0).sum(axis=1))

    def go_up(self) -> Mask:
        """Nothing much is lost again, and lately nothing."""
        lately = (self.step[:, -3:] > 0).sum(axis=1) >= 2
        mask: Mask = lately & (self.lost <= BACK * self.gained)
        return mask

    def are_even(self, count: Ints) -> Mask:
        """Most go up, and no single one makes the most of it."""
        most = (self.step > 0).sum(axis=1) >= STEADY * np.maximum(count - 1, 1)
        mask: Mask = most & (self.step.max(axis=1) <= LARGEST * self.gained)
        return mask


class Least(NamedTuple):
    late_s: Singles
    ended_s: UInts  # 0: nothing is remembered


def least(past: Past, rows: Ints) -> Least:
    """When it was least late, of what is remembered."""
    buckets, spans = Lows.of_buckets(past, rows), Lows.of_spans(past, rows)
    late_s = np.concatenate([spans.late_s, buckets.late_s], axis=1)
    ended_s = np.concatenate([spans.ended_s, buckets.ended_s], axis=1)
    place = np.where(ended_s > 0, late_s, np.inf).argmin(axis=1)
    lines = np.arange(len(rows))
    return Least(late_s[lines, place], ended_s[lines, place])


def is_over(past: Past, rows: Ints, has_paused: Mask) -> Mask:
    """It has caught up for some minutes.

    Who `has_paused` lately goes up and down from bucket to bucket, and only spans tell.
    """
    buckets, spans = Lows.of_buckets(past, rows), Lows.of_spans(past, rows)
    mask: Mask = _falls(spans) | _is_drained(spans) | (_falls(buckets) & ~has_paused)
    return mask


def _falls(lows: Lows) -> Mask:
    """Less and less late, or less and less to read."""
    there = lows.ended_s > 0
    count, mask = there.sum(axis=1), np.zeros(len(there), np.bool_)
    for values in (lows.lag, lows.late_s):
        down = _Steps.of(-values, there)
        has_drained = values[:, -1] < (1 - DRAINS) * values.max(axis=1)
        mask |= has_drained & down.go_up() & down.are_even(count)
    mask &= count == there.shape[1]
    return mask


def _is_drained(lows: Lows) -> Mask:
    mask: Mask = (lows.lag[:, -1] < DRAINED * lows.lag.max(axis=1)) | (
        lows.late_s[:, -1] < DRAINED * lows.late_s.max(axis=1)
    )
    return mask


def has_paused(memory: Memory, at: Ints, as_of_s: UInts, between_readings_s: float) -> Mask:
    """In the time that the buckets remember."""
    mask: Mask = _passed(as_of_s, memory.rested_s[at]) <= BUCKETS * length_s(between_readings_s)
    return mask
