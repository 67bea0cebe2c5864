"""Boards become history, moment by moment, and what stands in the way is told."""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from pyspark.sql import SparkSession
from structlog.testing import capture_logs
from support.boards import NOW_S, cluster_board, windows_of
from support.history_rows import group, write
from support.waiting import eventually

from warren.config import HistorySettings
from warren.errors import ClockBehind, NotKept
from warren.history.board_rows import row_granularity, rows, without
from warren.history.keeper import Keeper, current_clusters
from warren.model.board import Board
from warren.model.health import ClusterHealth, ConsumerHealth, ConsumerState, Health
from warren.model.tables import HISTORY

ENDS: dict[str, list[int | None]] = {"orders": [100, 200]}
NOW_MS = NOW_S * 1000
COMMITS = [("billing", "orders", 0, 90, NOW_S * 1000)]
DEADLINE_S = 240


def health_of(**states: ConsumerState) -> Health:
    return Health(
        clusters=dict.fromkeys(states, ClusterHealth(data_age_s=1.0)),
        consumers={name: ConsumerHealth(name, state) for name, state in states.items()},
    )


def with_cluster(board: Board, health: ClusterHealth) -> Board:
    return replace(board, health=structs.replace(board.health, clusters={"local": health}))


def boards(**states: ConsumerState) -> Callable[[], Board]:
    """The newest one, 400 ms later each time."""
    cluster = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    moments = iter(range(NOW_S * 1000, NOW_S * 1000 + 10**8, 400))
    return lambda: Board(next(moments), dict.fromkeys(states, cluster), health_of(**states))


def boards_at(*seconds: int) -> Callable[[], Board]:
    """One after the other, so many seconds after the first; the last one stays."""
    cluster = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    after = itertools.chain(seconds, itertools.repeat(seconds[-1]))
    health = health_of(local="caught up")
    return lambda: Board(NOW_MS + next(after) * 1000, {"local": cluster}, health)


@contextmanager
def running(keeper: Keeper) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=keeper.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(DEADLINE_S)


def kept(keeper: Keeper) -> int:
    outcomes = keeper.health().outcomes
    assert isinstance(outcomes, dict)
    return int(outcomes["kept"])


