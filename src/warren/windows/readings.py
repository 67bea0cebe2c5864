"""Reads what `evaluate.measure` needs: for each line its commit and log end as of one moment.

The moment is the one up to which the group's commits have been read. What it had committed then is
known. The log ended no sooner than the last round before shows; how far it may have grown since is
what it grew by in the rounds before.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask
from warren.model.judgement import Word
from warren.model.line_readings import Committed, Looked, Readings
from warren.model.policies import LinePolicies
from warren.model.window_arrays import WindowArrays, span
from warren.windows.edge_readings import STABLE, START, edge_at
from warren.windows.end_columns import EndColumns
from warren.windows.end_history import EndRows
from warren.windows.isolation import isolation_of
from warren.windows.probed import looked_at
from warren.windows.windows import Windows

CHUNK = 32_768  # lines read at once: small enough for the processor's cache
ROUNDS = 2  # the last of these tell how fast a log may grow
SLACK_S = 1.0  # as much as a log may have grown beside that
CHANCE = 2.0  # standard deviations of what comes at random
ROUNDING = 1e-6  # of a record
FARTHEST = 2.0**62


class _Visible(NamedTuple):
    not_yet_s: Floats
    visible_s: Floats
    perhaps_s: Floats


class _LastRound(NamedTuple):
    asked_s: Floats
    end_asked: Ints
    has_asked: Mask
    grown: Ints


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
    # A commit that was read before its turn is of its own moment.
    line_s = np.clip(windows.grid.written_s[at], as_of_s, max(now_s, 0))
    start_then = _start_then(ends, lines, offset, line_s)
    first = np.where(has_start, np.maximum(offset, start), offset)
    oldest = first if start_then is start else np.maximum(offset, start_then)
    looked, is_held = looked_at(windows.grid, lines.row, at), ends.is_held[end_at]
    if lines.isolation:
        is_held = is_held & ~lines.isolation[1]
    if looked is not None:
        looked = _as_they_read(looked, lines.isolation) if lines.isolation else looked
        if start_then is not start:  # what retention has taken since could be read then
            looked = looked.of(start_then[looked.line] == start[looked.line])
        oldest = oldest.copy()
        for offsets, readable in ((first, looked.readable), (oldest, looked.readable_by_any)):
            offsets[looked.line] = np.maximum(offsets[looked.line], readable)
    word = windows.grid.memory.word[at]
    is_stuck, has_stopped = word == np.uint8(Word.STALL), word == np.uint8(Word.STOP)
    paces = windows.paces.of_lines(at, end_at, as_of_s)
    stands = np.flatnonzero(is_stuck | has_stopped)
    paces.consumed_fast[stands] = paces.consumed_slow[stands] = 0  # whatever it did before
    return Readings(
        as_of_s=line_s,
        has_commit=has_commit,
        commit=offset,
        end=end,
        has_end=ends.filled[end_at] > 0,
        **_visible(ends.past, lines.end_row, column, (first, oldest), end)._asdict(),
        **_last_round(ends.past, lines.end_row, column, line_s)._asdict(),
        start=start,
        has_start=has_start,
        start_then=start_then,
        stable=ends.stable[end_at],
        is_held=is_held,
        committed=_committed(ends, lines, line_s),
        is_stuck=is_stuck,
        has_stopped=has_stopped,
        **paces._asdict(),
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


def _start_then(ends: EndRows, lines: _Lines, commit: Ints, line_s: Floats) -> Ints:
    """The log start of each line at its moment, where it matters; it may have been read later."""
    start: Ints = ends.start[lines.end_at]
    passed = np.flatnonzero(start > commit)
    end_row, then_s = lines.end_row[passed], line_s[passed]
    later = then_s < ends.start_s[end_row]
    if later.any():
        start = start.copy()
        start[passed[later]] = edge_at(ends, START, end_row[later], then_s[later])
    return start


def _committed(ends: EndRows, lines: _Lines, then_s: Floats) -> Committed | None:
    """How far committed data reached then, of logs with transactions; None: there are none."""
    has_some = ends.was_held[lines.end_at]
    if lines.isolation:
        has_some = has_some & ~lines.isolation[1]
    line = np.flatnonzero(has_some)
    if not len(line):
        return None
    return Committed(line, edge_at(ends, STABLE, lines.end_row[line], then_s[line]))


def _visible(
    past: EndColumns, end_row: Ints, column: Ints, offsets: tuple[Ints, Ints], end: Ints
) -> _Visible:
    """Between which moments the first unread record became visible, and a guess.

    The second offsets are of the oldest record that may be unread.
    """
    offset, oldest = offsets
    asked_s, answered_s = np.append(past.asked_s, -np.inf), np.append(past.answered_s, np.inf)
    not_yet_s, visible_s = asked_s[column], np.full(len(end_row), np.inf)
    perhaps_s = visible_s.copy()
    unread = np.flatnonzero(end > offset)
    seen = past.find(end_row[unread], offset[unread])
    not_yet_s[unread] = asked_s[seen.before]
    visible_s[unread] = answered_s[seen.after]
    if past.was_cut:
        visible_s[unread] = np.maximum(visible_s, past.cut_s[end_row])[unread]
    middle_s = np.append((asked_s[:-1] + answered_s[:-1]) / 2, np.nan)
    since_s, until_s = middle_s[seen.before], middle_s[seen.after]
    perhaps_s[unread] = since_s + seen.between * (until_s - since_s)
    older = np.flatnonzero((oldest < offset) & (end > oldest))
    if len(older):
        not_yet_s[older] = asked_s[past.find(end_row[older], oldest[older]).before]
    return _Visible(not_yet_s, visible_s, perhaps_s)


def _last_round(past: EndColumns, row: Ints, column: Ints, line_s: Floats) -> _LastRound:
    """What the last round shows, and how far each log may have grown by the line's moment."""
    asked_s = np.append(past.asked_s, -np.inf)
    end, has_end = past.ends(row, column)
    since_s, pace = line_s - asked_s[column], np.zeros(len(row))
    later, is_later, before = end, has_end, column
    for _ in range(ROUNDS):
        after, before = before, np.maximum(before - 1, -1)
        earlier, is_earlier = past.ends(row, before)
        some = np.flatnonzero(is_later & is_earlier & (before < after))
        took_s = asked_s[after[some]] - asked_s[before[some]]
        grown = bounds.lag(later[some], earlier[some]) / took_s
        pace[some] = np.maximum(pace[some], grown)
        later, is_later = earlier, is_earlier
    grows = np.flatnonzero(has_end & (pace > 0) & (since_s > 0))
    most = np.zeros(len(row), np.int64)
    since_s, pace, last = since_s[grows], pace[grows], column[grows]
    least = pace * (since_s + np.minimum(since_s, SLACK_S))
    chance = least + CHANCE * np.sqrt(pace * since_s)
    in_a_round = pace * (asked_s[last] - asked_s[np.maximum(last - 1, 0)] + SLACK_S)
    grown = np.maximum(np.minimum(chance, in_a_round), least) + ROUNDING
    most[grows] = np.minimum(grown, FARTHEST).astype(np.int64)
    if past.was_cut:
        has_end &= past.is_uncut(row, asked_s[column])
    return _LastRound(asked_s[column], end, has_end, most)
