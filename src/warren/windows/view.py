"""The windows as the rules read them, and as a person asks for them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.histories import Histories
from warren.windows import lifecycle
from warren.windows.windows import Windows

Ints = npt.NDArray[np.int64]


def histories(windows: Windows) -> Histories:
    """All groups that have a window; one that only has owners is not there yet."""
    pairs, grid, ends = windows.pairs, windows.grid, windows.ends
    shown, _ = lifecycle.last_commits(pairs)
    in_order = pairs.in_order()
    if len(shown) < len(pairs.of_group):
        in_order = in_order[np.isin(pairs.group[in_order], shown)]
    topic = pairs.topic[in_order]
    return Histories(
        groups=tuple(pairs.groups[group] for group in shown.tolist()),
        topics=ends.topics.by_number(),
        owners=windows.owners.names.by_number(),
        group_pair=np.flatnonzero(np.diff(pairs.group[in_order], prepend=-1)),
        pair_topic=topic,
        pair_row=pairs.blocks.base[in_order],
        pair_count=pairs.blocks.count[in_order],
        pair_end=ends.blocks.base[topic],
        offset=grid.offset,
        order=grid.order,
        committed_ms=grid.committed_ms,
        lag=grid.lag,
        observed_s=grid.observed_s,
        filled=grid.filled,
        last_ms=grid.last_ms,
        owner=grid.owner,
        client=grid.client,
        stopped=grid.stopped,
        newest_end=ends.rows.newest,
        lowest_end=ends.rows.lowest,
    )


class Commit(NamedTuple):
    offset: int
    order: int
    committed_ms: int
    observed_s: int
    lag: int  # negative: not known


class Partition(NamedTuple):
    """One partition of a group, in full."""

    commits: list[Commit]  # oldest first
    owner: str
    client_id: str
    current_lag: int


def detail(windows: Windows, group: str) -> dict[str, list[Partition]]:
    """Every window of a group, by topic and partition; empty when there is no such group."""
    pairs = windows.pairs
    return {
        windows.ends.topics[int(pairs.topic[pair])]: _partitions(windows, int(pair))
        for pair in pairs.of(group)
    }


def _partitions(windows: Windows, pair: int) -> list[Partition]:
    grid, pairs, ends = windows.grid, windows.pairs, windows.ends
    newest = ends.newest(ends.topics[int(pairs.topic[pair])])
    base, count = int(pairs.blocks.base[pair]), int(pairs.blocks.count[pair])
    partitions = []
    for row, end in zip(range(base, base + count), newest, strict=False):
        held = slice(grid.intervals - int(grid.filled[row]), None)
        columns = (grid.offset, grid.order, grid.committed_ms, grid.observed_s, grid.lag)
        lines = zip(*(column[row, held].tolist() for column in columns), strict=True)
        commits = [Commit(*line) for line in lines]
        owner, client = (windows.owners.names[int(n[row])] for n in (grid.owner, grid.client))
        lag = max(end - commits[-1].offset, 0) if commits and end is not None else 0
        partitions.append(Partition(commits, owner, client, lag))
    return partitions