def test_one_moment_is_kept_in_every_interval(spark: SparkSession, tmp_path: Path) -> None:
    newest = boards(ready="caught up", late="catching up")
    keeper = Keeper(spark, str(tmp_path), HistorySettings(history_interval=1), newest)

    with running(keeper):
        eventually(lambda: kept(keeper) >= 2)

    rows = spark.read.format("delta").load(str(tmp_path)).select("cluster", "moment_ms", "kind")
    found = rows.collect()
    moments = {row.moment_ms for row in found}
    assert len(moments) >= 2
    assert len({moment // 1000 for moment in moments}) == len(moments)
    assert {row.cluster for row in found} == {"ready"}
    assert len(found) == len(moments) * 5  # a group, two log ends, two partitions
    assert (keeper.problem, keeper.health().last_rows) == ("", 5)


def test_a_place_that_cannot_be_written_is_a_clear_problem(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    directory = str(tmp_path / "file" / "history")
    keeper = Keeper(spark, directory, HistorySettings(), boards(local="caught up"))

    with pytest.raises(NotKept) as caught:
        keeper.run(threading.Event())

    told = str(caught.value)
    assert told.startswith(f"history cannot be written to {directory}: ")
    assert "\n" not in told
    assert keeper.health().outcomes == {"kept": 0, "failed": 1}


def kept_seconds(spark: SparkSession, directory: Path) -> list[int]:
    rows = spark.read.format("delta").load(str(directory)).select("moment_ms").distinct()
    return sorted((row.moment_ms - NOW_MS) // 1000 for row in rows.collect())


def keep(spark: SparkSession, directory: Path, *seconds: int) -> None:
    """A keeper, and boards so many seconds after the first, until the last of them is kept."""
    keeper = Keeper(
        spark, str(directory), HistorySettings(history_interval=60), boards_at(*seconds)
    )
    with running(keeper):
        eventually(lambda: keeper.health().last_moment_ms == NOW_MS + seconds[-1] * 1000)


def test_another_keeper_goes_on_where_one_ended(spark: SparkSession, tmp_path: Path) -> None:
    keep(spark, tmp_path, 0, 20, 45)
    keep(spark, tmp_path, 46, 70, 99, 100)

    # NOW_S is 20 s past a full minute.
    assert kept_seconds(spark, tmp_path) == [0, 45, 100]


def test_a_clock_that_is_behind_history_is_a_problem_until_it_is_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path, {NOW_MS + 60_000: [group("billing", 1, 0)]})
    keeper = Keeper(spark, str(tmp_path), HistorySettings(), boards_at(0))

    with pytest.raises(ClockBehind, match="the clock is behind"):
        keeper.run(threading.Event())

    assert keeper.health().outcomes == {"kept": 0, "failed": 1}
    assert kept_seconds(spark, tmp_path) == [60]


def test_a_moment_far_ahead_does_not_stop_history(spark: SparkSession, tmp_path: Path) -> None:
    far = 10**7
    with capture_logs() as logged:
        keep(spark, tmp_path, far)
        keep(spark, tmp_path, 0, 10, 45)
        keep(spark, tmp_path, 46, 100)

    assert kept_seconds(spark, tmp_path) == [0, 45, 100, far]
    told = [line["event"] for line in logged if line["log_level"] == "error"]
    assert told == ["history holds a moment far ahead of the clock"] * 2  # once by each keeper


def test_clusters_that_are_still_read_are_left_out() -> None:
    states: dict[ConsumerState, bool] = {
        "caught up": True,
        "catching up": False,
        "connecting": False,
        "failed": False,  # its last verdicts grow old
    }

    wrong = [
        state
        for state, is_kept in states.items()
        if ([*current_clusters(boards(local=state)())] == ["local"]) != is_kept
    ]

    assert wrong == []


def test_a_cluster_that_does_not_answer_or_is_being_caught_up_with_is_not_kept() -> None:
    board = boards(local="caught up")()
    cases = {
        "it answers": (ClusterHealth(data_age_s=1.0), ["local"]),
        "no broker answers": (ClusterHealth(data_age_s=1.0, problem="timed out"), []),
        "goes on from a snapshot": (ClusterHealth(data_age_s=1.0, restored=True), []),
    }

    wrong = [
        name
        for name, (told, expected) in cases.items()
        if [*current_clusters(with_cluster(board, told))] != expected
    ]

    assert wrong == []


def test_groups_whose_past_is_still_read_are_left_out() -> None:
    judged = cluster_board(windows_of(ENDS, [*COMMITS, ("new", "orders", 1, 190, NOW_MS)]), ENDS)
    groups = judged.verdicts.groups
    as_of_ms = np.where(np.array(judged.verdicts.names) == "new", 0, groups.as_of_ms)
    verdicts = replace(judged.verdicts, groups=replace(groups, as_of_ms=as_of_ms))
    cluster = replace(judged, verdicts=verdicts)

    found = current_clusters(Board(NOW_MS, {"local": cluster}, health_of(local="caught up")))

    assert found == {"local": {"new"}}


def test_groups_outside_kafka_that_are_not_read_are_left_out() -> None:
    commits = [*COMMITS, ("spout", "orders", 1, 190, NOW_MS)]
    judged = cluster_board(windows_of(ENDS, commits), ENDS)
    cluster = replace(judged, outside={"old": frozenset({"spout"})})
    health = health_of(local="caught up")

    def kept(**others: ConsumerState) -> set[str] | None:
        told = {name: ConsumerHealth("local", state) for name, state in others.items()}
        consumers = structs.replace(health, consumers={**health.consumers, **told})
        board = Board(NOW_MS, {"local": cluster}, consumers)
        clusters = current_clusters(board)
        if not clusters:
            return None
        granularity = row_granularity(HistorySettings())
        moment = without(rows(board, clusters, granularity), clusters).cast(HISTORY)
        assert None in moment["group"].to_pylist()  # log ends are there all the same
        return {*moment["group"].drop_null().to_pylist()}

    assert kept(old="caught up") == {"billing", "spout"}
    assert kept(old="failed") == kept(old="catching up") == {"billing"}
    assert kept(old="caught up", topic="failed") is None
