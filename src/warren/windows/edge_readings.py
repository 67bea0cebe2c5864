"""Log starts and stable ends as they were read: the last two answers about each.

Both only move on. So a log began, at any moment, at the latest answer before that moment or beyond,
and not beyond the first answer after it.
"""

from typing import TYPE_CHECKING

import numpy as np

from warren.model.arrays import Floats, Ints, Mask

if TYPE_CHECKING:
    from warren.windows.end_history import EndRows

START, STABLE = "start", "stable"
TIMES = ("start_s", "start_before_s", "stable_s", "stable_before_s")


def set_starts(ends: "EndRows", rows: Ints, starts: Ints, answered_s: float) -> None:
    is_new = ~ends.has_start[rows] | (ends.start[rows] != starts)
    ends.has_moved_starts |= bool(is_new.any())
    _set(ends, START, (rows, starts), answered_s)
    ends.has_start[rows] = True


def set_stable(ends: "EndRows", rows: Ints, stable: Ints, answered_s: float) -> Mask:
    """Returns where an open transaction holds readers of committed data back."""
    is_held: Mask = (stable < ends.newest[rows]) & (ends.filled[rows] > 0)
    _set(ends, STABLE, (rows, stable), answered_s)
    ends.is_held[rows] = is_held
    ends.was_held[rows] |= is_held
    return is_held


def _set(ends: "EndRows", edge: str, answers: tuple[Ints, Ints], answered_s: float) -> None:
    rows, offsets = answers
    now, at_s, before, before_s = _columns(ends, edge)
    before[rows], before_s[rows] = now[rows], at_s[rows]
    now[rows], at_s[rows] = offsets, answered_s


def edge_at(ends: "EndRows", edge: str, rows: Ints, moment_s: Floats) -> Ints:
    """Where the edge was at each moment, or where it had been before that."""
    now, at_s, before, before_s = _columns(ends, edge)
    is_known = (before_s[rows] > 0) & (moment_s >= before_s[rows])
    earlier = np.where(is_known, before[rows], 0)
    is_known = (at_s[rows] > 0) & (moment_s >= at_s[rows])
    return np.where(is_known, now[rows], earlier)


def _columns(ends: "EndRows", edge: str) -> tuple[Ints, Floats, Ints, Floats]:
    names = (edge, f"{edge}_s", f"{edge}_before", f"{edge}_before_s")
    now, at_s, before, before_s = (getattr(ends, name) for name in names)
    return now, at_s, before, before_s
