"""Folds commits one at a time, as Burrow does, for the few that need it."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Ints, Mask


class Entry(NamedTuple):
    """One commit of a window; `order` comes first, as windows are sorted by it."""

    order: int
    committed_ms: int
    row: int
    offset: int
    lag: int
    observed_s: int


def place(window: list[Entry], commit: Entry, intervals: int, min_distance_ms: int) -> None:
    """Put one commit into a window, as Burrow does."""
    full = len(window) == intervals
    at = bisect_left(window, (commit.order,))
    if at < len(window) and window[at].order == commit.order:
        return  # read twice
    if at == 0:
        if not full:
            window.insert(0, commit)
        return
    if full and at == 1 and intervals > 1:
        window[0] = commit  # only the oldest commit is older: replace it, do not merge
        return
    before = window[at - 1]
    if commit.committed_ms - before.committed_ms < min_distance_ms:
        window[at - 1] = commit._replace(committed_ms=before.committed_ms)
        return
    window.insert(at, commit)
    if full:
        del window[0]


def fold(
    commits: Sequence[Ints], is_new: Mask, intervals: int, min_distance_ms: int
) -> Sequence[Ints]:
    """Fold commits sorted by row, each row's window first; returns the columns of the windows."""
    row, offset, order, committed_ms, lag, observed_s = (column.tolist() for column in commits)
    entries = list(map(Entry, order, committed_ms, row, offset, lag, observed_s))
    heads = np.flatnonzero(np.diff(commits[0], prepend=-1))
    held = heads + np.add.reduceat(~is_new, heads, dtype=np.int64)
    ends = [*heads[1:].tolist(), len(entries)]
    folded: list[Entry] = []
    for start, new, end in zip(heads.tolist(), held.tolist(), ends, strict=True):
        window = entries[start:new]
        for commit in entries[new:end]:
            place(window, commit, intervals, min_distance_ms)
        folded += window
    columns = np.array(folded, np.int64).T
    names = ("row", "offset", "order", "committed_ms", "lag", "observed_s")
    return [columns[Entry._fields.index(name)] for name in names]


def openings(
    committed_ms: list[int], before_ms: list[int], is_head: list[bool], min_distance_ms: int
) -> list[bool]:
    """Which appends open a new entry; the others are too close to the entry before and merge.

    An entry keeps the time of its first commit, so each result depends on the one before: this
    needs a loop. `before_ms` is used at the head of a row only: there it is the window's newest.
    """
    opens = []
    kept = 0
    for now, before, head in zip(committed_ms, before_ms, is_head, strict=True):
        if head:
            kept = before
        opened = now - kept >= min_distance_ms
        if opened:
            kept = now
        opens.append(opened)
    return opens
