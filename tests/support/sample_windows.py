"""Histories written by hand, for rules and verdicts that need no commits to have been folded."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Ints
from warren.model.window_arrays import WindowArrays


class Slot(NamedTuple):
    offset: int
    ms: int
    lag: int | None


class Past(NamedTuple):
    """The window of one partition, oldest first; None is a free place."""

    slots: Sequence[Slot | None]
    current_lag: int = 0
    ends: Sequence[int] = ()  # the log ends remembered, if they matter


def history(partitions: Sequence[Past], group: str = "g") -> WindowArrays:
    """One group that reads one topic with these partitions."""
    held = [[slot for slot in past.slots if slot is not None] for past in partitions]
    width = max([len(past.slots) for past in partitions] + [1])
    rows = [[slots[0]] * (width - len(slots)) + slots if slots else [] for slots in held]
    count = len(partitions)

    def grid(values: list[list[int]]) -> Ints:
        return np.array([line or [0] * width for line in values], np.int64).reshape(count, width)

    def column(values: list[int]) -> Ints:
        return np.array(values, np.int64)

    newest = [
        past.current_lag + (s[-1].offset if s else 0)
        for past, s in zip(partitions, held, strict=True)
    ]
    lowest = [min(past.ends, default=np.iinfo(np.int64).max) for past in partitions]
    nothing = np.zeros(count, np.int32)
    return WindowArrays(
        groups=(group,),
        topics=("t",),
        owners=("",),
        as_of_s=np.array([np.inf]),
        group_pair=column([0]),
        pair_topic=column([0]),
        pair_row=column([0]),
        pair_count=column([count]),
        offset=grid([[slot.offset for slot in row] for row in rows]),
        order=grid([[*range(len(row))] for row in rows]),
        committed_ms=grid([[slot.ms for slot in row] for row in rows]),
        lag=grid([[-1 if slot.lag is None else slot.lag for slot in row] for row in rows]),
        observed_s=np.zeros((count, width), np.uint32),
        filled=np.array([len(slots) for slots in held], np.uint16),
        last_ms=column([slots[-1].ms if slots else 0 for slots in held]),
        owner=nothing,
        client=nothing,
        stopped=np.zeros(count, np.bool_),
        written_s=np.zeros(count),
        end_row=np.arange(count),
        newest_end=column(newest),
        lowest_end=column(lowest),
    )
