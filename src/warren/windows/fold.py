"""Folds a whole batch of commits into windows, with the same result as one at a time.

Burrow folds one commit at a time: find the place by order, drop duplicates, merge a commit that is
too close to the one before. Three facts let us do it with arrays:

- A commit beyond the newest is appended. Nearly all are, and several appends are one shift.
- Without a merge, a window is simply the `intervals` greatest orders ever seen.
- The newest order only grows, so a running maximum tells whether a commit was beyond the newest
  when it came, and thus has a lag.

Only late commits that may also merge are folded one by one (`fold_one_by_one`).
"""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask
from warren.model.window_arrays import ranges
from warren.windows import alignment, fold_one_by_one
from warren.windows.grid import CHUNK, NO_LAG, Grid, push


class Commits(NamedTuple):
    """Columns of commits; they get this `lag` if they are beyond the newest."""

    row: Ints
    offset: Ints
    order: Ints
    committed_ms: Ints
    lag: Ints
    observed_s: Ints

    def take(self, which: Ints | Mask | slice) -> "Commits":
        return Commits(*(column[which] for column in self))


class Rounds(NamedTuple):
    """When rounds of log ends were asked for, and when each commit was written."""

    asked_s: Floats
    written_s: Floats


def fold(grid: Grid, commits: Commits, min_distance_ms: int, rounds: Rounds | None = None) -> None:
    """Fold commits, in the order they came, into their rows."""
    if not len(commits.row):
        return
    by_row = _by_row(commits.row)
    commits = commits.take(by_row)
    head = _heads(commits.row)
    rows = commits.row[head]
    grid.stopped[rows] = False
    before = np.concatenate([commits.order[:1], commits.order[:-1]])
    before[head] = grid.order[rows, -1]
    late = commits.order <= before
    late[head] &= grid.filled[rows] > 0
    if rounds:
        written_s = rounds.written_s[by_row]
        _align(grid, commits, rounds._replace(written_s=written_s), has_late=bool(late.any()))
    if late.any():
        has_late = np.logical_or.reduceat(late, head)
        in_late = np.repeat(has_late, _counts(head, len(late)))
        _fold_late(grid, commits.take(in_late), min_distance_ms)
        commits = commits.take(~in_late)
        if not len(commits.row):
            return
        head = _heads(commits.row)
        rows = commits.row[head]
    newest_ms = np.maximum.reduceat(commits.committed_ms, head)
    grid.last_ms[rows] = np.maximum(grid.last_ms[rows], newest_ms)
    _append(grid, _merged(grid, commits, head, min_distance_ms))


def _align(grid: Grid, commits: Commits, rounds: Rounds, *, has_late: bool) -> None:
    row, offset, written_s = commits.row, commits.offset, rounds.written_s
    if has_late:
        head = _heads(row)
        rows = row[head]
        newest = np.where(grid.filled[rows] > 0, grid.order[rows, -1], bounds.LEAST)
        line = np.repeat(np.arange(len(head)), _counts(head, len(row)))
        some = alignment.newest_when_read(commits.order, line, newest)
        row, offset, written_s = row[some], offset[some], written_s[some]
    alignment.align(grid, row, offset, written_s, rounds.asked_s)


def _by_row(row: Ints) -> Ints | slice:
    """Sorts by row, keeping the order in a row: the low bits of the key hold the position."""
    if (row[1:] > row[:-1]).all():
        return slice(None)
    bits = len(row).bit_length()
    keys = np.sort(row << bits | np.arange(len(row)))
    return np.asarray(keys & ((1 << bits) - 1))


