"""Which lines are worth a look at their records, and what such a look found.

A small lag that does not move may be transaction markers, which nobody reads. A commit older than
all log ends that we remember has no age by our own clock.
"""

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints, Mask
from warren.model.line_readings import Looked
from warren.model.probe_answers import FIRST_MS, LAST_MS, Answer, Known, Targets
from warren.model.window_arrays import WindowArrays
from warren.windows.grid import Grid
from warren.windows.windows import Windows

LONGEST_TAIL = 500  # records and markers; a longer lag is not made of markers alone
STILL_S = 5.0  # a commit that is younger may be followed by the next
MOST_TAILS, MOST_TIMES = 1_000, 10_000  # lines looked at at once; of more, any
MOST_CHECKED = 100_000  # lines for which it is worked out whether a look is due

MS = 1000
MARKED = Known.READ | Known.RECORD


def tails(
    windows: Windows, view: WindowArrays, refused: frozenset[str], random: np.random.Generator
) -> Targets:
    """Lines with a small lag that does not move, unless it is known to be of records.

    `refused` are topics whose records may not be read.
    """
    ends, row = windows.ends.rows, view.rows
    behind = bounds.minus(ends.newest[view.end_row], view.offset[row, -1])
    is_small = (behind > 0) & (behind <= LONGEST_TAIL) & (view.filled[row] > 0)
    line = _run(np.flatnonzero(is_small), random)
    line = line[_is_still(windows, view, row[line], view.end_row[line])]
    first = _first_unread(windows, view, line, row[line])
    at = view.end_row[line]
    limit = np.where(
        ends.is_held[at], np.minimum(ends.stable[at], ends.newest[at]), ends.newest[at]
    )
    is_known = _has(windows, row[line], Known.RECORD) & (windows.grid.readable[row[line]] >= first)
    line = line[(limit > first) & (first >= 0) & ~is_known]
    if refused:
        line = line[~_is_of(view, line, refused)]
    return _targets(windows, view, _some(line, MOST_TAILS, random))


def times(
    windows: Windows, view: WindowArrays, wanted: Mask, random: np.random.Generator
) -> Targets:
    """Those of the wanted lines whose first unread record has no time yet."""
    line = _run(np.flatnonzero(wanted), random)
    row = view.rows[line]
    first = _first_unread(windows, view, line, row)
    is_timed = _has(windows, row, Known.TIMED) & (windows.grid.readable[row] >= first)
    return _targets(windows, view, _some(line[~is_timed], MOST_TIMES, random))


def _is_still(windows: Windows, view: WindowArrays, row: Ints, at: Ints) -> Mask:
    """Neither the offset nor the log end has moved lately; the offset may be committed again."""
    ends, memory = windows.ends.rows, windows.grid.memory
    same = (ends.filled[at] > 1) & (ends.before_newest(at) == ends.newest[at])
    is_known = (memory.known_ms[row] > 0) & (memory.known_offset[row] == view.offset[row, -1])
    moved_ms = np.where(is_known, memory.moved_ms[row], view.last_ms[row])
    is_old: Mask = moved_ms <= (ends.seen_s[at] - STILL_S) * MS
    return np.asarray(same & is_old)


def _has(windows: Windows, row: Ints, what: Known) -> Mask:
    """Whether an answer that counts for the newest commit holds this."""
    grid = windows.grid
    holds = (grid.probed[row] & np.uint8(what)) == what
    return np.asarray(holds & (grid.probed_offset[row] <= grid.offset[row, -1]))


def _first_unread(windows: Windows, view: WindowArrays, line: Ints, row: Ints) -> Ints:
    """The first offset from the commit on that may be of a record, as far as we know."""
    ends, at = windows.ends.rows, view.end_row[line]
    first: Ints = view.offset[row, -1].copy()
    first = np.where(ends.has_start[at], np.maximum(first, ends.start[at]), first)
    is_read = _has(windows, row, Known.READ)
    return np.where(is_read, np.maximum(first, windows.grid.readable[row]), first)


def _is_of(view: WindowArrays, line: Ints, topics: frozenset[str]) -> Mask:
    is_one = np.array([name in topics for name in view.topics], np.bool_)
    pair = np.searchsorted(np.cumsum(view.pair_count), line, side="right")
    return np.asarray(is_one[view.pair_topic[pair]])


