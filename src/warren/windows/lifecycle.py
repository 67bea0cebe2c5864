"""How groups and topics end: deleted, or silent for too long."""

import numpy as np
import numpy.typing as npt

from warren.windows.pairs import Pairs

Ints = npt.NDArray[np.int64]


def last_commits(pairs: Pairs) -> tuple[Ints, Ints]:
    """Groups that have a window, in the order of their names, and when each last committed."""
    in_order = pairs.in_order()
    if not len(in_order):
        return in_order, in_order
    rows, count = pairs.blocks.rows_of(in_order), pairs.blocks.count[in_order]
    group = pairs.group[in_order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    first_row = (np.cumsum(count) - count)[begins]
    held = np.add.reduceat(pairs.grid.filled[rows], first_row, dtype=np.int64)
    last_ms = np.maximum.reduceat(pairs.grid.last_ms[rows], first_row)
    return group[begins][held > 0], last_ms[held > 0]


def expire(pairs: Pairs, oldest_ms: int) -> list[str]:
    """End the windows of groups whose last commit is too old; the names of these groups.

    Owners stay: a group that wakes up again still has its members, and they will not say so anew.
    """
    groups, last_ms = last_commits(pairs)
    expired = [pairs.groups[group] for group in groups[last_ms < oldest_ms].tolist()]
    for group in expired:
        of_group = pairs.of(group)
        pairs.grid.clear_windows(pairs.blocks.rows_of(of_group))
        pairs.remove_unused(of_group.tolist())
    return expired
