"""Which series there are: as fine as asked for, and no more than allowed."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.serve.view import Cluster, View

Levels = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class Level(IntEnum):
    """What a group has series for; coarser ones included."""

    PARTITION = 1
    TOPIC = 2
    GROUP = 3


class Plan(NamedTuple):
    levels: dict[str, Levels]  # by cluster, for each group
    with_ends: bool  # whether topics have series of their own
    cut: int  # series left out for the limit


def plan(view: View, max_series: int) -> Plan:
    """Of the groups with the most series as many as need be are left with their group series."""
    levels = {name: each.arrays["group_level"].copy() for name, each in view.clusters.items()}
    costs = {name: _costs(each, levels[name]) for name, each in view.clusters.items()}
    groups = sum(2 * len(cost) for cost in costs.values())
    ends = sum(len(each.arrays["ends"]) for each in view.clusters.values())
    excess = groups + ends + sum(int(cost.sum()) for cost in costs.values()) - max_series
    if not max_series or excess <= 0:
        return Plan(levels, with_ends=True, cut=0)
    cut = 0
    for name, group, cost in _dearest(costs):
        if cut >= excess:
            return Plan(levels, with_ends=True, cut=cut)
        levels[name][group] = Level.GROUP
        cut += cost
    return Plan(levels, with_ends=cut >= excess, cut=cut if cut >= excess else cut + ends)


def _dearest(costs: dict[str, Ints]) -> list[tuple[str, int, int]]:
    every = [
        (name, group, cost)
        for name, each in costs.items()
        for group, cost in enumerate(each.tolist())
        if cost
    ]
    return sorted(every, key=lambda each: (-each[2], each[:2]))


def _costs(cluster: Cluster, levels: Levels) -> Ints:
    """The series of each group below the group's own two."""
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