def _run(line: Ints, random: np.random.Generator) -> Ints:
    """A run of so many lines from anywhere on, if there are more."""
    spare = len(line) - MOST_CHECKED
    if spare <= 0:
        return line
    first = int(random.integers(len(line)))
    return np.concatenate([line[first : first + MOST_CHECKED], line[: max(first - spare, 0)]])


def _some(line: Ints, most: int, random: np.random.Generator) -> Ints:
    """Any of them, in any order, so that each gets its turn."""
    return random.choice(line, min(most, len(line)), replace=False) if len(line) else line


def _targets(windows: Windows, view: WindowArrays, line: Ints) -> Targets:
    until = np.cumsum(view.pair_count)
    pair = np.searchsorted(until, line, side="right")
    row = view.rows[line]
    return Targets(
        view.groups,
        view.topics,
        np.searchsorted(view.group_pair, pair, side="right") - 1,
        view.pair_topic[pair],
        line - (until - view.pair_count)[pair],
        view.offset[row, -1].copy(),
        _first_unread(windows, view, line, row),
        _has(windows, row, Known.TIMED),
    )


def looked_at(grid: Grid, row: Ints, at: slice | Ints) -> Looked | None:
    """The answers that count for the newest commits of these rows; None: there are none."""
    known = grid.probed[at]
    if not known.any():
        return None
    line = np.flatnonzero((known > 0) & (grid.filled[at] > 0))
    line = line[grid.probed_offset[row[line]] <= grid.offset[row[line], -1]]
    row, known = row[line], known[line]
    commit, offset, readable = grid.offset[row, -1], grid.probed_offset[row], grid.readable[row]
    is_read, is_timed = ((known & np.uint8(each)) > 0 for each in (Known.READ, Known.TIMED))
    # A group that has gone on past that record is at one that is not older.
    is_same = is_timed & ((offset == commit) | (commit <= readable))
    return Looked(
        line,
        offset,
        np.where(is_read, readable, offset),
        np.where(is_read, grid.readable_by_any[row], offset),
        _seconds(grid.earliest_ms[row], is_timed, -np.inf),
        _seconds(grid.latest_ms[row], is_same, np.inf),
        (known & np.uint8(Known.REFUSED)) > 0,
    )


def _seconds(ms: Ints, is_known: Mask, unknown: float) -> Floats:
    is_bound = is_known & (ms != FIRST_MS) & (ms != LAST_MS)
    return np.where(is_bound, ms / MS, unknown)


def note(windows: Windows, group: str, topic: str, partition: int, answer: Answer) -> bool:
    """Remember an answer; false if the group has gone, or gone back, meanwhile."""
    number = windows.ends.topics.find(topic)
    pair = windows.pairs.find(group, number)
    if pair < 0 or not 0 <= partition < windows.pairs.blocks.count[pair]:
        return False
    grid, row = windows.grid, int(windows.pairs.blocks.base[pair]) + partition
    if not grid.filled[row] or grid.offset[row, -1] < answer.offset:
        return False
    before = _answer(windows, row)
    if before.known and before.offset == answer.offset:
        answer = _joined(before, answer)
    grid.probed[row] = answer.known
    grid.probed_offset[row] = answer.offset
    grid.readable[row] = answer.readable
    grid.readable_by_any[row] = answer.readable_by_any
    grid.earliest_ms[row] = answer.earliest_ms
    grid.latest_ms[row] = answer.latest_ms
    return True


def _answer(windows: Windows, row: int) -> Answer:
    grid = windows.grid
    columns = (grid.probed_offset, grid.readable, grid.readable_by_any)
    times_ms = (grid.earliest_ms, grid.latest_ms)
    return Answer(Known(int(grid.probed[row])), *(int(each[row]) for each in columns + times_ms))


def _joined(before: Answer, answer: Answer) -> Answer:
    """Two answers about the same offset: what the new one does not tell stays."""
    known, stays = answer.known, before.known
    if not known & Known.READ:
        answer = answer._replace(known=known | stays & (MARKED | Known.REFUSED))
        if stays & Known.READ:
            answer = answer._replace(
                known=answer.known & ~Known.REFUSED,
                readable=before.readable,
                readable_by_any=before.readable_by_any,
            )
    if not known & Known.TIMED and stays & Known.TIMED and before.readable == answer.readable:
        answer = answer._replace(
            known=answer.known | Known.TIMED,
            earliest_ms=before.earliest_ms,
            latest_ms=before.latest_ms,
        )
    return answer
