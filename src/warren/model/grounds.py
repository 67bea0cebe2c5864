"""What a word of Warren's evaluator stands on, so that it can be said again under other policies.

`evaluate.word_rules` makes grounds at every tick and says the word from them; history keeps them,
and a back-test says the words again. A policy changes the settings of a line, never its grounds.
"""

from enum import IntFlag
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from warren.model.arrays import AnyArray, Floats, Ints, Singles

Signs = npt.NDArray[np.int16]


class Sign(IntFlag):
    """What held of a partition at a tick, whatever its policy."""

    COMMITTED = 1  # something was ever committed
    NEVER = 2
    LEFT = 4
    BLOCKED = 8
    RISES = 16  # its lag has risen for minutes; not looked at under a max-time-lag
    WARNED = 32  # its word was WARN before
    REWOUND = 64
    REJOINS = 128  # generations of its group follow each other
    LOST = 256
    AHEAD = 512
    STALE = 1024
    GONE = 2048  # its query has ended


class Grounds(NamedTuple):
    """By line."""

    as_of_ms: Ints  # up to when its commits were read
    last_ms: Ints  # when the newest of them was made
    held_ms: Ints  # since when records wait and the offset does not move; 0: none wait
    unread: Ints  # records that the group could read
    age_low_s: Singles  # the oldest of them is older than this; NaN: not known
    learned_s: Singles  # how long its rhythm explains silence
    signs: Signs

    @classmethod
    def empty(cls, lines: int) -> "Grounds":
        kinds = (*(np.int64,) * 4, *(np.float32,) * 2, np.int16)
        return cls._make(np.empty(lines, kind) for kind in kinds)

    def note(self, some: slice, of_some: "Grounds") -> None:
        columns: list[AnyArray] = [*self]
        for column, values in zip(columns, of_some, strict=True):
            column[some] = values

    def of(self, where: slice | Ints) -> "Grounds":
        return Grounds._make(column[where] for column in self)


class LineSettings(NamedTuple):
    """By line, what its policy says, or the evaluator's section where no policy says it."""

    allowed_lag: Ints
    max_time_lag_s: Floats  # NaN: none
    period_s: Floats  # NaN: none

    def of(self, where: slice | Ints) -> "LineSettings":
        return LineSettings._make(column[where] for column in self)
