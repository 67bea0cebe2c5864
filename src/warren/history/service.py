"""Answers the HTTP workers' requests for history, most of them without Spark.

Spark also reads Kafka, and requests for history must not slow that down. So Spark gets only the
queries that neither memory nor a few files can answer. They run in a pool of their own, at most two
at once, and a query that takes too long is cancelled.
"""

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import msgspec
from pyspark import SparkContext
from pyspark.sql import SparkSession

from warren.errors import NoHistory, NotKept
from warren.history import group_history, spark_queries
from warren.history.memory_queries import Kept, KeptOfGroup
from warren.history.reading_in_parts import InParts
from warren.history.recent_hours import Recent
from warren.history.report.formats import as_tables
from warren.history.report.summary import make
from warren.history.spark_queries import InSpark
from warren.history.table import failures
from warren.history.table_files import TableFiles, small
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.tables import GROUP, LOG_END, PARTITION

POOL = "history readers"
AT_ONCE = 2  # queries
WAIT_SECONDS = 5.0  # before a query starts
MOST_SECONDS = 30.0  # for the answer


class NoAnswerNow(Exception):
    """Says why; a later or a smaller request may get an answer."""


class HistoryService:
    """Reads the last hours from memory, small answers from the table's files, the rest by Spark."""

    def __init__(self, directory: str) -> None:
        self.recent = Recent()
        self.files = TableFiles(directory)
        self._spark: SparkSession | None = None
        self._directory = directory
        self._turns = threading.Semaphore(AT_ONCE)  # for Spark
        self._scans = threading.Semaphore(AT_ONCE)  # for the table's files
        self._progress: dict[str, Progress] = {}  # by ticket, of what Spark is reading

    def begin(self, spark: SparkSession) -> None:
        """Use Spark from now on; requests may come before it is up."""
        self._spark = spark

    def from_memory(self, question: HistoryQuestion) -> str:
        """Reply as `from_table` does, at once; empty when memory does not reach back far enough."""
        kept = self.recent.kept(
            question.cluster, question.group, question.period, partitions=_by_partition(question)
        )
        return "" if kept is None else _answer(kept, question)

    def from_table(self, question: HistoryQuestion) -> str:
        """Reply with JSON: a status code, and the answer to pass on."""
        kinds = (GROUP, PARTITION) if _by_partition(question) else (GROUP,)
        in_parts = partial(self._in_parts, question=question)
        return self._read(question, kinds, partial(_answer, question=question), in_parts)

    def progress(self, ticket: str) -> Progress | None:
        """How far the answer to the question with this ticket is; None: nothing is known of it."""
        return self._progress.get(ticket)

    def report(self, question: ReportQuestion) -> str:
        """Reply as `from_table` does."""

        def answer(kept: Kept) -> str:
            return _reply(200, as_tables(make(kept, question.period, question.top)))

        return self._read(question, (GROUP, LOG_END), answer, InSpark.cached)

    def _read(
        self,
        question: HistoryQuestion | ReportQuestion,
        kinds: Sequence[str],
        answer: Callable[[Any], str],
        in_spark: Callable[[InSpark], AbstractContextManager[object]],
    ) -> str:
        where = (question.period, question.cluster, question.group)
        try:
            with failures(f"history cannot be read from {self._directory}"):
                with _one_of(self._scans):
                    kept = small(self.files, *where, kinds)
                    if kept is not None:
                        return answer(kept)
                with self._turn() as spark:
                    rows = spark_queries.kept(spark, self._directory, *where)
                    with in_spark(rows) as found:
                        return answer(found)
        except NoAnswerNow as busy:
            return _reply(503, {"error": True, "message": str(busy)})
        except NoHistory as nothing:
            return _reply(404, {"error": True, "message": str(nothing)})
        except NotKept as problem:
            return _reply(500, {"error": True, "message": str(problem)})

    @contextmanager
    def _in_parts(self, rows: InSpark, question: HistoryQuestion) -> Iterator[InParts]:
        def tell(progress: Progress) -> None:
            if question.ticket:
                self._progress[question.ticket] = progress

        try:
            yield InParts(rows, question.period, tell, with_lines=question.partitions > 0)
        finally:
            self._progress.pop(question.ticket, None)

    @contextmanager
    def _turn(self) -> Iterator[SparkSession]:
        if self._spark is None:
            raise NoAnswerNow("Spark is not up yet; try again in a moment")
        with _one_of(self._turns), _limited(self._spark.sparkContext):
            yield self._spark


@contextmanager
def _one_of(turns: threading.Semaphore) -> Iterator[None]:
    if not turns.acquire(timeout=WAIT_SECONDS):
        raise NoAnswerNow("too many requests for history at once; try again in a moment")
    try:
        yield
    finally:
        turns.release()


@contextmanager
def _limited(context: SparkContext) -> Iterator[None]:
    """Cancel this thread's Spark jobs when they take too long."""
    name, is_late = uuid.uuid4().hex, threading.Event()

    def cancel() -> None:
        is_late.set()
        # Future jobs too: an answer takes several, and none may be running at this moment.
        jvm: Any = context._jsc  # noqa: SLF001  PySpark 4.0 itself cancels only running jobs
        jvm.sc().cancelJobGroupAndFutureJobs(name)

    timer = threading.Timer(MOST_SECONDS, cancel)
    context.setLocalProperty("spark.scheduler.pool", POOL)
    context.setJobGroup(name, "a request for history", interruptOnCancel=True)
    timer.start()
    try:
        yield
    except Exception as error:  # py4j's or PySpark's, depending on where it was raised
        if is_late.is_set():
            text = f"reading takes more than {MOST_SECONDS:.0f} s; request a shorter period"
            raise NoAnswerNow(text) from error
        raise
    finally:
        timer.cancel()


def _by_partition(question: HistoryQuestion) -> bool:
    return question.partitions > 0 or bool(question.topic)


def _answer(kept: KeptOfGroup, question: HistoryQuestion) -> str:
    some = kept.together(question.topic, question.partition) if question.topic else kept
    curve = group_history.curve(some, question.period, question.steps)
    if not curve["moments"] and not question.is_known:
        message = "there is no such group, and history has none of that name in that period"
        return _reply(404, {"error": True, "message": message})
    return _reply(
        200,
        {
            "cluster": question.cluster,
            "group": question.group,
            **question.period._asdict(),
            **curve,
            "incidents": group_history.incidents(some),
            "heat_map": group_history.heat_map(kept, question.period, question.partitions),
        },
    )


def _reply(code: int, answer: object) -> str:
    return msgspec.json.encode({"code": code, "answer": answer}).decode()
