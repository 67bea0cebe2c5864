"""The numbers of groups and partitions as columns of history: what is not known becomes null.

Seconds are rounded outward, so that the truth stays within the bounds and the files stay small:
there are fewer different values.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from warren.model import bounds
from warren.model.arrays import AnyArray, Ints, Mask
from warren.model.numbers import UNKNOWN, GroupNumbers, Method, PartitionNumbers
from warren.model.tables import GROUP_NUMBERS, HISTORY, NUMBERS

Values = Mapping[str, AnyArray]  # by column
Together = Callable[[AnyArray, Ints], AnyArray]  # of each part; parts start at the places given


def group_values(numbers: GroupNumbers) -> Values:
    return {name: getattr(numbers, name) for name in (*NUMBERS, *GROUP_NUMBERS)}


def partition_values(numbers: PartitionNumbers, lines: Ints) -> Values:
    return {name: getattr(numbers, name)[lines] for name in NUMBERS}


def number_columns(values: Values, exact: Mask | None = None) -> dict[str, pa.Array]:
    """The columns; where `exact`, the least age is not rounded."""
    columns = {name: _column(name, array) for name, array in values.items()}
    if exact is not None and exact.any():
        age_s, rounded = values["age_low_s"], columns["age_low_s"].to_numpy(zero_copy_only=False)
        kept = np.where(exact, age_s, rounded)
        columns["age_low_s"] = pa.array(kept, pa.float32(), mask=np.isnan(kept))
    return columns


def folded_values(numbers: PartitionNumbers, lines: Ints, at: Ints) -> Values:
    """Partitions of a topic as one: the worst of them, and sums of lags and losses."""
    values = partition_values(numbers, lines)
    if not len(at):
        return values
    combined = {name: how(values[name], at) for name, how in _TOGETHER.items()}
    return combined | {"age_method": values["age_method"][_oldest(values["age_s"], at)]}


def _sum(values: AnyArray, at: Ints) -> AnyArray:
    """Of what is known; unknown if nothing is."""
    known = np.maximum.reduceat(values, at) != UNKNOWN
    return np.where(known, bounds.sums(np.where(values == UNKNOWN, 0, values), at), UNKNOWN)


def _whole_sum(values: AnyArray, at: Ints) -> AnyArray:
    """An upper bound is known only if all parts are."""
    return np.where(np.minimum.reduceat(values, at) == UNKNOWN, UNKNOWN, _sum(values, at))


def _most(values: AnyArray, at: Ints) -> AnyArray:
    most: AnyArray = np.fmax.reduceat(values, at)
    return most


def _least(values: AnyArray, at: Ints) -> AnyArray:
    least: AnyArray = np.fmin.reduceat(values, at)
    return least


_TOGETHER: Mapping[str, Together] = {
    "lag_low": _sum,
    "lag_high": _whole_sum,
    "age_s": _most,
    "age_low_s": _most,
    "age_high_s": _most,
    "drain_low_s": _most,
    "drain_high_s": _most,
    "margin_s": _least,
    "lost": _sum,
}


def _oldest(age_s: AnyArray, at: Ints) -> Ints:
    """The first line with the greatest age in each part."""
    known = np.where(np.isnan(age_s), -1, age_s)
    count = np.diff(at, append=len(age_s))
    is_most = np.flatnonzero(known == np.repeat(np.maximum.reduceat(known, at), count))
    return np.asarray(is_most[np.searchsorted(is_most, at)])


def _column(name: str, values: AnyArray) -> pa.Array:
    type_ = HISTORY.field(name).type
    if name == "age_method":
        return pa.array(values.astype(np.int8), type_, mask=values == Method.UNKNOWN)
    if type_ == pa.int64():
        return pa.array(values, type_, mask=values == UNKNOWN)
    return pa.array(_rounded(name, values), type_, mask=np.isnan(values))


DIGITS = 3  # that count; fewer below ten seconds, where a tenth is the least


def _rounded(name: str, seconds: AnyArray) -> AnyArray:
    how = np.floor if "_low" in name else np.ceil if "_high" in name else np.rint
    rounded = seconds.astype(np.float64)
    finite = np.flatnonzero(np.isfinite(seconds))
    known = rounded[finite]
    least = 10.0 ** (np.floor(np.log10(np.maximum(known, 10.0))) + 1 - DIGITS)
    rounded[finite] = how(known / least) * least
    return rounded.astype(np.float32)
