"""Numbers beside verdicts that nobody measured: the lag is exact, what takes time unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from warren.model import bounds
from warren.model.arrays import Singles
from warren.model.numbers import (
    UNKNOWN,
    GroupNumbers,
    Lack,
    Method,
    Numbers,
    PartitionNumbers,
)
from warren.model.verdicts import Verdicts

Columns = TypeVar("Columns", PartitionNumbers, GroupNumbers)


def plain_numbers(verdicts: Verdicts) -> Numbers:
    lag, begin = verdicts.partitions.current_lag, verdicts.groups.first[:-1]
    total = bounds.sums(lag, begin)
    return Numbers(
        PartitionNumbers(
            lag=lag,
            lag_low=lag,
            lag_high=lag,
            age_s=_age(lag),
            age_low_s=_age(lag),
            age_high_s=_age(lag),
            age_method=_method(lag),
            produced=_nan(lag),
            consumed=_nan(lag),
            drain_low_s=_age(lag),
            drain_high_s=_age(lag),
            margin_s=_nan(lag),
            lost=np.full(len(lag), UNKNOWN, np.int64),
            lack=np.full(len(lag), Lack.NO_START | Lack.NO_HISTORY, np.uint8),
        ),
        GroupNumbers(
            lag=total,
            lag_low=total,
            lag_high=total,
            age_s=_age(total),
            age_low_s=_age(total),
            age_high_s=_age(total),
            age_method=_method(total),
            age_line=verdicts.groups.max_lag_line,
            produced=_nan(total),
            consumed=_nan(total),
            drain_low_s=_age(total),
            drain_high_s=_age(total),
            margin_s=_nan(total),
            lost=np.full(len(total), UNKNOWN, np.int64),
            scalable_lag=total,
            expires_s=_nan(total),
        ),
    )


def numbers_of(
    verdicts: Verdicts,
    partitions: Mapping[str, Sequence[float]],
    groups: Mapping[str, Sequence[float]],
) -> Numbers:
    """Some columns as given, the others plain."""
    plain = plain_numbers(verdicts)
    return Numbers(_with(plain.partitions, partitions), _with(plain.groups, groups))


def _with(columns: Columns, given: Mapping[str, Sequence[float]]) -> Columns:
    kinds = {name: getattr(columns, name).dtype for name in given}
    return replace(columns, **{name: np.array(given[name], kinds[name]) for name in given})


def _nan(like: np.ndarray) -> Singles:
    return np.full(len(like), np.nan, np.float32)


def _age(lag: np.ndarray) -> Singles:
    """Nothing unread is 0 seconds old."""
    return np.where(lag > 0, np.float32(np.nan), np.float32(0))


def _method(lag: np.ndarray) -> np.ndarray:
    return np.where(lag > 0, np.uint8(Method.UNKNOWN), np.uint8(Method.NOTHING_UNREAD))