def _heads(row: Ints) -> Ints:
    """The index of each row's first commit."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))


def _counts(head: Ints, total: int) -> Ints:
    return np.diff(head, append=total)


def _append(grid: Grid, commits: Commits) -> None:
    """Append commits that are sorted and beyond the newest of their row."""
    if not len(commits.row):
        return
    head = _heads(commits.row)
    counts = _counts(head, len(commits.row))
    first = head + np.maximum(counts - grid.intervals, 0)
    counts = np.minimum(counts, grid.intervals)
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        chosen = first[counts == count]
        for start in range(0, len(chosen), CHUNK):
            at = chosen[start : start + CHUNK, None] + np.arange(count)
            _append_equal(grid, commits, at)


def _append_equal(grid: Grid, commits: Commits, at: Ints) -> None:
    """Append the same number of commits to each row: `at` has a line of indices for each."""
    rows = commits.row[at[:, 0]]
    fresh = grid.filled[rows] == 0
    push(grid.offset, rows, commits.offset[at], fresh)
    push(grid.order, rows, commits.order[at], fresh)
    push(grid.committed_ms, rows, commits.committed_ms[at], fresh)
    push(grid.lag, rows, commits.lag[at], fresh)
    push(grid.observed_s, rows, commits.observed_s[at], fresh)
    held = grid.filled[rows].astype(np.int64)
    grid.filled[rows] = np.minimum(held + at.shape[1], grid.intervals)


def _merged(grid: Grid, commits: Commits, head: Ints, min_distance_ms: int) -> Commits:
    """Merge appends that are too close to the one before; this may change a window's newest."""
    rows = commits.row[head]
    before = np.concatenate([commits.committed_ms[:1], commits.committed_ms[:-1]])
    first_ms = commits.committed_ms[head]
    before[head] = np.where(
        grid.filled[rows] > 0, grid.committed_ms[rows, -1], bounds.minus(first_ms, min_distance_ms)
    )
    close = bounds.minus(commits.committed_ms, before) < min_distance_ms
    if not close.any():
        return commits
    opens = np.ones(len(close), np.bool_)
    has_close = np.logical_or.reduceat(close, head)
    touched = ranges(head[has_close], _counts(head, len(close))[has_close])
    is_head = np.zeros(len(close), np.bool_)
    is_head[head] = True
    opens[touched] = fold_one_by_one.openings(
        commits.committed_ms[touched].tolist(),
        before[touched].tolist(),
        is_head[touched].tolist(),
        min_distance_ms,
    )
    begins = np.flatnonzero(opens | is_head)
    last = np.append(begins[1:], len(close)) - 1
    entries = commits.take(last)._replace(committed_ms=commits.committed_ms[begins])
    into_newest = ~opens[begins]
    _replace_newest(grid, entries.take(into_newest))
    return entries.take(~into_newest)


def _replace_newest(grid: Grid, commits: Commits) -> None:
    """Overwrite the newest commit of each row, but not its time; a single one fills all places."""
    lone = grid.filled[commits.row] == 1
    for name in ("offset", "order", "lag", "observed_s"):
        array, values = getattr(grid, name), getattr(commits, name)
        array[commits.row, -1] = values
        array[commits.row[lone]] = values[lone, None]


def _fold_late(grid: Grid, commits: Commits, min_distance_ms: int) -> None:
    """Fold rows with a commit that was not beyond the newest when it came."""
    rows = commits.row[_heads(commits.row)]
    everything, is_new = _with_windows(grid, commits, rows)
    segment = np.searchsorted(rows, everything.row)
    rank = np.unique(everything.order, return_inverse=True)[1]
    key = segment * (len(rank) + 1) + rank
    beyond = np.concatenate([[True], key[1:] > np.maximum.accumulate(key)[:-1]])
    everything = everything._replace(lag=np.where(~is_new | beyond, everything.lag, NO_LAG))
    newest = is_new & beyond
    np.maximum.at(grid.last_ms, everything.row[newest], everything.committed_ms[newest])

    by_order = np.argsort(key, kind="stable")
    by_order = by_order[np.concatenate([[True], np.diff(key[by_order]) > 0])]
    line = segment[by_order]
    at_ms = everything.committed_ms[by_order]
    gap = bounds.minus(at_ms[1:], at_ms[:-1])
    may_merge = np.zeros(len(rows), np.bool_)
    may_merge[line[1:][(gap < min_distance_ms) & (line[1:] == line[:-1])]] = True

    grid.filled[rows] = 0
    _append(grid, everything.take(by_order[~may_merge[line]]))
    again = may_merge[segment]
    if again.any():
        lines = fold_one_by_one.fold(
            everything.take(again), is_new[again], grid.intervals, min_distance_ms
        )
        _append(grid, Commits(*lines))


def _with_windows(grid: Grid, commits: Commits, rows: Ints) -> tuple[Commits, Mask]:
    """The commits of each window followed by its new ones; and a mask of the new ones."""
    held = grid.filled[rows].astype(np.int64)
    row = np.repeat(rows, held)
    column = ranges(grid.intervals - held, held)
    windows = Commits(
        row,
        grid.offset[row, column],
        grid.order[row, column],
        grid.committed_ms[row, column],
        grid.lag[row, column],
        grid.observed_s[row, column].astype(np.int64),
    )
    joined = Commits(*(np.concatenate(pair) for pair in zip(windows, commits, strict=True)))
    by_row = np.argsort(joined.row, kind="stable")
    return joined.take(by_row), by_row >= len(row)
