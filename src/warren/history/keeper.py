"""Appends a moment to history every `history-interval`."""

import threading
import time
from collections.abc import Callable

import pyarrow as pa
import structlog
from pyspark.sql import SparkSession

from warren.config.sections import HistorySettings
from warren.errors import ClockBehind, SourceError
from warren.history import table
from warren.history.board_rows import row_granularity, rows, without
from warren.history.table import failures
from warren.model.board import Board
from warren.model.health import KeeperHealth

log = structlog.get_logger()

POLL_S = 0.5  # between looks for a new board
# Clocks of two machines differ by seconds, or by hours if one is wrong. Then we do not wait until
# the time comes: there would be no history until then.
SKEW_MS, FAR_AHEAD_MS = 5_000, 3_600_000


class Keeper:
    """Runs beside the pipeline; a tick never waits for it."""

    kind, name = "history", "keeper"

    def __init__(
        self,
        spark: SparkSession,
        directory: str,
        settings: HistorySettings,
        boards: Callable[[], Board],
        on_kept: Callable[[pa.Table], None] = lambda _: None,
    ) -> None:
        self.problem = ""
        self.restarts = 0
        self._spark = spark
        self._directory = directory
        self._interval_s = settings.history_interval
        self._granularity = row_granularity(settings)
        self._boards = boards
        self._on_kept = on_kept  # called with the rows of each moment that was kept
        self._newest_ms = 0
        self._after = ""  # part of the writer's name, after a step back
        self._last_rows: int | None = None
        self._last_seconds: float | None = None
        self._outcomes = {"kept": 0, "failed": 0}

    def run(self, stop: threading.Event) -> None:
        try:
            with failures(f"history cannot be written to {self._directory}"):
                self._run(stop)
        except SourceError:
            self._outcomes["failed"] += 1
            raise

    def health(self) -> KeeperHealth:
        return KeeperHealth(
            self.problem,
            self.restarts,
            directory=self._directory,
            last_moment_ms=self._newest_ms or None,
            last_rows=self._last_rows,
            last_seconds=self._last_seconds,
            outcomes=dict(self._outcomes),
        )

    def _run(self, stop: threading.Event) -> None:
        spark = table.session(self._spark)
        table.make(spark, self._directory)
        self._newest_ms, self._after = table.newest_moment(spark, self._directory), ""
        while not stop.is_set():
            self._keep(spark, self._boards())
            stop.wait(POLL_S)

    def _keep(self, spark: SparkSession, board: Board) -> None:
        """Append the first board of every interval, so that each has one moment."""
        clusters = current_clusters(board)
        if clusters and self._newest_ms - board.moment_ms > SKEW_MS:
            self._step_back(spark, board.moment_ms)
        if not clusters or self._interval(self._newest_ms) >= self._interval(board.moment_ms):
            return
        began = time.monotonic()
        moment = without(rows(board, clusters, self._granularity), clusters)
        if len(moment):
            table.append(spark, self._directory, moment, _writer(board) + self._after)
            self._on_kept(moment)
        self._newest_ms, self.problem = board.moment_ms, ""
        self._outcomes["kept"] += 1
        took = round(time.monotonic() - began, 3)
        self._last_rows, self._last_seconds = len(moment), took
        log.debug("a moment of history was kept", rows=len(moment), seconds=took)

    def _step_back(self, spark: SparkSession, now_ms: int) -> None:
        """Ignore a moment that is hours ahead; if it is a little ahead, raise and wait for it."""
        if self._newest_ms - now_ms <= FAR_AHEAD_MS:
            raise ClockBehind(self._newest_ms)
        log.error("history holds a moment far ahead of the clock", moment_ms=self._newest_ms)
        # For Delta, a writer's moments only grow: so we become another writer.
        self._after = f" after {self._newest_ms}"
        self._newest_ms = table.newest_moment(spark, self._directory, now_ms + FAR_AHEAD_MS)

    def _interval(self, moment_ms: int) -> int:
        return moment_ms // (self._interval_s * 1000)


def current_clusters(board: Board) -> dict[str, frozenset[str]]:
    """The clusters that are current, each with the groups that are not history all the same.

    Those are the groups of consumers outside Kafka that are not read, and groups whose past is not
    read yet. Verdicts go on while brokers do not answer or reading fails, of data that do not.
    """
    found = {}
    for name, cluster in board.clusters.items():
        health, consumers = board.health.clusters.get(name), board.health.consumers_of(name)
        unread = {consumer for consumer, each in consumers.items() if not each.is_current}
        if health is not None and health.is_current and unread <= cluster.outside.keys():
            found[name] = cluster.verdicts.unread_groups().union(
                *(cluster.outside[each] for each in unread)
            )
    return found


def _writer(board: Board) -> str:
    """Names the clusters, so that instances with different clusters are different writers."""
    return "warren " + " ".join(sorted(board.clusters))
