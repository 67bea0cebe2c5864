"""Which series a scrape has: as fine as `[metrics]` says, and no more than `max-series`.

Burrow's series and our two by topic come first. Numbers and other exporters' names get the rest.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warren.config.sections import Metrics
from warren.model.arrays import Bytes, Ints, Mask
from warren.model.board import NO_END
from warren.model.granularity import Granularity, Level
from warren.serve.board_file.board_view import ClusterView, View
from warren.serve.metrics.families import Family, Of, group_of, parts


def series_granularity(settings: Metrics) -> Granularity:
    """`by-partition` beats the other two, and `by-group` beats `by-topic`."""
    return Granularity(
        (
            (settings.by_partition, Level.PARTITION),
            (settings.by_group, Level.GROUP),
            (settings.by_topic, Level.TOPIC),
        )
    )


class Plan(NamedTuple):
    levels: dict[str, Bytes]  # by cluster, for each group
    with_ends: bool  # whether topics have series of their own
    cut: int  # series left out because of the limit
    kept: int


class Rest(NamedTuple):
    """Which numbers and other names there is room for."""

    whole: dict[str, Mask]  # by cluster: the groups that have them
    below: dict[str, Mask]  # the groups whose topics or partitions have them
    with_ends: bool
    cut: int


OF_A_GROUP = 2  # series that each group itself has


def plan(view: View, max_series: int) -> Plan:
    """Leave out series until no more than `max_series` are left.

    First those below the groups that have the most, then those of topics, and last those of the
    groups themselves, OK groups first.
    """
    levels = {name: each.arrays["group_level"].copy() for name, each in view.clusters.items()}
    costs = {name: _costs(each, levels[name]) for name, each in view.clusters.items()}
    groups = sum(OF_A_GROUP * len(cost) for cost in costs.values())
    clusters = view.clusters.values()
    ends = sum(int(np.count_nonzero(each.arrays["ends"] != NO_END)) for each in clusters)
    everything = groups + ends + sum(int(cost.sum()) for cost in costs.values())
    excess = everything - max_series
    if not max_series or excess <= 0:
        return Plan(levels, with_ends=True, cut=0, kept=everything)
    cut = 0
    for name, group, cost in _most_series_first(costs):
        if cut >= excess:
            return Plan(levels, with_ends=True, cut=cut, kept=everything - cut)
        levels[name][group] = Level.GROUP
        cut += cost
    with_ends = cut >= excess
    cut += 0 if with_ends else ends
    for name, group in _least_bad(view, -(-max(excess - cut, 0) // OF_A_GROUP)):
        levels[name][group] = Level.NOTHING
        cut += OF_A_GROUP
    return Plan(levels, with_ends, cut, everything - cut)


def rest(view: View, base: Plan, families: Sequence[Family], max_series: int) -> Rest:
    """Keep series in the same order: of groups, then of topics, last those below groups."""
    before = {name: each.arrays["group_level"] for name, each in view.clusters.items()}
    whole = {name: levels != Level.NOTHING for name, levels in base.levels.items()}
    below = {name: levels == before[name] for name, levels in base.levels.items()}
    if not max_series:
        return Rest(whole, below, with_ends=True, cut=0)
    clusters = view.clusters.items()
    costs = {name: _own_costs(each, families) for name, each in clusters}
    left = max_series - base.kept
    everything = sum(int(each.sum()) for each in costs.values())
    left -= _keep_first(whole, costs, _statuses(view), left)
    ends = sum(_log_costs(each, families) for _, each in clusters)
    with_ends = base.with_ends and ends <= left
    left -= ends if with_ends else 0
    costs = {name: _costs_below(each, before[name], families) for name, each in clusters}
    everything += ends + sum(int(each.sum()) for each in costs.values())
    left -= _keep_first(below, costs, {name: -each for name, each in costs.items()}, left)
    return Rest(whole, below, with_ends, everything - (max_series - base.kept - left))


def _keep_first(
    kept: dict[str, Mask], costs: dict[str, Ints], rank: dict[str, Ints], left: int
) -> int:
    """Keep the groups of the highest rank that fit; returns what they cost."""
    names = sorted(kept)
    if not names:
        return 0
    cost = np.concatenate([np.where(kept[name], costs[name], 0) for name in names])
    order = np.argsort(-np.concatenate([rank[name] for name in names]), kind="stable")
    fits = np.zeros(len(cost), np.bool_)
    fits[order] = np.cumsum(cost[order]) <= left
    ends = np.cumsum([len(kept[name]) for name in names])
    for name, some in zip(names, np.split(fits, ends[:-1]), strict=True):
        kept[name] = kept[name] & some
    return int(cost[fits].sum())


def _statuses(view: View) -> dict[str, Ints]:
    return {
        name: each.arrays["group_status"].astype(np.int64) for name, each in view.clusters.items()
    }


def _own_costs(cluster: ClusterView, families: Sequence[Family]) -> Ints:
    costs = np.zeros(len(cluster.groups.names), np.int64)
    for family in families:
        if family.of is Of.GROUP:
            costs += family.find(cluster).is_there
    return costs


def _log_costs(cluster: ClusterView, families: Sequence[Family]) -> int:
    of_logs = (each for each in families if each.of in {Of.TOPIC, Of.PARTITION})
    return sum(int(np.count_nonzero(each.find(cluster).is_there)) for each in of_logs)


def _costs_below(cluster: ClusterView, levels: Bytes, families: Sequence[Family]) -> Ints:
    first = cluster.arrays["group_first"]
    costs = np.zeros(len(levels), np.int64)
    group_of_part = group_of(cluster, parts(cluster))
    for family in families:
        if not family.levels:
            continue
        is_there = family.find(cluster).is_there
        if family.of is Of.TOPIC_OF_GROUP:
            counts = np.bincount(group_of_part[is_there], minlength=len(levels))
        else:
            counts = np.diff(np.concatenate([[0], np.cumsum(is_there)])[first])
        costs += np.where(np.isin(levels, family.levels), counts, 0)
    return costs


def _least_bad(view: View, count: int) -> list[tuple[str, int]]:
    """The groups to leave out, `count` of them: the best status, and the last among equals."""
    every = [
        (status, name, number)
        for name, each in sorted(view.clusters.items())
        for number, status in enumerate(each.arrays["group_status"].tolist())
    ]
    every.sort(key=lambda each: each[0], reverse=True)
    return [(name, number) for _, name, number in every[len(every) - count :]]


def _most_series_first(costs: dict[str, Ints]) -> list[tuple[str, int, int]]:
    every = [
        (name, group, cost)
        for name, each in costs.items()
        for group, cost in enumerate(each.tolist())
        if cost
    ]
    return sorted(every, key=lambda each: (-each[2], each[:2]))


def _costs(cluster: ClusterView, levels: Bytes) -> Ints:
    """How many series each group has below its own two."""
    first = cluster.arrays["group_first"][:-1]
    if not len(first):
        return np.zeros(0, np.int64)
    topic = cluster.arrays["topic"]
    begins = np.ones(len(topic), np.int64)
    begins[1:] = topic[1:] != topic[:-1]
    begins[first] = 1
    complete = cluster.arrays["complete"] == 1
    fine = np.add.reduceat(1 + 2 * complete.astype(np.int64), first)
    coarse = 2 * np.add.reduceat(begins, first)
    nothing = np.zeros_like(fine)
    return np.select([levels == Level.PARTITION, levels == Level.TOPIC], [fine, coarse], nothing)
