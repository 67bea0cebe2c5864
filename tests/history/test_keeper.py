"""Boards become history, moment by moment, and what stands in the way is told."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from serve.boards import NOW_S, cluster_board, windows_of

from warren.board import Board
from warren.config import History
from warren.errors import NotKept
from warren.history.keeper import Keeper, settled

ENDS: dict[str, list[int | None]] = {"orders": [100, 200]}
COMMITS = [("billing", "orders", 0, 90, NOW_S * 1000)]
DEADLINE_S = 240


def consumers(**states: str) -> dict[str, object]:
    told = {name: {"cluster": name, "state": state} for name, state in states.items()}
    return {"consumers": told}


def boards(**states: str) -> Callable[[], Board]:
    """The newest one, 400 ms later each time."""
    cluster = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    moments = iter(range(NOW_S * 1000, NOW_S * 1000 + 10**8, 400))
    return lambda: Board(next(moments), dict.fromkeys(states, cluster), consumers(**states))


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
    outcomes = keeper.health()["outcomes"]
    assert isinstance(outcomes, dict)
    return int(outcomes["kept"])


def test_one_moment_is_kept_in_every_interval(spark: SparkSession, tmp_path: Path) -> None:
    newest = boards(ready="caught up", late="catching up")
    keeper = Keeper(spark, str(tmp_path), History(history_interval=1), newest)

    until = time.monotonic() + DEADLINE_S
    with running(keeper):
        while kept(keeper) < 2 and time.monotonic() < until:
            time.sleep(0.05)

    rows = spark.read.format("delta").load(str(tmp_path)).select("cluster", "moment_ms", "kind")
    found = rows.collect()
    moments = {row.moment_ms for row in found}
    assert len(moments) >= 2
    assert len({moment // 1000 for moment in moments}) == len(moments)
    assert {row.cluster for row in found} == {"ready"}
    assert len(found) == len(moments) * 5  # a group, two log ends, two partitions
    assert (keeper.problem, keeper.health()["last_rows"]) == ("", 5)


def test_a_place_that_cannot_be_written_is_a_clear_problem(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    directory = str(tmp_path / "file" / "history")
    keeper = Keeper(spark, directory, History(), boards(local="caught up"))

    with pytest.raises(NotKept) as caught:
        keeper.run(threading.Event())

    told = str(caught.value)
    assert told.startswith(f"history cannot be written to {directory}: ")
    assert "\n" not in told
    assert keeper.health()["outcomes"] == {"kept": 0, "failed": 1}


def test_clusters_that_are_still_read_are_left_out() -> None:
    states = {
        "caught up": True,
        "catching up": False,
        "connecting": False,
        "failed": True,  # its last verdicts are what the API answers too
    }

    wrong = [
        state
        for state, is_kept in states.items()
        if (settled(boards(local=state)()) == ["local"]) != is_kept
    ]

    assert wrong == []
