"""Which series a scrape has: as fine as `[metrics]` says, and no more than `max-series`."""

from typing import NamedTuple

import numpy as np

from warren.config.sections import Metrics
from warren.model.arrays import Bytes, Ints
from warren.model.board import NO_END
from warren.model.granularity import Granularity, Level
from warren.serve.board_file.board_view import ClusterView, View


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
    excess = groups + ends + sum(int(cost.sum()) for cost in costs.values()) - max_series
    if not max_series or excess <= 0:
        return Plan(levels, with_ends=True, cut=0)
    cut = 0
    for name, group, cost in _most_series_first(costs):
        if cut >= excess:
            return Plan(levels, with_ends=True, cut=cut)
        levels[name][group] = Level.GROUP
        cut += cost
    with_ends = cut >= excess
    cut += 0 if with_ends else ends
    for name, group in _least_bad(view, -(-max(excess - cut, 0) // OF_A_GROUP)):
        levels[name][group] = Level.NOTHING
        cut += OF_A_GROUP
    return Plan(levels, with_ends, cut)


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
