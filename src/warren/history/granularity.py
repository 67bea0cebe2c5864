"""How fine the rows of each group are, as `[history]` says."""

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from warren.config.groups import GroupFilter
from warren.config.history import History

Levels = npt.NDArray[np.uint8]


class Level(IntEnum):
    """What a group has rows for, besides its own; a greater one is coarser."""

    PARTITION = 1
    TOPIC = 2
    GROUP = 3


class Granularity:
    """Names are matched once; groups come and go, but not every minute."""

    def __init__(self, settings: History) -> None:
        patterns = (
            (settings.by_group, Level.GROUP),
            (settings.by_topic, Level.TOPIC),
            (settings.by_partition, Level.PARTITION),
        )
        self.usual = Level[settings.history_granularity.upper()]
        self._patterns = [
            (GroupFilter(allow=pattern), level) for pattern, level in patterns if pattern
        ]
        self._known: dict[str, Level] = {}

    def levels(self, groups: tuple[str, ...]) -> Levels:
        if not self._patterns:
            return np.full(len(groups), self.usual, np.uint8)
        self._known = {group: self._known.get(group) or self._level(group) for group in groups}
        return np.fromiter(self._known.values(), np.uint8, len(groups))

    def _level(self, group: str) -> Level:
        matching = (level for names, level in self._patterns if names.accepts(group))
        return next(matching, self.usual)
