"""Appends a moment to history every `history-interval`."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import structlog
from pyspark.sql import SparkSession

from warren.config.sections import HistorySettings
from warren.errors import ClockBehind, SourceError
from warren.history import table
from warren.history.board_rows import row_granularity, rows
from warren.history.table import failures
from warren.model.board import Board

log = structlog.get_logger()

POLL_S = 0.5  # between looks for a new board
# Clocks of two machines differ by seconds, or by hours if one is wrong. Then we do not wait until
# the time comes: there would be no history until then.
SKEW_MS, FAR_AHEAD_MS = 5_000, 3_600_000
READING = ("connecting", "catching up")  # verdicts made of half the commits are not history


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
        self._last_append: dict[str, object] = {"last_rows": None, "last_seconds": None}
        self._outcomes = {"kept": 0, "failed": 0}

    def run(self, stop: threading.Event) -> None:
        try:
            with failures(f"history cannot be written to {self._directory}"):
                self._run(stop)
        except SourceError:
            self._outcomes["failed"] += 1
            raise

    def health(self) -> Mapping[str, object]:
        return {
            "directory": self._directory,
            "last_moment_ms": self._newest_ms or None,
            **self._last_append,
            "outcomes": dict(self._outcomes),
        }

    def _run(self, stop: threading.Event) -> None:
        spark = table.session(self._spark)
        table.make(spark, self._directory)
        self._newest_ms, self._after = table.newest_moment(spark, self._directory), ""
        while not stop.is_set():
            self._keep(spark, self._boards())
            stop.wait(POLL_S)

    def _keep(self, spark: SparkSession, board: Board) -> None:
        """Append the first board of every interval, so that each has one moment."""
        clusters = settled(board)
        if clusters and self._newest_ms - board.moment_ms > SKEW_MS:
            self._step_back(spark, board.moment_ms)
        if not clusters or self._interval(self._newest_ms) >= self._interval(board.moment_ms):
            return
        began, moment = time.monotonic(), rows(board, clusters, self._granularity)
        if len(moment):
            table.append(spark, self._directory, moment, _writer(board) + self._after)
            self._on_kept(moment)
        self._newest_ms, self.problem = board.moment_ms, ""
        self._outcomes["kept"] += 1
        took = round(time.monotonic() - began, 3)
        self._last_append = {"last_rows": len(moment), "last_seconds": took}
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


def settled(board: Board) -> list[str]:
    """The clusters that answer, and whose offsets topics have been read to their end."""
    consumers: Any = board.health.get("consumers", {})
    clusters: Any = board.health.get("clusters", {})
    unsettled = {
        consumer["cluster"]
        for consumer in consumers.values()
        if consumer["state"] in READING
        or (consumer["state"] == "failed" and consumer.get("remaining"))
    }
    # Verdicts go on while brokers do not answer, of data that do not: those are not history.
    unsettled |= {
        name for name, each in clusters.items() if each.get("problem") or each.get("restored")
    }
    return [name for name in board.clusters if name not in unsettled]


def _writer(board: Board) -> str:
    """Names the clusters, so that instances with different clusters are different writers."""
    return "warren " + " ".join(sorted(board.clusters))
