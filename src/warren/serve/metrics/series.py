"""Which series there are: as fine as `[metrics]` asks for, and no more than it allows."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.config.sections import Metrics
from warren.model.arrays import Ints
from warren.model.board import NO_END
from warren.model.group_filter import GroupFilter
from warren.serve.board_file.board_view import ClusterView, View

SeriesLevels = npt.NDArray[np.uint8]


class SeriesLevel(IntEnum):
    """What a group has series for; coarser ones included."""

    PARTITION = 1
    TOPIC = 2
    GROUP = 3
    NOTHING = 4


class Plan(NamedTuple):
    levels: dict[str, SeriesLevels]  # by cluster, for each group
    with_ends: bool  # whether topics have series of their own
    cut: int  # series left out for the limit


OF_A_GROUP = 2  # series each group has


def plan(view: View, max_series: int) -> Plan:
    """Cut until no more are left than allowed: first of all below the groups that have the most.

    Then the series of topics go, and at last those of groups, well ones first.
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
    for name, group, cost in _dearest(costs):
        if cut >= excess:
            return Plan(levels, with_ends=True, cut=cut)
        levels[name][group] = SeriesLevel.GROUP
        cut += cost
    with_ends = cut >= excess
    cut += 0 if with_ends else ends
    for name, group in _well_first(view, -(-max(excess - cut, 0) // OF_A_GROUP)):
        levels[name][group] = SeriesLevel.NOTHING
        cut += OF_A_GROUP
    return Plan(levels, with_ends, cut)


def _well_first(view: View, count: int) -> list[tuple[str, int]]:
    """So many groups; those with the worst status, and among equals the first, stay."""
    every = [
        (status, name, number)
        for name, each in sorted(view.clusters.items())
        for number, status in enumerate(each.arrays["group_status"].tolist())
    ]
    every.sort(key=lambda each: each[0], reverse=True)
    return [(name, number) for _, name, number in every[len(every) - count :]]


def _dearest(costs: dict[str, Ints]) -> list[tuple[str, int, int]]:
    every = [
        (name, group, cost)
        for name, each in costs.items()
        for group, cost in enumerate(each.tolist())
        if cost
    ]
    return sorted(every, key=lambda each: (-each[2], each[:2]))


def _costs(cluster: ClusterView, levels: SeriesLevels) -> Ints:
    """The series of each group below the group's own."""
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
    return np.select(
        [levels == SeriesLevel.PARTITION, levels == SeriesLevel.TOPIC], [fine, coarse], nothing
    )


Levels = npt.NDArray[np.uint8]


class SeriesGranularity:
    """Names are matched once; groups come and go, but not every second."""

    def __init__(self, settings: Metrics) -> None:
        self._by_partition = settings.by_partition
        self._by_topic = settings.by_topic
        self._by_group = settings.by_group
        self._known: dict[str, SeriesLevel] = {}

    def levels(self, groups: tuple[str, ...]) -> Levels:
        if not (self._by_topic or self._by_group):
            return np.full(len(groups), SeriesLevel.PARTITION, np.uint8)
        self._known = {group: self._known.get(group) or self._level(group) for group in groups}
        return np.fromiter(self._known.values(), np.uint8, len(groups))

    def _level(self, group: str) -> SeriesLevel:
        if self._by_partition and GroupFilter(allow=self._by_partition).accepts(group):
            return SeriesLevel.PARTITION
        if self._by_group and GroupFilter(allow=self._by_group).accepts(group):
            return SeriesLevel.GROUP
        if self._by_topic and GroupFilter(allow=self._by_topic).accepts(group):
            return SeriesLevel.TOPIC
        return SeriesLevel.PARTITION
