"""A board as rows of history."""

from dataclasses import replace
from typing import Any

import numpy as np
from support.boards import NOW_S, board, cluster_board, windows_of

from warren.config import HistorySettings
from warren.history.board_rows import row_granularity, rows
from warren.model.board import NO_END
from warren.model.status import Status
from warren.model.tables import HISTORY

ENDS: dict[str, list[int | None]] = {"bills": [70], "idle": [5, None], "orders": [100, 200]}
NOW_MS = NOW_S * 1000
COMMITTED_MS = NOW_MS - 500
COMMITS = [
    ("billing", "bills", 0, 70, COMMITTED_MS),
    ("billing", "orders", 0, 90, COMMITTED_MS - 100),
    ("billing", "orders", 1, 150, COMMITTED_MS - 200),  # lags most
    ("dev-shop", "orders", 1, 199, COMMITTED_MS),
]


def kept(**settings: Any) -> list[dict[str, Any]]:
    made = board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS))
    granularity = row_granularity(HistorySettings(**settings))
    found: list[dict[str, Any]] = rows(made, ["local"], granularity).cast(HISTORY).to_pylist()
    return found


def short(row: dict[str, Any]) -> tuple[Any, ...]:
    columns = ("kind", "group", "topic", "partition", "lag", "offset", "max_lag", "partitions")
    return tuple(row[column] for column in columns)


def test_groups_log_ends_and_partitions_are_kept_in_order() -> None:
    assert [short(row) for row in kept()] == [
        ("group", "billing", None, None, 60, 310, 50, 3),
        ("group", "dev-shop", None, None, 1, 199, 1, 2),
        ("log_end", None, "bills", 0, None, 70, None, None),
        ("log_end", None, "idle", 0, None, 5, None, None),
        ("log_end", None, "orders", 0, None, 100, None, None),
        ("log_end", None, "orders", 1, None, 200, None, None),
        ("partition", "billing", "bills", 0, 0, 70, None, None),
        ("partition", "billing", "orders", 0, 10, 90, None, None),
        ("partition", "billing", "orders", 1, 50, 150, None, None),
        ("partition", "dev-shop", "orders", 0, 0, None, None, None),
        ("partition", "dev-shop", "orders", 1, 1, 199, None, None),
    ]


def test_a_row_tells_its_moment_and_its_verdict() -> None:
    group, *_, last = kept()

    assert (group["cluster"], group["moment_ms"]) == ("local", NOW_S * 1000)
    assert str(group["day"]) == "2023-11-14"
    assert group["status"] == Status.ERR  # silent for longer than its window of one commit
    assert group["committed_ms"] == COMMITTED_MS
    assert (last["owner"], last["client"]) == ("", "")


def test_a_group_was_committed_when_the_newest_of_its_partitions_was() -> None:
    def committed(**settings: Any) -> dict[tuple[Any, ...], int | None]:
        names = ("group", "topic", "partition")
        return {
            tuple(row[name] for name in names): row["committed_ms"] and row["committed_ms"] - NOW_MS
            for row in kept(**settings)
            if row["kind"] != "log_end"
        }

    assert committed() == {
        ("billing", None, None): -500,
        ("dev-shop", None, None): -500,
        ("billing", "bills", 0): -500,
        ("billing", "orders", 0): -600,
        ("billing", "orders", 1): -700,
        ("dev-shop", "orders", 0): None,
        ("dev-shop", "orders", 1): -500,
    }
    assert committed(history_granularity="topic") == {
        ("billing", None, None): -500,
        ("dev-shop", None, None): -500,
        ("billing", "bills", None): -500,
        ("billing", "orders", None): -600,
        ("dev-shop", "orders", None): -500,
    }


def test_groups_kept_by_topic_have_a_row_for_each() -> None:
    found = [short(row) for row in kept(by_topic="^billing$") if row["kind"] == "partition"]

    assert found == [
        ("partition", "billing", "bills", None, 0, 70, 0, 1),
        ("partition", "billing", "orders", None, 60, 240, 50, 2),
        ("partition", "dev-shop", "orders", 0, 0, None, None, None),
        ("partition", "dev-shop", "orders", 1, 1, 199, None, None),
    ]


def test_log_ends_are_as_fine_as_the_groups_that_read_the_topic() -> None:
    cases = {
        "all by partition": ({}, [("bills", 0), ("idle", 0), ("orders", 0), ("orders", 1)]),
        "one reader by partition": (
            {"by_group": "^billing$"},
            [("bills", None), ("idle", 0), ("orders", 0), ("orders", 1)],
        ),
        "all by group": (
            {"history_granularity": "group"},
            [("bills", None), ("idle", None), ("orders", None)],
        ),
    }

    found = {
        name: [
            (row["topic"], row["partition"]) for row in kept(**given) if row["kind"] == "log_end"
        ]
        for name, (given, _) in cases.items()
    }

    assert found == {name: expected for name, (_, expected) in cases.items()}


def test_a_folded_log_end_is_the_sum_of_those_that_are_known() -> None:
    ends = [row for row in kept(history_granularity="topic") if row["kind"] == "log_end"]

    assert [(row["topic"], row["offset"], row["partitions"]) for row in ends] == [
        ("bills", 70, 1),
        ("idle", 5, 1),
        ("orders", 300, 2),
    ]


def test_a_log_end_of_one_partition_has_its_log_start_where_that_is_known() -> None:
    judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    # Of bills, of both partitions of idle (one without an end), and of orders.
    start = np.array([3, NO_END, 7, 10, 20], np.int64)
    made = board(local=replace(judged, ends=replace(judged.ends, start=start)))

    found = {
        granularity: [
            (row["topic"], row["partition"], row["log_start"])
            for row in rows(
                made,
                ["local"],
                row_granularity(HistorySettings(history_granularity=granularity)),
            ).to_pylist()
            if row["kind"] == "log_end"
        ]
        for granularity in ("partition", "topic")
    }

    assert found == {
        "partition": [("bills", 0, 3), ("idle", 0, None), ("orders", 0, 10), ("orders", 1, 20)],
        "topic": [("bills", None, None), ("idle", None, None), ("orders", None, None)],
    }


def test_of_patterns_that_match_the_coarsest_counts() -> None:
    names = ("dev-a", "important-dev", "other")
    settings = HistorySettings(by_group="^dev-", by_partition="dev", history_granularity="topic")

    assert row_granularity(settings).levels(names).tolist() == [3, 1, 2]


def test_names_that_are_no_utf_8_are_kept_as_readable_text() -> None:
    judged = cluster_board(windows_of({"orders": [10]}, [("g", "orders", 0, 5, NOW_S * 1000)]), {})
    verdicts = replace(judged.verdicts, names=("b\udcffd",))
    moment = board(local=replace(judged, verdicts=verdicts))

    kept = rows(moment, ["local"], row_granularity(HistorySettings())).cast(HISTORY)

    assert {*kept["group"].drop_null().to_pylist()} == {"b\ufffdd"}


def test_an_empty_board_has_no_rows() -> None:
    nothing = board(local=cluster_board(windows_of({}, []), {}))

    assert len(rows(nothing, ["local"], row_granularity(HistorySettings()))) == 0
