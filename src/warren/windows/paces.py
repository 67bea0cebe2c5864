"""How fast groups read, and how fast retention takes: noted once a round.

A group may commit many times a second or once in ten minutes. Its pace is the growth from one round
with a new commit to the next; the longer ago the last one, the more the new growth weighs. The
paces of a group that is silent for longer than it usually is fall within a minute or two.

A log start moves by a segment at a time, or when somebody deletes records. From one move to the
next it has a pace, which falls when it stands for longer than it usually does.
"""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Singles
from warren.model.memory import regular
from warren.model.numbers import UNKNOWN
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
    pause_s: Singles  # usual from one commit to the next, and the longest regular pause


class Paces:
    """Reads and writes the paces in the rows of windows and of log ends."""

    def __init__(self, grid: Grid, pairs: Pairs, ends: LogEnds) -> None:
        self._grid = grid
        self._pairs = pairs
        self._ends = ends

    def note(self, now_s: float) -> None:
        """A round of log ends has been read."""
        pairs, grid = self._pairs, self._grid
        rows = pairs.blocks.rows_of(pairs.in_order())
        _note_starts(self._ends.rows, now_s)
        _note_commits(
            grid, rows[(grid.filled[rows] > 0) & (grid.last_ms[rows] != grid.paced_ms[rows])]
        )

    def of_lines(self, rows: slice | Ints, end_rows: slice | Ints, as_of_s: Floats) -> LinePaces:
        ends, grid = self._ends.rows, self._grid
        known = ends.filled[end_rows] > 0
        nan = np.float32(np.nan)
        has_window = grid.filled[rows] > 0
        fast = np.where(has_window, grid.pace[rows], nan)
        slow = np.where(has_window, grid.slow_pace[rows], nan)
        number = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        new = np.flatnonzero((grid.paced_ms[rows] == 0) & has_window)
        fast[new] = slow[new] = _window_pace(grid, number[new])
        silent_s = as_of_s - grid.last_ms[rows] / MS
        pause_s = _usual_pause_s(grid, rows)
        silent = np.flatnonzero((silent_s > PATIENCE_S) & has_window)
        pause_s[silent] = np.maximum(pause_s[silent], regular(grid.past.pauses[number[silent]]))
        quiet_s = _unusual_s(silent_s[silent], pause_s[silent])
        for pace in (fast, slow):  # what it read before it fell silent will not go on
            pace[silent] *= np.exp(-quiet_s / PACE_S)
        return LinePaces(
            _start_pace(ends, end_rows, as_of_s),
            np.where(ends.has_start[end_rows], grid.lost[rows], UNKNOWN),
            np.where(known, ends.rate[end_rows], nan),
            np.where(known, ends.slow_rate[end_rows], nan),
            fast,
            slow,
            pause_s,
        )


def _start_pace(ends: EndRows, rows: slice | Ints, as_of_s: Floats) -> Singles:
    changed_s = ends.start_changed_s[rows]
    pace = np.where(changed_s > 0, ends.start_pace[rows], np.float32(np.nan))
    moves = np.flatnonzero(pace > 0)
    every_s, stands_s = ends.start_every_s[rows][moves], (as_of_s - changed_s)[moves]
    pace[moves] *= np.exp(-_unusual_s(stands_s, every_s) / START_PACE_S)
    return pace


def _note_starts(ends: EndRows, now_s: float) -> None:
    size = ends.size
    was, changed_s = ends.start_was[:size], ends.start_changed_s[:size]
    rows = np.flatnonzero(ends.has_start[:size] & ((ends.start[:size] != was) | (changed_s == 0)))
    start, took_s, every_s = ends.start[rows], now_s - changed_s[rows], ends.start_every_s[rows]
    is_new = (changed_s[rows] == 0) | (start < was[rows])
    # From when it was seen for the first time to when it moves tells of no pace.
    again = ~is_new & (every_s != 0) & (took_s > 0)
    pace, moved, took_s = np.full(len(rows), np.nan), rows[again], took_s[again]
    grown = bounds.minus(start[again], was[moved]) / took_s
    pace[again] = smoothed(ends.start_pace[moved], grown, took_s, START_PACE_S)
    every_s[again] = smoothed(every_s[again], took_s, took_s, START_PACE_S)
    every_s[~again] = np.where(is_new, 0, np.nan)[~again]
    ends.start_pace[rows], ends.start_every_s[rows] = pace, every_s
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


def _usual_pause_s(grid: Grid, rows: slice | Ints) -> Singles:
    """From one commit of a window to the next."""
    took_ms = (grid.last_ms[rows] - grid.committed_ms[rows, 0]).astype(np.float32)
    pauses = np.maximum(grid.filled[rows], 2).astype(np.float32) - 1
    usual_s: Singles = took_ms / (MS * pauses)
    return usual_s


def _unusual_s(silent_s: Floats, pause_s: Singles) -> Floats:
    """For how long something has been silent beyond what is usual for it."""
    usual_s = np.maximum(USUAL_PAUSES * pause_s, PATIENCE_S)
    seconds: Floats = np.maximum(silent_s - usual_s, 0)
    return seconds
