"""Sends points until they are taken, however long that takes, and counts what became of them."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import pyarrow as pa
import structlog

from warren.errors import Undelivered
from warren.sinks.rejected import Rejected

log = structlog.get_logger()
T = TypeVar("T")

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0
SPLITS = 64  # requests at most to find the bad ones among some thousand points


class Batch(NamedTuple):
    stream: str  # which of all streams that ever were
    number: int  # the same when it comes again


class Stopped(Exception):
    """Ends a delivery that nobody waits for any more."""


@dataclass(frozen=True)
class Answer:
    """What a store said to a request; nothing: it took all of it."""

    refused: Sequence[tuple[int, str]] = ()  # places of points it will never take, and why
    again: Sequence[int] = ()  # places of those it did not take this time
    problem: str = ""  # why not
    doubt: str = ""  # some points are bad, and it does not say which; why


class Delivery:
    """Of one sink. Its thread is Spark's; what it tells may be read by any."""

    def __init__(self, name: str, rejected: Rejected) -> None:
        self.problem = ""
        self.outcomes = Counter(sent=0, failed=0, retried=0, rejected=0)
        self.rejected = rejected
        self.delivered_ms = 0  # the newest moment that arrived
        self.stop = threading.Event()
        self._pause_s = FIRST_PAUSE_S
        self._log = log.bind(sink=name)

    def send(self, lines: pa.Array, post: Callable[[pa.Array], Answer]) -> None:
        """Bring every line to the store, or to the rejected ones."""
        waiting, splits = [lines], SPLITS
        while waiting:
            some = waiting.pop()
            answer = self.patiently(lambda: post(some), len(some))  # noqa: B023  called at once
            if answer.doubt and len(some) > 1 and splits > 0:
                splits -= 1
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
                continue
            refused = answer.refused
            if answer.doubt:
                refused = [(place, answer.doubt) for place in range(len(some))]
            self._park(some, refused)
            self.outcomes["sent"] += len(some) - len(refused) - len(answer.again)
            if answer.again:
                waiting.append(some.take(pa.array(answer.again)))
                self._wait(answer.problem, len(answer.again))

    def reached(self, moment_ms: int) -> None:
        self.delivered_ms = max(self.delivered_ms, moment_ms)

    def patiently(self, attempt: Callable[[], T], points: int) -> T:
        """Try until it works; a store that is down for a day is waited for."""
        tries = 0
        while True:
            if self.stop.is_set():
                raise Stopped
            try:
                done = attempt()
            except Undelivered as failure:
                tries += 1
                self._wait(str(failure), points, failure.pause_s)
                continue
            if tries:
                self.outcomes["retried"] += points
            if self.problem:
                self._log.info("the sink takes points again")
            self.problem, self._pause_s = "", FIRST_PAUSE_S
            return done

    def _wait(self, problem: str, points: int, pause_s: float | None = None) -> None:
        self.outcomes["failed"] += points
        if problem != self.problem:
            self._log.error("the sink does not take points; tried again", problem=problem)
        self.problem = problem
        if self.stop.wait(min(pause_s or self._pause_s, LAST_PAUSE_S)):
            raise Stopped
        self._pause_s = min(self._pause_s * 2, LAST_PAUSE_S)

    def _park(self, lines: pa.Array, refused: Sequence[tuple[int, str]]) -> None:
        if refused:
            self.outcomes["rejected"] += len(refused)
            self.rejected.park((lines[place].as_py(), reason) for place, reason in refused)
