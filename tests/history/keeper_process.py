"""Keeps history of boards made up, and brings it to a store, until it is killed.

    python keeper_process.py CONFIG

It prints every moment that the keeper says it kept.
"""

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog
from support.boards import cluster_board, windows_of

from warren.config import load
from warren.history.keeper import Keeper
from warren.model.board import Board
from warren.model.health import ClusterHealth, Health
from warren.pipeline.threads import keep_running
from warren.sinks.stream import SinkStream
from warren.spark import jars
from warren.spark.session import start_session

GROUPS = [f"group-{number}" for number in range(1000)]
CLUSTERS = ("local", "other")
ROWS = len(CLUSTERS) * (2 * len(GROUPS) + 1)  # each group with a partition; one log end
INTERVAL_S = 1


def boards() -> Callable[[], Board]:
    """The verdicts are always the same; the moment is now."""
    ends: dict[str, list[int | None]] = {"orders": [100]}
    commits = [(group, "orders", 0, 90, int(time.time() * 1000)) for group in GROUPS]
    cluster = cluster_board(windows_of(ends, commits), ends)
    health = Health(clusters=dict.fromkeys(CLUSTERS, ClusterHealth(data_age_s=1.0)))
    return lambda: Board(int(time.time() * 1000), dict.fromkeys(CLUSTERS, cluster), health)


def main(file: Path) -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    config = load(file, {}).config
    assert config.history
    spark = start_session("local[2]", "keeping", {}, "512m", bundles=(jars.DELTA,))
    keeper = Keeper(spark, config.history_directory, config.history, boards())
    stop, told = threading.Event(), None
    workers: list[Keeper | SinkStream] = [
        keeper,
        *(SinkStream(spark, config, each) for each in config.sinks.values()),
    ]
    for worker in workers:
        keep_running(worker.name, worker.run, worker, stop)
    while not stop.wait(0.02):
        newest = keeper.health().last_moment_ms
        if newest != told and keeper.health().last_rows:
            print(newest, flush=True)  # noqa: T201  the test reads it
            told = newest


if __name__ == "__main__":
    main(Path(sys.argv[1]))
