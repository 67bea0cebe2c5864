"""How often something happens, from when it happened: recent events count more."""

import math

import numpy as np
from msgspec import Struct

from warren.model.arrays import Floats

TIME_CONSTANT_S = 180.0  # after this long an event counts a third of what it did at first
PER_MINUTE = 60 / TIME_CONSTANT_S


class DecayingRate(Struct, array_like=True):
    """A sum over events, each of which decays; the order they are added in does not matter."""

    sum: float = 0.0
    as_of_s: float = 0.0  # of the latest event; 0: there was none

    def add(self, count: int, at_s: float) -> None:
        """Add events of one moment; without a moment they do not count."""
        if count <= 0 or at_s <= 0:
            return
        if at_s >= self.as_of_s:
            self.sum = self.sum * _left(at_s - self.as_of_s) + count
            self.as_of_s = at_s
        else:
            self.sum += count * _left(self.as_of_s - at_s)


def per_minute(sums: Floats, as_of_s: Floats, now_s: float) -> Floats:
    """The rates now; a moment after now, by a clock that is ahead, counts as now."""
    rates: Floats = sums * np.exp(-np.maximum(now_s - as_of_s, 0) / TIME_CONSTANT_S) * PER_MINUTE
    return rates


def _left(passed_s: float) -> float:
    return math.exp(-passed_s / TIME_CONSTANT_S)
