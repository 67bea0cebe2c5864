"""Reads what `evaluate.measure` needs: for each line its commit and log end of one same moment.

A lag has proven bounds at the moment when a round of log ends was asked for. The log ended no later
than that round says, and no sooner than the round before says. What the group had committed then is
known from `alignment`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Floats, Ints, Mask
from warren.model.line_readings import Looked, Readings
from warren.model.policies import LinePolicies
from warren.model.window_arrays import WindowArrays, span
from warren.windows.alignment import committed_at
from warren.windows.end_columns import EndColumns
from warren.windows.isolation import isolation_of
from warren.windows.probed import looked_at
from warren.windows.windows import Windows

CHUNK = 32_768  # lines read at once: small enough for the processor's cache


class _Visible(NamedTuple):
    not_yet_s: Floats
    visible_s: Floats
    perhaps_s: Floats


class _Then(NamedTuple):
    then_s: Floats
    commit_then: Ints
    end_least: Ints
    has_least: Mask
    end_most: Ints
    has_most: Mask


class _Lines(NamedTuple):
    """Some lines of a view: where their window and their log end are, as arrays and for reading."""

    row: Ints
    end_row: Ints
    at: slice | Ints
    end_at: slice | Ints
    isolation: tuple[Mask, Mask] | None  # reads committed data, uncommitted data; None: not known


def readings(
    windows: Windows, view: WindowArrays, now_s: float, policies: LinePolicies | None = None
) -> Iterator[Readings]:
    """All lines of a view, as of their group's moment, some after the other."""
    past, row = windows.ends.rows.past, view.rows
    past.reach(windows.ends.rows.size)
    of_group = np.minimum(view.as_of_s, now_s)
    lines = np.add.reduceat(view.pair_count, view.group_pair) if len(view.groups) else row[:0]
    as_of_s = np.repeat(of_group, lines)
    newest = np.searchsorted(past.answered_s, of_group, side="right") - 1
    column = np.repeat(newest, lines)
    isolation = isolation_of(windows.grid, row, policies)
    for start in range(0, max(len(row), 1), CHUNK):
        some = slice(start, start + CHUNK)
        rows, end_rows = row[some], view.end_row[some]
        reads = isolation and isolation.of(some)
        of_lines = _Lines(rows, end_rows, span(rows), span(end_rows), reads)
        yield _read(windows, view, of_lines, (some, as_of_s[some], column[some], now_s))


def _read(
    windows: Windows,
    view: WindowArrays,
    lines: _Lines,
    moments: tuple[slice, Floats, Ints, float],
) -> Readings:
    some, as_of_s, newest, now_s = moments
    ends, at, end_at = windows.ends.rows, lines.at, lines.end_at
    column = ends.past.evidence(lines.end_row, newest)
    has_commit, end = view.filled[at] > 0, view.newest_end[some]
    offset = np.where(has_commit, view.offset[at, -1], 0)
    start, has_start = ends.start[end_at], ends.has_start[end_at]
    next_offset = np.where(has_start, np.maximum(offset, start), offset)
    looked, is_held = looked_at(windows.grid, lines.row, at), ends.is_held[end_at]
    if lines.isolation:
        is_held = is_held & ~lines.isolation[1]
    if looked is not None:
        looked = _as_they_read(looked, lines.isolation) if lines.isolation else looked
        next_offset[looked.line] = np.maximum(next_offset[looked.line], looked.readable)
    return Readings(
        # A commit that was read before its turn is of its own moment.
        as_of_s=np.clip(windows.grid.written_s[at], as_of_s, max(now_s, 0)),
        has_commit=has_commit,
        commit=offset,
        end=end,
        has_end=ends.filled[end_at] > 0,
        **_visible(ends.past, lines.end_row, column, next_offset, end)._asdict(),
        **_same_moment(windows, lines, column)._asdict(),
        start=start,
        has_start=has_start,
        stable=ends.stable[end_at],
        is_held=is_held,
        is_stuck=_is_stuck(view, at),
        **windows.paces.of_lines(at, end_at, as_of_s)._asdict(),
        reads_committed=lines.isolation and lines.isolation[0],
        looked=looked,
    )


def _as_they_read(looked: Looked, isolation: tuple[Mask, Mask]) -> Looked:
    """Aborted records are records only to those who read uncommitted data."""
    committed, uncommitted = (reads[looked.line] for reads in isolation)
    return looked._replace(
        readable=np.where(uncommitted, looked.readable_by_any, looked.readable),
        readable_by_any=np.where(committed, looked.readable, looked.readable_by_any),
    )


def _is_stuck(view: WindowArrays, at: slice | Ints) -> Mask:
    """A whole window of commits at one offset, which was behind the log end all the time."""
    first, last = view.offset[at, 0], view.offset[at, -1]
    is_stuck: Mask = (view.filled[at] > 1) & (first == last) & (view.lag[at, 0] > 0)
    return is_stuck


def _visible(past: EndColumns, end_row: Ints, column: Ints, offset: Ints, end: Ints) -> _Visible:
    """Between which moments the record at each offset became visible, and a guess."""
    asked_s, answered_s = np.append(past.asked_s, -np.inf), np.append(past.answered_s, np.inf)
    not_yet_s, visible_s = asked_s[column], np.full(len(end_row), np.inf)
    perhaps_s = visible_s.copy()
    unread = np.flatnonzero(end > offset)
    seen = past.find(end_row[unread], offset[unread])
    not_yet_s[unread], visible_s[unread] = asked_s[seen.before], answered_s[seen.after]
    middle_s = np.append((asked_s[:-1] + answered_s[:-1]) / 2, np.nan)
    since_s, until_s = middle_s[seen.before], middle_s[seen.after]
    perhaps_s[unread] = since_s + seen.between * (until_s - since_s)
    return _Visible(not_yet_s, visible_s, perhaps_s)


def _same_moment(windows: Windows, lines: _Lines, column: Ints) -> _Then:
    """Commits as of a moment near each column's, and the least and the most the log ended at."""
    past, end_row = windows.ends.rows.past, lines.end_row
    asked_s = np.append(past.asked_s, -np.inf)
    moment_s = asked_s[column]
    commit, stated_s = committed_at(windows.grid, lines.at, moment_s)
    least, most = column - 1, column.copy()
    moved = np.flatnonzero((stated_s > moment_s) & (column >= 0))
    if len(moved):
        most[moved] = np.searchsorted(asked_s[:-1], stated_s[moved], side="left")
        least[moved] = np.searchsorted(past.answered_s, stated_s[moved], side="right") - 1
        real = past.evidence(end_row[moved], np.minimum(most[moved], len(asked_s) - 2))
        most[moved] = np.where(real == most[moved], most[moved], -1)
    end_most, has_most = past.ends(end_row, most)
    end_least, has_least = past.ends(end_row, np.where(column >= 0, least, -1))
    return _Then(stated_s, commit, end_least, has_least, end_most, has_most)
