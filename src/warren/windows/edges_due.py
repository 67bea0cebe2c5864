"""Where the log start, or the end that readers of committed data see, matters to a group now.

Whoever is far behind is the next that a moving log start passes. Whoever has read all but what came
in the last round may stand before an open transaction. So may whoever has stood behind a few
records for longer, unless one of them is known to be readable.
"""

import numpy as np

from warren.model.arrays import Ints, Mask
from warren.model.probe_answers import Known
from warren.windows.probed import LONGEST_TAIL
from warren.windows.windows import Windows

MOST = 2_000  # partitions of each kind in a round

Places = list[tuple[str, int]]  # topics and partitions


def edges_due(windows: Windows, random: np.random.Generator) -> tuple[Places, Places]:
    """The partitions whose start, and those whose stable end is to be read in this round."""
    pairs, grid, ends = windows.pairs, windows.grid, windows.ends.rows
    pair = pairs.in_order()
    rows, end_rows = pairs.blocks.rows_of(pair), windows.ends.blocks.rows_of(pairs.topic[pair])
    end = ends.newest[end_rows]
    waits = np.flatnonzero(
        (grid.filled[rows] > 0) & (ends.filled[end_rows] > 0) & (grid.offset[rows, -1] < end)
    )
    rows, end_rows, end = rows[waits], end_rows[waits], end[waits]
    offset = grid.offset[rows, -1]
    has_record = (grid.probed[rows] & np.uint8(Known.RECORD)) > 0
    has_record &= (grid.probed_offset[rows] <= offset) & (offset <= grid.readable[rows])
    may_be_held = (end - offset <= LONGEST_TAIL) & ~has_record
    may_be_held |= offset >= ends.before_newest(end_rows)
    starts = _some(end_rows[~may_be_held], ends.start_every_s != 0, random)
    stable = _some(end_rows[may_be_held], ends.is_held, random)
    return windows.ends.places(starts), windows.ends.places(stable)


def _some(end_rows: Ints, is_urgent: Mask, random: np.random.Generator) -> Ints:
    """Any of them if they are too many, the urgent ones first."""
    rows = np.unique(end_rows)
    if len(rows) <= MOST:
        return rows
    first = is_urgent[rows]
    return np.concatenate([random.permutation(rows[part]) for part in (first, ~first)])[:MOST]
