"""What both evaluators say, as columns of the board's file and as a worker sees them again.

Of boards that say nothing, as those that are read from history, there are no columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from warren.model.arrays import AnyArray, Ints, Mask, Singles
from warren.model.figures import Figures
from warren.model.judgement import Judgement

PREFIX = "judgement_"
# The others are for history and notifiers, which read the board itself.
NO_COLUMNS = ("alarm", "decides", "figures", "grounds", "settings")
COLUMNS = tuple(each.name for each in fields(Judgement) if each.name not in NO_COLUMNS)
FIGURES = PREFIX + "figures_"


def columns(judgement: Judgement | None) -> dict[str, AnyArray]:
    if judgement is None:
        return {}
    own = {PREFIX + name: getattr(judgement, name) for name in COLUMNS}
    return own | {FIGURES + name: each for name, each in judgement.figures._asdict().items()}


def read(arrays: Mapping[str, AnyArray], *, decides: bool) -> "Opinions | None":
    if PREFIX + COLUMNS[0] not in arrays:
        return None
    found: dict[str, Any] = {name: arrays[PREFIX + name] for name in COLUMNS}
    figures = Figures._make(arrays[FIGURES + name] for name in Figures._fields)
    judgement = Judgement(**found, figures=figures, decides=decides)
    return Opinions(judgement, arrays["group_first"])


@dataclass(frozen=True)
class Opinions:
    """The judgement of a cluster; what it says of whole groups is computed once for a board."""

    judgement: Judgement
    first: Ints  # the lines of a group are first[i] .. first[i + 1] - 1

    @cached_property
    def differs(self) -> Mask:
        return self.judgement.differs

    @cached_property
    def differing(self) -> Ints:
        """By group, of how many partitions the evaluators say different things."""
        return self._of_groups(np.add, self.differs.astype(np.int64))

    @cached_property
    def usual_gap_s(self) -> Singles:
        """Of each group, that of the partition that commits most often; 0: not known."""
        gap_s = self.judgement.usual_gap_s
        least = self._of_groups(np.minimum, np.where(gap_s > 0, gap_s, np.float32(np.inf)))
        return np.where(np.isinf(least), np.float32(0), least)

    @cached_property
    def longest_pause_s(self) -> Singles:
        return self._of_groups(np.maximum, self.judgement.longest_pause_s)

    @cached_property
    def period_s(self) -> Singles:
        return self._of_groups(np.maximum, self.judgement.period_s)

    def _of_groups(self, combine: np.ufunc, of_lines: AnyArray) -> AnyArray:
        """Every group has partitions."""
        begins = self.first[:-1]
        found: AnyArray = combine.reduceat(of_lines, begins) if len(begins) else of_lines[:0]
        return found
