"""How fast groups read, how fast retention takes, and what it took unread: noted once a round.

A group may commit many times a second or once in ten minutes. Its pace is the growth from one round
with a new commit to the next; the longer ago the last one, the more the new growth weighs. A group
that is silent for longer than it usually is has a pace that falls.
"""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask, Singles
from warren.model.numbers import UNKNOWN
from warren.model.window_arrays import ranges
from warren.windows.end_history import PACE_S, SLOW_PACE_S, EndRows, LogEnds, smoothed
from warren.windows.grid import Grid
from warren.windows.pairs import Pairs

MS = 1000
START_PACE_S = 3_600.0  # retention takes a segment at a time
PATIENCE_S = 60.0  # a group may always be silent for this long
USUAL_PAUSES = 3


class LinePaces(NamedTuple):
    start_pace: Singles  # records a second that retention takes; NaN: unknown
    lost: Ints  # or UNKNOWN
    produced_fast: Singles
    produced_slow: Singles
    consumed_fast: Singles
    consumed_slow: Singles


class Paces:
    """Reads and writes the paces in the rows of windows and of log ends."""

    def __init__(self, grid: Grid, pairs: Pairs, ends: LogEnds) -> None:
        self._grid = grid
        self._pairs = pairs
        self._ends = ends

    def note(self, now_s: float) -> None:
        """A round of log ends has been read."""
        pairs, grid = self._pairs, self._grid
        every = pairs.in_order()
        count = pairs.blocks.count[every]
        rows = ranges(pairs.blocks.base[every], count)
        end_rows = ranges(self._ends.blocks.base[pairs.topic[every]], count)
        _note_starts(self._ends.rows, now_s)
        held = grid.filled[rows] > 0
        _note_commits(grid, rows[held & (grid.last_ms[rows] != grid.paced_ms[rows])])
        _note_losses(grid, self._ends.rows, rows[held], end_rows[held])

    def of_lines(self, rows: slice | Ints, end_rows: slice | Ints, as_of_s: Floats) -> LinePaces:
        ends, grid = self._ends.rows, self._grid
        known = ends.filled[end_rows] > 0
        nan = np.float32(np.nan)
        has_window = grid.filled[rows] > 0
        fast = np.where(has_window, grid.pace[rows], nan)
        slow = np.where(has_window, grid.slow_pace[rows], nan)
        number = np.arange(grid.size)[rows] if isinstance(rows, slice) else rows
        new = np.flatnonzero((grid.paced_ms[rows] == 0) & has_window)
        fast[new] = slow[new] = _window_pace(grid, number[new])
        silent_s = as_of_s - grid.last_ms[rows] / MS
        silent = np.flatnonzero((silent_s > PATIENCE_S) & has_window)
        quiet_s = _unusual_silence_s(grid, number[silent], silent_s[silent])
        fast[silent] *= np.exp(-quiet_s / PACE_S)
        slow[silent] *= np.exp(-quiet_s / SLOW_PACE_S)
        return LinePaces(
            np.where(ends.start_changed_s[end_rows] > 0, ends.start_pace[end_rows], nan),
            np.where(ends.has_start[end_rows], grid.lost[rows], UNKNOWN),
            np.where(known, ends.rate[end_rows], nan),
            np.where(known, ends.slow_rate[end_rows], nan),
            fast,
            slow,
        )


def _note_starts(ends: EndRows, now_s: float) -> None:
    size = ends.size
    was, changed_s = ends.start_was[:size], ends.start_changed_s[:size]
    rows = np.flatnonzero(ends.has_start[:size] & ((ends.start[:size] != was) | (changed_s == 0)))
    start, took_s = ends.start[rows], now_s - changed_s[rows]
    is_new = (changed_s[rows] == 0) | (start < was[rows])
    later = ~is_new & (took_s > 0)
    grown = np.full(len(rows), np.nan)
    grown[later] = bounds.minus(start, was[rows])[later] / took_s[later]
    paces = smoothed(ends.start_pace[rows], grown, took_s, START_PACE_S)
    ends.start_pace[rows] = np.where(is_new, np.nan, paces)
    ends.start_was[rows], ends.start_changed_s[rows] = start, now_s


def _note_commits(grid: Grid, rows: Ints) -> None:
    """Update the paces of rows that have committed since the last round."""
    offset, last_ms = grid.offset[rows, -1], grid.last_ms[rows]
    is_new = grid.paced_ms[rows] == 0
    took_s = bounds.minus(last_ms, grid.paced_ms[rows]) / MS
    later = ~is_new & (took_s > 0)
    grown = np.full(len(rows), np.nan)
    grown[later] = bounds.lag(offset[later], grid.paced_offset[rows[later]]) / took_s[later]
    for column, over_s in ((grid.pace, PACE_S), (grid.slow_pace, SLOW_PACE_S)):
        column[rows[later]] = smoothed(column[rows[later]], grown[later], took_s[later], over_s)
        column[rows[is_new]] = _window_pace(grid, rows[is_new])
    grid.paced_offset[rows], grid.paced_ms[rows] = offset, last_ms


def _window_pace(grid: Grid, rows: Ints) -> Singles:
    """From the first to the last commit of a window; unknown with fewer than two."""
    took_s = bounds.minus(grid.last_ms[rows], grid.committed_ms[rows, 0]) / MS
    grown = bounds.lag(grid.offset[rows, -1], grid.offset[rows, 0])
    known = (grid.filled[rows] > 1) & (took_s > 0)
    return np.where(known, grown / np.where(known, took_s, 1), np.nan).astype(np.float32)


def _unusual_silence_s(grid: Grid, rows: Ints, silent_s: Floats) -> Floats:
    """For how long a group has been silent beyond what is usual for it."""
    pause_s = bounds.minus(grid.last_ms[rows], grid.committed_ms[rows, 0]) / MS
    pause_s /= np.maximum(grid.filled[rows].astype(np.int64) - 1, 1)
    return np.maximum(silent_s - np.maximum(USUAL_PAUSES * pause_s, PATIENCE_S), 0)


def _note_losses(grid: Grid, ends: EndRows, rows: Ints, end_rows: Ints) -> None:
    """Count the records that the log start has passed since the last round, beyond each commit."""
    start = ends.start[end_rows]
    passed: Mask = ends.has_start[end_rows] & (start > grid.lost_to[rows])
    rows, start = rows[passed], start[passed]
    since = np.maximum(grid.offset[rows, -1], grid.lost_to[rows])
    more = bounds.lag(start, since)
    grid.lost[rows] += np.minimum(more, bounds.MOST - grid.lost[rows])
    grid.lost_to[rows] = start
