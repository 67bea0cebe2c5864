"""Reads the windows: all of them for the rules, or those of one group in detail."""

from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import Floats, Ints
from warren.model.board import NO_END
from warren.model.policies import LinePolicies
from warren.model.window_arrays import WindowArrays, ranges
from warren.windows.isolation import isolation_of
from warren.windows.pairs import Moments, every_group, last_commits
from warren.windows.windows import Windows


def window_arrays(
    windows: Windows, read_until_s: Moments | None = None, *, with_owned: bool = False
) -> WindowArrays:
    """All groups that have a window; those that have only owners if `with_owned`.

    `read_until_s` returns up to which moment, in seconds, the commits of each group have been read;
    the log ends are those of that moment. Without it they are the present ones.
    """
    pairs, grid, ends = windows.pairs, windows.grid, windows.ends
    shown = every_group(pairs) if with_owned else last_commits(pairs)[0]
    in_order = pairs.in_order()
    if len(shown) < len(pairs.of_group):
        in_order = in_order[np.isin(pairs.group[in_order], shown)]
    topic, count = pairs.topic[in_order], pairs.blocks.count[in_order]
    groups = tuple(pairs.groups[group] for group in shown.tolist())
    group_pair = np.flatnonzero(np.diff(pairs.group[in_order], prepend=-1))
    as_of_s = read_until_s(groups) if read_until_s else np.full(len(groups), np.inf)
    pairs_of_group = np.diff(group_pair, append=len(in_order))
    moment_s = np.repeat(np.repeat(as_of_s, pairs_of_group), count)
    end_row = ranges(ends.blocks.base[topic], count)
    newest, lowest = ends.rows.as_of(end_row, moment_s)
    return WindowArrays(
        groups=groups,
        topics=ends.topics.by_number(),
        owners=windows.owners.names.by_number(),
        as_of_s=as_of_s,
        group_pair=group_pair,
        pair_topic=topic,
        pair_row=pairs.blocks.base[in_order],
        pair_count=count,
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
        written_s=grid.written_s,
        end_row=end_row,
        newest_end=newest,
        lowest_end=lowest,
        pair=in_order,
    )


def read_s(windows: Windows, view: WindowArrays) -> Floats:
    """When the log end of each line was read: it is as of the moment of the line's group."""
    seen_s: Floats = windows.ends.rows.seen_s[view.end_row]
    if not len(view.groups):
        return seen_s
    moment_s = np.repeat(view.as_of_s, np.add.reduceat(view.pair_count, view.group_pair))
    times = np.array([each.answered_s for each in windows.ends.rows.rounds])
    if not len(times):
        return seen_s
    place = np.maximum(np.searchsorted(times, moment_s, side="right") - 1, 0)
    read: Floats = np.minimum(seen_s, times[place])
    return read


def edges_of(
    windows: Windows, view: WindowArrays, policies: LinePolicies | None
) -> tuple[Ints, Ints]:
    """The log start and the stable end of each line; NO_END where it is unknown, or not held.

    No transaction holds back a group that reads uncommitted data.
    """
    rows, at = windows.ends.rows, view.end_row
    start = np.where(rows.has_start[at], rows.start[at], NO_END)
    is_held = rows.is_held[at]
    isolation = isolation_of(windows.grid, view.rows, policies)
    if isolation is not None:
        is_held = is_held & ~isolation.uncommitted
    return start, np.where(is_held, rows.stable[at], NO_END)


def newest_commits(windows: Windows, group: str) -> dict[tuple[str, int], int]:
    """For each topic of a group, the partition with the latest commit, and its offset."""
    pairs, grid = windows.pairs, windows.grid
    newest = {}
    for pair in pairs.of(group).tolist():
        rows = pairs.blocks.rows_of(np.array([pair]))
        held = np.flatnonzero(grid.filled[rows] > 0)
        if len(held):
            last = int(held[np.argmax(grid.last_ms[rows[held]])])
            topic = windows.ends.topics[int(pairs.topic[pair])]
            newest[topic, last] = int(grid.offset[rows[last], -1])
    return newest


def read_topics(windows: Windows) -> list[str]:
    """The topics that any group reads, or has members for; sorted."""
    pairs = windows.pairs
    numbers = np.unique(pairs.topic[pairs.in_order()])
    return sorted(windows.ends.topics[number] for number in numbers.tolist())


class WindowCommit(NamedTuple):
    offset: int
    order: int
    committed_ms: int
    observed_s: int
    lag: int  # negative: unknown


class PartitionWindow(NamedTuple):
    """One partition of a group, in full."""

    commits: list[WindowCommit]  # oldest first
    owner: str
    client_id: str
    current_lag: int


def detail(windows: Windows, group: str) -> dict[str, list[PartitionWindow]]:
    """Every window of a group, by topic and partition; empty if there is no such group."""
    pairs = windows.pairs
    return {
        windows.ends.topics[int(pairs.topic[pair])]: _partitions(windows, int(pair))
        for pair in pairs.of(group)
    }


def _partitions(windows: Windows, pair: int) -> list[PartitionWindow]:
    grid, pairs, ends = windows.grid, windows.pairs, windows.ends
    newest = ends.newest(ends.topics[int(pairs.topic[pair])])
    base, count = int(pairs.blocks.base[pair]), int(pairs.blocks.count[pair])
    partitions = []
    for row, end in zip(range(base, base + count), newest, strict=False):
        held = slice(grid.intervals - int(grid.filled[row]), None)
        columns = (grid.offset, grid.order, grid.committed_ms, grid.observed_s, grid.lag)
        lines = zip(*(column[row, held].tolist() for column in columns), strict=True)
        commits = [WindowCommit(*line) for line in lines]
        owner, client = (windows.owners.names[int(n[row])] for n in (grid.owner, grid.client))
        is_known = bool(commits) and end is not None
        lag = int(bounds.lag(np.array(end), grid.offset[row, -1])) if is_known else 0
        partitions.append(PartitionWindow(commits, owner, client, lag))
    return partitions
