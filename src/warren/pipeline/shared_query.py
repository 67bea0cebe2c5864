"""A streaming query that several readers share, each for its own offsets topic.

A batch costs Spark about the same whether it reads one topic or ten: fifty queries of their own
would keep several cores busy with nothing. A query cannot change while it runs. So whenever a
reader comes, goes or fails, its turn ends for all, and they meet for the next one.
"""

import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from warren.pipeline import steps
from warren.sources.offsets_topic import TopicStream
from warren.spark.session import SCRATCH

# All queries have one pool: in it the oldest batch comes first, so that each has its turn. Of pools
# with as much to do Spark prefers one by its name, and others would never have theirs.
POOL = "commits"
POLL_S = 0.1
PATIENCE = 5  # so many times as long as nobody may come, the first one waits at most
FIRST = 3  # so many times as long as later, when Warren starts: all come, but not at once

_CAUSE = re.compile(r"^\s*Caused by: (?:[\w$]+\.)*([\w$]+)(?:: (.*))?$", re.MULTILINE)


def root_cause(stack_trace: str) -> str:
    """The message of the innermost exception; if there is only one, its first line."""
    causes: list[tuple[str, str]] = _CAUSE.findall(stack_trace)
    if not causes:
        return stack_trace.strip().partition("\n")[0].strip()
    kind, message = causes[-1]
    return message.strip() or kind


class Turn:
    """One query, from its first reader until its end."""

    _query: StreamingQuery | None = None
    _not_started: PySparkException | None = None

    def __init__(self, *, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.streams: list[TopicStream] = []
        self.joined_at = time.monotonic()
        self._is_over = threading.Event()
        self._held = ExitStack()

    @property
    def is_open(self) -> bool:
        """Whether another reader may still join."""
        return self._query is None and not self._is_over.is_set()

    @property
    def is_reading(self) -> bool:
        return self._query is not None and not self._is_over.is_set() and self._query.isActive

    @property
    def failure(self) -> str:
        """Why the query failed; empty if it did not."""
        error = self._query.exception() if self._query else self._not_started
        return (root_cause(str(error)) or "no reason given") if error else ""

    def join(self, stream: TopicStream) -> None:
        self.streams.append(stream)
        self.joined_at = time.monotonic()

    def start(self, spark: SparkSession) -> None:
        scratch = self._held.enter_context(
            tempfile.TemporaryDirectory(
                prefix="warren-stream-", dir=spark.conf.get(SCRATCH), ignore_cleanup_errors=True
            )
        )
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", POOL)
        try:
            self._query = steps.follow(spark, self.streams, Path(scratch))
        except PySparkException as error:
            self._not_started = error
            self.end()

    def end(self) -> None:
        self._is_over.set()
        for stream in self.streams:
            stream.hand_over.stop()
        if self._query:
            self._query.stop()
        self._held.close()


class SharedQuery:
    """A place where readers meet: the query starts when all are there, or none came for a while."""

    def __init__(self, spark: SparkSession, gather_s: float = 0.0, members: int = 0) -> None:
        """It waits for nobody once `members` are there; 0: how many come is not known."""
        self._spark, self._gather_s, self._members = spark, gather_s, members
        self._lock = threading.Lock()
        self._turn: Turn | None = None
        self._is_first = True

    @contextmanager
    def reading(self, stream: TopicStream, stop: threading.Event) -> Iterator[Turn]:
        """Read by this query, with all others who do, until it is over for one of them."""
        turn = self._join(stream)
        try:
            if turn.streams[0] is stream:
                self._gather(turn, stop)
            while turn.is_open and not stop.wait(POLL_S):
                pass
            yield turn
        finally:
            with self._lock:
                turn.end()

    def _join(self, stream: TopicStream) -> Turn:
        with self._lock:
            if self._turn is None or not self._turn.is_open:
                if self._turn is not None:
                    self._turn.end()
                self._turn = Turn(is_shared=self._gather_s > 0)
            self._turn.join(stream)
            return self._turn

    def _gather(self, turn: Turn, stop: threading.Event) -> None:
        """Start the query once all who come soon are there."""
        gather_s = self._gather_s * (FIRST if self._is_first else 1)
        until = time.monotonic() + PATIENCE * gather_s
        while time.monotonic() < min(until, turn.joined_at + gather_s):
            if len(turn.streams) == self._members:
                break
            if stop.wait(POLL_S):
                return
        with self._lock:
            self._is_first = False
            if turn.is_open:
                turn.start(self._spark)
