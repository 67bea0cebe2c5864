"""What retention took before a group had committed it.

Log starts are read now and then, so a start has moved somewhen between two readings. A group that
stands before it when the later one was answered has lost what lies between. One that is beyond it
has either read that, or was sent to the new start when its offset was gone. The latter is counted
only where it is certain: where the group came to the new start from farther than it, or the
producers, can have got in that time.
"""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask
from warren.model.probe_answers import Known
from warren.model.window_arrays import WindowArrays
from warren.windows.end_history import EndRows
from warren.windows.grid import Grid
from warren.windows.windows import Windows

MS = 1000
FASTER = 3  # than usual, and nobody reads so fast
FEWEST = 2  # steps that tell what is usual
BEFORE_WINDOW = 2  # commits that are known besides the window's


def note_losses(windows: Windows, view: WindowArrays) -> None:
    """Count what starts that have moved passed, of groups that are read up to these readings."""
    ends, grid = windows.ends.rows, windows.grid
    if not ends.has_moved_starts or not len(view.groups):
        return
    moment_s = np.repeat(view.as_of_s, np.add.reduceat(view.pair_count, view.group_pair))
    rows, end_rows = view.rows, view.end_row
    passed = ends.has_start[end_rows] & (grid.filled[rows] > 0)
    passed &= ends.start[end_rows] > grid.lost_to[rows]
    is_read: Mask = ends.start_s[end_rows] <= moment_s
    ends.has_moved_starts = bool((passed & ~is_read).any())
    some = np.flatnonzero(passed & is_read)
    _count(grid, ends, rows[some], end_rows[some])


def _count(grid: Grid, ends: EndRows, rows: Ints, end_rows: Ints) -> None:
    start = ends.start[end_rows]
    stood: Ints = grid.offset[rows, -1].copy()
    beyond = np.flatnonzero(stood >= start)
    if len(beyond):
        produced = np.fmax(ends.rate[end_rows[beyond]], ends.slow_rate[end_rows[beyond]])
        past = _Past.of(grid, rows[beyond])
        came_from = _came_from(past, start[beyond], np.nan_to_num(produced).astype(np.float64))
        stood[beyond] = np.minimum(stood[beyond], came_from)
    nobody_reads = (grid.probed[rows] & np.uint8(Known.READ)) > 0
    nobody_reads &= grid.probed_offset[rows] <= stood
    np.maximum(stood, grid.readable[rows], out=stood, where=nobody_reads)
    more = bounds.lag(start, np.maximum(stood, grid.lost_to[rows]))
    grid.lost[rows] += np.minimum(more, bounds.MOST - grid.lost[rows])
    grid.lost_to[rows] = start


class _Past(NamedTuple):
    """What some rows have committed, oldest first; where nothing is known the next is repeated."""

    offset: Ints
    at_s: Floats
    filled: Ints  # how many of these are commits of the window

    @classmethod
    def of(cls, grid: Grid, rows: Ints) -> "_Past":
        """The commits when the last two rounds began, and then those of the window."""
        offset, at_s = grid.offset[rows], grid.committed_ms[rows] / MS
        for was, was_s in ((grid.aligned, grid.aligned_s), (grid.before, grid.before_s)):
            earlier_s = was_s[rows]
            is_earlier = (earlier_s > 0) & (earlier_s < at_s[:, 0])
            at_s = np.column_stack([np.where(is_earlier, earlier_s, at_s[:, 0]), at_s])
            offset = np.column_stack([np.where(is_earlier, was[rows], offset[:, 0]), offset])
        return cls(offset, at_s, grid.filled[rows].astype(np.int64))


def _came_from(past: _Past, start: Ints, produced: Floats) -> Ints:
    """Where each group stood before it was sent to its new log start; MOST: it may have read on."""
    line, last = np.arange(len(start)), past.offset.shape[1] - 1
    at = last - (past.offset < start[:, None])[:, ::-1].argmax(axis=1)  # the last before the start
    passed = past.offset[line, at] < start
    at = np.minimum(at, last - 1)
    step, took_s = (
        column[line, at + 1].astype(np.float64) - column[line, at]
        for column in (past.offset, past.at_s)
    )
    # The other steps of the window tell what is usual.
    is_inside = at >= BEFORE_WINDOW
    steps = past.filled - 1 - is_inside
    grown = np.maximum(np.diff(past.offset[:, BEFORE_WINDOW:].astype(np.float64)), 0).sum(axis=1)
    lasted_s = past.at_s[:, -1] - past.at_s[:, BEFORE_WINDOW] - np.where(is_inside, took_s, 0)
    grown -= np.where(is_inside, step, 0)
    pace = np.maximum(grown / np.maximum(lasted_s, 1 / MS), produced)
    reach = FASTER * (pace * np.maximum(took_s, 0) + grown / np.maximum(steps, 1))
    beyond = past.offset[line, at + 1] - start.astype(np.float64)
    was_sent = passed & (steps >= FEWEST) & (step > reach) & (beyond <= reach)
    return np.where(was_sent, past.offset[line, at], bounds.MOST)
