"""Answers what the HTTP workers ask about the past: most of it at once, and none for long.

Spark reads Kafka too. So that readers do not hurt that, it is asked only for what is in neither
memory nor a few files; its queries have a pool of their own, no more than two run at once, and one
that takes too long is cancelled.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import structlog
from pyspark import SparkContext
from pyspark.sql import SparkSession

from warren.errors import NoHistory, NotKept
from warren.history import group_history, spark_queries
from warren.history.memory_queries import Kept
from warren.history.recent_hours import Recent
from warren.history.table import failures
from warren.history.table_files import TableFiles, small
from warren.model.history_question import HistoryQuestion
from warren.model.tables import GROUP, PARTITION

log = structlog.get_logger()

POOL = "history readers"
AT_ONCE = 2
WAIT_SECONDS = 5.0  # for one's turn
MOST_SECONDS = 30.0  # for the answer


class TooMuch(Exception):
    """Why there is no answer now."""


class HistoryService:
    """The last hours from memory, what is small from the table's files, and the rest by Spark."""

    def __init__(self, directory: str) -> None:
        self.recent = Recent()
        self.files = TableFiles(directory)
        self._spark: SparkSession | None = None
        self._directory = directory
        self._turns = threading.Semaphore(AT_ONCE)  # for Spark
        self._scans = threading.Semaphore(AT_ONCE)  # for the table's files

    def begin(self, spark: SparkSession) -> None:
        """Requests come before Spark is up; from now on it can be asked."""
        self._spark = spark

    def from_memory(self, asked: HistoryQuestion) -> str:
        """As `from_table`, at once; empty when memory does not reach that far back."""
        kept = self.recent.kept(
            asked.cluster, asked.group, asked.period, partitions=asked.partitions > 0
        )
        return "" if kept is None else _answered(kept, asked)

    def from_table(self, asked: HistoryQuestion) -> str:
        """JSON: a code, and the answer to pass on."""
        kinds = (GROUP, PARTITION) if asked.partitions else (GROUP,)
        try:
            with failures(f"history cannot be read from {self._directory}"):
                with _one_of(self._scans):
                    kept = small(self.files, asked.period, asked.cluster, asked.group, kinds)
                    if kept is not None:
                        return _answered(kept, asked)
                with self._turn() as spark:
                    where = (self._directory, asked.period, asked.cluster, asked.group)
                    return _answered(spark_queries.kept(spark, *where), asked)
        except TooMuch as busy:
            return _told(503, {"error": True, "message": str(busy)})
        except NoHistory as nothing:
            return _told(404, {"error": True, "message": str(nothing)})
        except NotKept as problem:
            return _told(500, {"error": True, "message": str(problem)})

    @contextmanager
    def _turn(self) -> Iterator[SparkSession]:
        if self._spark is None:
            raise TooMuch("Spark is not up yet; ask again in a moment")
        with _one_of(self._turns), _limited(self._spark.sparkContext):
            yield self._spark


@contextmanager
def _one_of(turns: threading.Semaphore) -> Iterator[None]:
    if not turns.acquire(timeout=WAIT_SECONDS):
        raise TooMuch("others are being answered; ask again in a moment")
    try:
        yield
    finally:
        turns.release()


@contextmanager
def _limited(context: SparkContext) -> Iterator[None]:
    """Cancel what this thread has Spark do when it takes too long."""
    name, is_late = uuid.uuid4().hex, threading.Event()

    def cancel() -> None:
        is_late.set()
        # Those to come as well: an answer takes several jobs, and there may be none just now.
        jvm: Any = context._jsc  # noqa: SLF001  PySpark 4.0 knows only of those that run
        jvm.sc().cancelJobGroupAndFutureJobs(name)

    timer = threading.Timer(MOST_SECONDS, cancel)
    context.setLocalProperty("spark.scheduler.pool", POOL)
    context.setJobGroup(name, "a request for history", interruptOnCancel=True)
    timer.start()
    try:
        yield
    except Exception as error:  # py4j's or PySpark's, depending on where it was
        if is_late.is_set():
            raise TooMuch(f"it takes more than {MOST_SECONDS:.0f} s; ask for less") from error
        raise
    finally:
        timer.cancel()


def _answered(kept: Kept, asked: HistoryQuestion) -> str:
    curve = group_history.curve(kept, asked.period)
    if not curve["moments"] and not asked.is_known:
        message = "there is no such group, and nothing is kept of one in that time"
        return _told(404, {"error": True, "message": message})
    return _told(
        200,
        {
            "cluster": asked.cluster,
            "group": asked.group,
            **asked.period._asdict(),
            **curve,
            "incidents": group_history.incidents(kept),
            "heat_map": group_history.heat_map(kept, asked.period, asked.partitions),
        },
    )


def _told(code: int, answer: object) -> str:
    return msgspec.json.encode({"code": code, "answer": answer}).decode()
