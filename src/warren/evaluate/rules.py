"""Burrow's rules: arrays in, a boolean for each window out. The docstring of each is the rule.

A grid has a line for each window, its commits oldest first; the oldest commit fills free places.
A negative `lag` is unknown: the commit was back-filled. The first rule that holds decides, in the
order of `Rule`.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.model import bounds
from warren.model.arrays import Bytes, Ints, Mask

Grid = npt.NDArray[np.int64]


class Rule(IntEnum):
    """The rule that decided a partition's status."""

    NOT_JUDGED = 0  # no window, or one below minimum-complete: OK
    CAUGHT_UP = 1  # OK
    STOPPED = 2  # STOP
    REWOUND = 3  # REWIND
    WAS_CAUGHT_UP = 4  # OK
    STALLED = 5  # STALL
    FALLING_BEHIND = 6  # WARN
    CATCHING_UP = 7  # OK
    QUERY_GONE = 8  # STOP; Warren's own, of programs that say that they ended: before all but OK


class Evidence(NamedTuple):
    """Windows with at least one commit, and the log ends that go with them."""

    offset: Grid
    committed_ms: Grid  # only the first and the last matter
    lag: Grid
    current_lag: Ints
    lowest_end: Ints  # of the log ends we remember
    had_stopped: Mask  # at the last verdict, and no commit came since


def decide(evidence: Evidence, allowed_lag: int, now_ms: int | Ints) -> Bytes:
    """The first rule that holds for each window; `now_ms` may differ by window."""
    offset, committed_ms, lag, current_lag, lowest_end, had_stopped = evidence
    at_the_end = was_at_the_end(offset, lowest_end)
    holds = {
        Rule.CAUGHT_UP: is_caught_up(current_lag, allowed_lag),
        # Only a commit ends the silence, not a clock that was set back.
        Rule.STOPPED: (has_stopped(committed_ms, now_ms) | had_stopped) & ~at_the_end,
        Rule.REWOUND: has_rewound(offset),
        Rule.WAS_CAUGHT_UP: was_caught_up(lag, allowed_lag),
        Rule.STALLED: has_stalled(offset),
        Rule.FALLING_BEHIND: is_falling_behind(lag),
    }
    return np.select([*holds.values()], [np.uint8(rule) for rule in holds], Rule.CATCHING_UP)


def is_caught_up(current_lag: Ints, allowed_lag: int) -> Mask:
    """The lag now is no more than allowed."""
    return current_lag <= allowed_lag


def has_stopped(committed_ms: Grid, now_ms: int | Ints) -> Mask:
    """The silence since the last commit is longer than the whole window."""
    first, last = committed_ms[:, 0], committed_ms[:, -1]
    return bounds.minus(now_ms, last) > bounds.minus(last, first)


def was_at_the_end(offset: Grid, lowest_end: Ints) -> Mask:
    """The last commit reached a log end that we remember: it was at the end not long ago.

    Such a consumer is silent because it had nothing to read, not because it stopped.
    """
    return lowest_end <= offset[:, -1]


def has_rewound(offset: Grid) -> Mask:
    """An offset is lower than the one before, and no later commit gets back to that one."""
    goes_back = offset[:, 1:] < offset[:, :-1]
    rewound = _any(goes_back)
    some = np.flatnonzero(rewound)
    if len(some):
        before = goes_back[some].argmax(axis=1)[:, None]
        height = np.take_along_axis(offset[some], before, axis=1)
        later = np.arange(offset.shape[1]) > before
        rewound[some] = ~_any((offset[some] >= height) & later)
    return rewound


def was_caught_up(lag: Grid, allowed_lag: int) -> Mask:
    """Some known lag in the window is no more than allowed."""
    return _any((lag >= 0) & (lag <= allowed_lag))


def has_stalled(offset: Grid) -> Mask:
    """All offsets are equal; this includes a single commit."""
    return ~_any(offset != offset[:, :1])


def is_falling_behind(lag: Grid) -> Mask:
    """The known lags never shrink from one commit to the next."""
    grows = ~_any(lag[:, 1:] < lag[:, :-1])
    gaps = np.flatnonzero(_any(lag < 0))
    if len(gaps):
        some = lag[gaps]
        greatest = np.maximum.accumulate(some, axis=1)
        grows[gaps] = ~_any((some >= 0) & (some < greatest))
    return grows


def _any(conditions: Mask) -> Mask:
    """Whether a condition holds anywhere in the line."""
    return np.asarray(conditions.any(axis=1))
