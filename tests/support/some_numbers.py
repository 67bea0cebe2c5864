"""Numbers of a board for tests: nothing is known except what a test gives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warren.model.numbers import UNKNOWN, GroupNumbers, Lack, Method, Numbers, PartitionNumbers
from warren.model.verdicts import Verdicts

Given = Mapping[str, Sequence[float]]  # by field: a value for each line, or for each group
NAN, NEVER = float("nan"), float("inf")


def some_numbers(
    verdicts: Verdicts, partitions: Given | None = None, groups: Given | None = None
) -> Numbers:
    lines, names = len(verdicts.partitions.status), len(verdicts.names)
    first = verdicts.groups.first[:-1]
    group = GroupNumbers(
        **_unknown(names),
        age_line=first.copy(),
        scalable_lag=np.full(names, UNKNOWN, np.int64),
        expires_s=np.full(names, np.nan, np.float32),
    )
    partition = PartitionNumbers(**_unknown(lines), lack=np.full(lines, Lack.NOTHING, np.uint8))
    for numbers, given in ((partition, partitions), (group, groups)):
        for name, values in (given or {}).items():
            getattr(numbers, name)[:] = values
    return Numbers(partition, group)


def _unknown(length: int) -> dict[str, Any]:
    counts = ("lag", "lag_low", "lag_high", "lost")
    seconds = ("age_s", "age_low_s", "age_high_s", "produced", "consumed", "margin_s")
    return {
        **{name: np.full(length, UNKNOWN, np.int64) for name in counts},
        **{
            name: np.full(length, np.nan, np.float32)
            for name in (*seconds, "drain_low_s", "drain_high_s")
        },
        "age_method": np.full(length, Method.UNKNOWN, np.uint8),
    }
