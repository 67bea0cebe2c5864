"""A board of groups with telling numbers; each has one partition, and a name that says which."""

from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf, nan

import numpy as np
from support.boards import NOW_S, Commit, cluster_board, windows_of

from warren.model.board import Board, ClusterBoard
from warren.model.health import Health
from warren.model.numbers import (
    UNKNOWN,
    GroupNumbers,
    Lack,
    Method,
    Numbers,
    PartitionNumbers,
)

MOST = 2**63 - 1
Some = dict[str, float]
NO_TIME: Some = {"age_s": 0, "age_low_s": 0, "age_high_s": 0, "age_method": Method.NOTHING_UNREAD}
LATE: Some = {"age_s": 720, "age_low_s": 660, "age_high_s": 780, "age_method": Method.BY_ENDS}
NOT_KNOWN: Some = {"age_s": nan, "age_low_s": nan, "age_high_s": nan, "age_method": Method.UNKNOWN}
HOSTILE = "<b onmouseover=alert(1)>evil</b>\u202e"

NUMBERS: dict[str, Some] = {
    "late": LATE
    | {"lag_low": 900, "lag_high": 1100, "drain_low_s": 300, "drain_high_s": 420}
    | {"produced": 50, "consumed": 52.5},
    "close": LATE | {"age_low_s": 712, "age_high_s": 728, "age_method": Method.BY_CLOCK},
    "doomed": LATE
    | {"drain_low_s": inf, "drain_high_s": inf, "margin_s": 2400, "produced": 9, "consumed": 0},
    "lossy": LATE | {"lost": 1204},
    "unlucky": LATE | {"lost": 1, "margin_s": 0},
    "safe": LATE | {"drain_low_s": 60, "drain_high_s": 90, "margin_s": 600, "lost": 0},
    "unsure": LATE | {"drain_low_s": 600, "drain_high_s": inf},
    "older": LATE | {"age_high_s": inf, "lack": Lack.NO_HISTORY},
    "unknown": NOT_KNOWN
    | {"lack": Lack.NO_END | Lack.NO_START, "drain_low_s": nan, "drain_high_s": nan}
    | {"lag": UNKNOWN, "lag_low": UNKNOWN, "lag_high": UNKNOWN, "produced": nan, "consumed": nan},
    "idle": NO_TIME | {"lag": 0, "lag_low": 0, "lag_high": 0, "drain_low_s": 0, "drain_high_s": 0},
    "leaving": NO_TIME | {"lag": 0, "expires_s": 72_000},
    "steady": LATE
    | {"age_s": 400, "age_low_s": 390, "age_high_s": 410}
    | {"drain_low_s": 4000, "drain_high_s": inf}
    | {"produced": 50, "consumed": 49.5},
    "extreme": {"age_s": 3e38, "age_low_s": 0, "age_high_s": 3e38, "age_method": Method.BY_ENDS}
    | {"lag": MOST, "lag_low": 0, "lag_high": MOST, "lost": MOST}
    | {"drain_low_s": 3e38, "drain_high_s": 3e38, "produced": 3e38, "consumed": -3e38},
    HOSTILE: LATE,
}


def numbered_board() -> Board:
    ends: dict[str, list[int | None]] = {"orders": [2000]}
    commits: list[Commit] = [
        (group, "orders", 0, 1000 - 10 * (9 - number), (NOW_S - 10 * (9 - number)) * 1000)
        for group in NUMBERS
        for number in range(10)
    ]
    judged = cluster_board(windows_of(ends, commits), ends)
    return Board(NOW_S * 1000, {"local": with_numbers(judged, NUMBERS)}, Health(ready=True))


def with_numbers(judged: ClusterBoard, stated: Mapping[str, Some]) -> ClusterBoard:
    """The same board with other numbers: those of a group, and of all its partitions."""
    numbers, first = judged.numbers, judged.verdicts.groups.first
    of_partitions, of_groups = _copies(numbers.partitions), _copies(numbers.groups)
    for group, values in stated.items():
        line = judged.verdicts.names.index(group)
        for name, value in values.items():
            if name in of_partitions:
                of_partitions[name][first[line] : first[line + 1]] = value
            if name in of_groups:
                of_groups[name][line] = value
    found = Numbers(
        replace(numbers.partitions, **of_partitions), replace(numbers.groups, **of_groups)
    )
    return replace(judged, numbers=found)


def _copies(numbers: PartitionNumbers | GroupNumbers) -> dict[str, np.ndarray]:
    return {each.name: getattr(numbers, each.name).copy() for each in fields(numbers)}
