"""When the brokers forget the offsets of a group, by the rules of their group coordinator.

- A classic group without members: `offsets.retention.minutes` after it became empty, whenever it
  had committed. With members: so long after a commit, of topics that none of them subscribes to.
- A KIP-848 or a streams group: so long after a commit, unless a member subscribes to the topic.
- Who only commits, with assign() or a tool: so long after a commit. Such a group has no records.

The earliest of its offsets counts. Commits from outside Kafka's topic are not the brokers' to keep.
"""

import numpy as np

from warren.model.arrays import Floats, Mask, Singles
from warren.model.group_life import GroupLife, Kind, Subscribed
from warren.model.window_arrays import WindowArrays, is_kafkas

MS = 1000
BY_COMMIT = (Kind.CONSUMER, Kind.STREAMS)


def expires_s(
    view: WindowArrays,
    life: GroupLife,
    kept_s: float | None,
    now_s: float,
    *,
    are_members_known: bool = True,
) -> Singles:
    """Seconds for each group; infinite: not as it is, NaN: unknown.

    Without all records about groups nobody knows which have none.
    """
    groups = len(view.groups)
    kind, empty_s = life.kind[:groups], life.empty_since_s[:groups]
    has_members = life.member_count[:groups] > 0
    if kept_s is None:
        return np.where(has_members, np.inf, np.nan).astype(np.float32)
    is_simple, is_classic = kind == Kind.NO_RECORDS, kind == Kind.CLASSIC
    goes_by_commits = ~has_members & np.isin(kind, BY_COMMIT) | is_simple & are_members_known
    base_s = _first_commits(view, life, goes_by_commits, has_members)
    base_s[is_simple & np.isinf(base_s)] = np.nan
    is_empty = is_classic & ~has_members
    base_s[is_empty] = np.where(empty_s > 0, empty_s, np.nan)[is_empty]
    return np.maximum(base_s + kept_s - now_s, 0).astype(np.float32)


def _first_commits(view: WindowArrays, life: GroupLife, every: Mask, has_members: Mask) -> Floats:
    """The first of the newest commits of each group: `every` one, or of topics it has left."""
    first_s = np.full(len(every), np.inf)
    is_left = life.is_subscribed == Subscribed.NO
    if not every.any() and not is_left.any():
        return first_s
    group = np.repeat(np.arange(len(every)), np.add.reduceat(view.pair_count, view.group_pair))
    line = np.flatnonzero(every[group] | has_members[group] & is_left)
    rows = view.rows[line]
    line = line[(view.filled[rows] > 0) & is_kafkas(view.order[rows, -1])]
    if len(line):
        head = np.flatnonzero(np.diff(group[line], prepend=-1))
        first_ms = np.minimum.reduceat(view.last_ms[view.rows[line]], head)
        first_s[group[line[head]]] = first_ms / MS
    return first_s
