"""How fine the series of each group are, as `[metrics]` says."""

import numpy as np
import numpy.typing as npt

from warren.config.groups import GroupFilter
from warren.config.sections import Metrics
from warren.serve.levels import Level

Levels = npt.NDArray[np.uint8]


class Granularity:
    """Names are matched once; groups come and go, but not every second."""

    def __init__(self, settings: Metrics) -> None:
        self._by_partition = settings.by_partition
        self._by_topic = settings.by_topic
        self._by_group = settings.by_group
        self._known: dict[str, Level] = {}

    def levels(self, groups: tuple[str, ...]) -> Levels:
        if not (self._by_topic or self._by_group):
            return np.full(len(groups), Level.PARTITION, np.uint8)
        self._known = {group: self._known.get(group) or self._level(group) for group in groups}
        return np.fromiter(self._known.values(), np.uint8, len(groups))

    def _level(self, group: str) -> Level:
        if self._by_partition and GroupFilter(allow=self._by_partition).accepts(group):
            return Level.PARTITION
        if self._by_group and GroupFilter(allow=self._by_group).accepts(group):
            return Level.GROUP
        if self._by_topic and GroupFilter(allow=self._by_topic).accepts(group):
            return Level.TOPIC
        return Level.PARTITION
