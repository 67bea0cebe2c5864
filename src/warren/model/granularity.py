"""How much detail a group gets in metrics and history: by partition, by topic, or as a whole."""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from warren.model.arrays import Bytes
from warren.model.group_filter import GroupFilter


class Level(IntEnum):
    """The finest rows or series that a group gets, besides its own; a greater level is coarser."""

    PARTITION = 1
    TOPIC = 2
    GROUP = 3
    NOTHING = 4  # not even its own; only in metrics, to stay within their limit


class Granularity:
    """The level of each group: that of the first pattern found in its name, else the usual one.

    Metrics and history try the patterns in different orders; their settings say which. The level of
    a group is kept as long as the group exists, so that each name is matched only once.
    """

    def __init__(
        self, patterns: Iterable[tuple[str, Level]], usual: Level = Level.PARTITION
    ) -> None:
        """Empty patterns are ignored."""
        self.usual = usual
        self._patterns = [
            (GroupFilter(allow=pattern), level) for pattern, level in patterns if pattern
        ]
        self._known: dict[str, Level] = {}

    def levels(self, groups: tuple[str, ...]) -> Bytes:
        if not self._patterns:
            return np.full(len(groups), self.usual, np.uint8)
        self._known = {group: self._known.get(group) or self._level(group) for group in groups}
        return np.fromiter(self._known.values(), np.uint8, len(groups))

    def _level(self, group: str) -> Level:
        matching = (level for names, level in self._patterns if names.accepts(group))
        return next(matching, self.usual)
