"""The numbers of a board as columns of history."""

from dataclasses import replace
from typing import Any

from support.boards import NOW_S, board, cluster_board, windows_of
from support.some_numbers import NAN, NEVER, Given, some_numbers

from warren.config import HistorySettings
from warren.history.board_rows import row_granularity, rows
from warren.model.numbers import UNKNOWN, Method
from warren.model.tables import GROUP_NUMBERS, HISTORY, LOG_END, NUMBERS

ENDS: dict[str, list[int | None]] = {"bills": [70], "orders": [100, 200]}
COMMITTED_MS = NOW_S * 1000 - 500
COMMITS = [
    ("billing", "bills", 0, 70, COMMITTED_MS),
    ("billing", "orders", 0, 90, COMMITTED_MS),
    ("billing", "orders", 1, 150, COMMITTED_MS),
]
ENDS_KNOWN, CLOCK, UNREAD = Method.BY_ENDS, Method.BY_CLOCK, Method.NOTHING_UNREAD
PARTITIONS: Given = {
    "lag_low": [0, 8, 50],
    "lag_high": [0, 12, UNKNOWN],
    "age_s": [0, 12.34, 7004.0],
    "age_low_s": [0, 12.34, 6999.9],
    "age_high_s": [0, 12.34, NEVER],
    "age_method": [UNREAD, ENDS_KNOWN, CLOCK],
    "drain_low_s": [0, 61.23, NAN],
    "drain_high_s": [0, NEVER, NAN],
    "margin_s": [NEVER, 86_433.0, NAN],
    "lost": [0, 3, UNKNOWN],
}
GROUP: Given = {name: [values[2]] for name, values in PARTITIONS.items()}
OF_GROUP: Given = {"scalable_lag": [17], "expires_s": [86_432.0]}
EVERY = (*NUMBERS, *GROUP_NUMBERS)


def kept(partitions: Given, groups: Given, **settings: Any) -> dict[Any, dict[str, Any]]:
    """The number columns, by kind, topic and partition."""
    cluster = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    numbers = some_numbers(cluster.verdicts, partitions, groups)
    made = board(local=replace(cluster, numbers=numbers))
    found = rows(made, ["local"], row_granularity(HistorySettings(**settings))).cast(HISTORY)
    return {
        (row["kind"], row["topic"], row["partition"]): {name: row[name] for name in EVERY}
        for row in found.to_pylist()
    }


def exactly(**values: Any) -> dict[str, Any]:
    return dict.fromkeys(EVERY) | values


def near(found: dict[str, Any]) -> dict[str, Any]:
    """As decimals: 12.3 is none of a float's numbers."""
    return {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in found.items()
    }


def test_what_is_unknown_is_null_and_bounds_are_rounded_outward() -> None:
    found = kept(PARTITIONS, {**GROUP, **OF_GROUP})

    line = exactly(lag_low=50, age_s=7000.0, age_low_s=6990.0, age_high_s=NEVER, age_method=CLOCK)
    of_group = {"scalable_lag": 17, "expires_s": 86_400.0}
    assert near(found["group", None, None]) == line | of_group
    assert near(found["partition", "orders", 1]) == line
    assert near(found["partition", "bills", 0]) == exactly(
        lag_low=0,
        lag_high=0,
        age_s=0.0,
        age_low_s=0.0,
        age_high_s=0.0,
        age_method=UNREAD,
        drain_low_s=0.0,
        drain_high_s=0.0,
        margin_s=NEVER,
        lost=0,
    )
    assert near(found["partition", "orders", 0]) == exactly(
        lag_low=8,
        lag_high=12,
        age_s=12.3,
        age_low_s=12.3,
        age_high_s=12.4,
        age_method=ENDS_KNOWN,
        drain_low_s=61.2,
        drain_high_s=NEVER,
        margin_s=86400.0,
        lost=3,
    )
    assert {tuple(row.values()) for key, row in found.items() if key[0] == LOG_END} == {
        (None,) * len(EVERY)
    }


def test_a_folded_topic_has_the_worst_of_its_partitions_and_sums() -> None:
    found = kept(PARTITIONS, GROUP, history_granularity="topic")

    assert near(found["partition", "orders", None]) == exactly(
        lag_low=58,
        age_s=7000.0,
        age_low_s=6990.0,
        age_high_s=NEVER,
        age_method=CLOCK,
        drain_low_s=61.2,
        drain_high_s=NEVER,
        margin_s=86400.0,
        lost=3,
    )
    assert found["partition", "bills", None]["lag_high"] == 0


def test_a_board_of_which_nothing_is_known_has_no_numbers() -> None:
    for granularity in ("partition", "topic"):
        found = kept({}, {}, history_granularity=granularity)

        assert [row for row in found.values() if row != exactly()] == []


def test_absurd_lags_of_a_folded_topic_stay_within_64_bits() -> None:
    huge: Given = {"lag_low": [0, 2**63 - 1, 2**63 - 1], "lag_high": [0, 2**63 - 1, 2**63 - 1]}

    found = kept(huge, {}, history_granularity="topic")

    assert found["partition", "orders", None] == exactly(lag_low=2**63 - 1, lag_high=2**63 - 1)
