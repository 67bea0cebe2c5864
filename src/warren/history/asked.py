"""Answers what the HTTP workers ask about the past: few at a time, and none for long.

Spark reads Kafka too. So that readers do not hurt that, their queries have a pool of their own, no
more than two run at once, and one that takes too long is cancelled.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from warren.errors import NoHistory
from warren.history import one_group, queries
from warren.history.period import Period

POOL = "history readers"
AT_ONCE = 2
WAIT_SECONDS = 5.0  # for one's turn
MOST_SECONDS = 30.0  # for the answer


class TooMuch(Exception):
    """Why there is no answer now."""


class Reader:
    def __init__(self, directory: str) -> None:
        self._spark: SparkSession | None = None
        self._directory = directory
        self._turns = threading.Semaphore(AT_ONCE)

    def begin(self, spark: SparkSession) -> None:
        """Requests come before Spark is up; from now on they are answered."""
        self._spark = spark

    def group(self, cluster: str, group: str, period: Period, partitions: int) -> str:
        """JSON: a code, and the answer to pass on."""
        try:
            with self._turn() as spark:
                rows = queries.kept(spark, self._directory, period, cluster, group)
                answer = _answer(rows, period, partitions)
            return _told(200, {"cluster": cluster, "group": group} | answer)
        except TooMuch as busy:
            return _told(503, {"error": True, "message": str(busy)})
        except NoHistory as nothing:
            return _told(404, {"error": True, "message": str(nothing)})

    @contextmanager
    def _turn(self) -> Iterator[SparkSession]:
        if self._spark is None:
            raise TooMuch("Spark is not up yet; ask again in a moment")
        if not self._turns.acquire(timeout=WAIT_SECONDS):
            raise TooMuch("others are being answered; ask again in a moment")
        try:
            with _limited(self._spark.sparkContext):
                yield self._spark
        finally:
            self._turns.release()


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


def _answer(rows: DataFrame, period: Period, partitions: int) -> one_group.Json:
    groups = queries.groups(rows)
    return {
        **period._asdict(),
        **one_group.curve(groups, period),
        "incidents": one_group.incidents(groups),
        "heat_map": one_group.heat_map(queries.partitions(rows), period, partitions),
    }


def _told(code: int, answer: object) -> str:
    return msgspec.json.encode({"code": code, "answer": answer}).decode()
