"""Whether a group falls behind: over minutes, whatever single commits say.

Lags at single commits lie: log ends are read now and then, so a lag falls from commit to commit and
jumps at the next reading; and a group that commits every ten minutes has ten minutes' records of
lag before each commit. The least lag of a minute or two has neither of these saw-teeth. A group
falls behind when these least lags rise nearly all the time, for about ten minutes or eight commits.
"""

import numpy as np

from warren.model.arrays import Ints, Mask, Singles, UInts
from warren.model.memory import LOWS, Memory, Past

BUCKET_S = 75.0  # at least; eight of them are ten minutes
READINGS = 2  # of the log ends, in a bucket
PERIODS = np.float32(0.75)  # of a group that works in runs
FEWEST = 5  # buckets, of groups that commit more rarely than that
SHORTEST_S = 480.0  # of a trend
RISING = 0.7  # of the steps
FALLS = 0.25  # of all rises, that may be lost again in between
NOISE = 0.5  # of the records between two readings: rises below are not seen
MATTERS_S = 60.0  # less late than this is nothing to say
OVER_S = 30.0  # and less than this ends it
DRAINED = 0.85  # of the greatest lag: it is catching up


def note_lags(memory: Memory, came: Mask, lag: Singles, now_s: UInts, length_s: Singles) -> Ints:
    """Put the lag at the newest commit into the open bucket of each line that it came to; in place.

    Returns the places whose bucket is full.
    """
    is_open = came & (memory.opened_s > 0)
    opens = came & ~is_open
    np.minimum(memory.low, lag, out=memory.low, where=is_open)
    np.copyto(memory.low, lag, where=opens)
    np.copyto(memory.opened_s, now_s, where=opens)
    # A clock that was set back makes this huge, which closes the bucket as well.
    full: Ints = np.flatnonzero(is_open & (now_s - memory.opened_s >= length_s.astype(np.uint32)))
    return full


def keep_low(memory: Memory, past: Past, full: Ints, rows: Ints, lag: Singles) -> None:
    """Keep the least lags of the buckets at the places `full`, which are these rows of the past."""
    past.lows[rows] = np.concatenate([past.lows[rows, 1:], memory.low[full, None]], axis=1)
    memory.low[full] = lag


def keep_time(memory: Memory, past: Past, full: Ints, rows: Ints, now_s: UInts) -> None:
    """Note when they were closed, and open the next ones."""
    past.lows_s[rows] = np.concatenate([past.lows_s[rows, 1:], now_s[:, None]], axis=1)
    memory.opened_s[full] = now_s


def length_s(between_readings_s: float, period_s: Singles) -> Singles:
    """Of a bucket: as long as most of a period, so that each has seen the end of a run."""
    least_s = np.float32(max(BUCKET_S, READINGS * between_readings_s))
    length: Singles = np.maximum(PERIODS * period_s, least_s)
    return length


def is_rising(past: Past, rows: Ints, noise: Singles) -> Mask:
    """The least lags rise nearly all the time, and the last is the greatest."""
    lows, lows_s = past.lows[rows], past.lows_s[rows]
    there = lows_s > 0
    count = there.sum(axis=1)
    first = np.minimum(LOWS - count, LOWS - 1)
    lines = np.arange(len(rows))
    step = np.where(there[:, :-1], np.diff(lows, axis=1), 0)
    rises, falls = np.maximum(step, 0).sum(axis=1), np.maximum(-step, 0).sum(axis=1)
    steady = (step > 0).sum(axis=1) >= RISING * np.maximum(count - 1, 1)
    lately = (step[:, -3:] > 0).sum(axis=1) >= 2
    total = lows[:, -1] - lows[lines, first]
    took_s = lows_s[:, -1].astype(np.int64) - lows_s[lines, first]
    is_long = (count >= FEWEST) & (took_s >= SHORTEST_S)
    mask: Mask = (
        is_long
        & steady
        & lately
        & (falls <= FALLS * rises)
        & (total > noise)
        & (step.max(axis=1) <= 0.6 * rises)
    )
    return mask


def is_over(past: Past, rows: Ints) -> Mask:
    """It has caught up for some minutes: the last lags are well below the greatest, and falling."""
    lows = past.lows[rows]
    falls = (np.diff(lows[:, -4:], axis=1) < 0).all(axis=1)
    mask: Mask = (lows[:, -1] < DRAINED * lows.max(axis=1)) | falls
    return mask
