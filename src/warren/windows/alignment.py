"""What each group had committed when log ends were asked for.

Where a group stood before retention passed it may be some rounds ago, and groups may commit many
times between two rounds. So a window also keeps what was newest when the last round began that has
a later commit, and the same of the round before.
"""

import numpy as np

from warren.model.arrays import Floats, Ints, Mask
from warren.windows.grid import Grid


def align(grid: Grid, row: Ints, offset: Ints, written_s: Floats, asked_s: Floats) -> None:
    """Note what was newest when rounds were asked for, before these commits are appended.

    They are sorted by row, in order of time in each, and all newer than what their window holds.
    """
    if not len(row):
        return
    is_head = np.concatenate([[True], row[1:] != row[:-1]])
    head = np.flatnonzero(is_head)
    rows = row[head]
    grid.written_s[rows] = written_s[np.append(head[1:], len(row)) - 1]
    if not len(asked_s):
        return
    had = np.searchsorted(asked_s, grid.aligned_s[rows], side="right")
    if (had == len(asked_s)).all():
        return
    line = np.cumsum(is_head) - 1
    # How many rounds had been asked for before each commit, or any before it in its row.
    width = len(asked_s) + 1
    rounds = np.maximum(_rounds_before(asked_s, written_s), had[line])
    rounds = np.maximum.accumulate(line * width + rounds) - line * width
    before = np.concatenate([rounds[:1], rounds[:-1]])
    before[head] = had
    was = np.concatenate([offset[:1], offset[:-1]])
    was[head] = np.where(grid.filled[rows] > 0, grid.offset[rows, -1], offset[head])
    first = np.flatnonzero(rounds > before)  # after a round was asked for
    _note(grid, row[first], was[first], asked_s[rounds[first] - 1])


def _rounds_before(asked_s: Floats, written_s: Floats) -> Ints:
    if written_s.min() > asked_s[-1]:
        return np.full(len(written_s), len(asked_s))
    return np.searchsorted(asked_s, written_s, side="left").astype(np.int64)


def _note(grid: Grid, row: Ints, was: Ints, asked_s: Floats) -> None:
    """Keep the last two of each row."""
    last = np.flatnonzero(np.diff(row, append=-1))
    rows = row[last]
    earlier = np.maximum(last - 1, 0)
    has_two = (last > 0) & (row[earlier] == rows)
    grid.before[rows] = np.where(has_two, was[earlier], grid.aligned[rows])
    grid.before_s[rows] = np.where(has_two, asked_s[earlier], grid.aligned_s[rows])
    grid.aligned[rows], grid.aligned_s[rows] = was[last], asked_s[last]


def newest_when_read(order: Ints, line: Ints, newest: Ints) -> Mask:
    """Which commits were newer than all before them, those of their window included.

    `line` numbers the rows of the commits in order, and `newest` is by line.
    """
    rank = np.unique(order, return_inverse=True)[1]
    key = line * (len(rank) + 1) + rank
    beyond = np.concatenate([[True], key[1:] > np.maximum.accumulate(key)[:-1]])
    is_newest: Mask = beyond & (order > newest[line])
    return is_newest
