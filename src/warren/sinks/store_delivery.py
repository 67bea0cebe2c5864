"""Sends points until the store takes them, and counts what became of them.

What a store will never take is parked in a file, told by reason, and not tried again.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa
import structlog

from warren.errors import Undelivered

log = structlog.get_logger()

FILE_BYTES = 16 << 20  # then the file becomes `….1`, in place of an older one
REASONS = 20  # told apart; the rest count as others
TELL_EVERY_S = 600.0
# What differs from point to point within one and the same reason.
_VARIABLE = re.compile(r"""'[^']*'|"[^"]*"|\[[^\]]*\]|[0-9]+""")
REASON_LENGTH = 200


class Rejected:
    def __init__(self, sink: str, file: Path) -> None:
        self.file = file
        self.reasons: Counter[str] = Counter()
        self._told: dict[str, float] = {}
        self._log = log.bind(sink=sink, file=str(file))

    def park(self, points: Iterable[tuple[str, str]]) -> None:
        """Keep points, each with the store's reason."""
        points = list(points)
        self._write(points)
        for kind, count in Counter(kind_of(reason) for _, reason in points).items():
            is_told = kind in self.reasons or len(self.reasons) < REASONS
            reason = kind if is_told else "other reasons"
            self.reasons[reason] += count
            self._tell(reason, count)

    def _tell(self, reason: str, count: int) -> None:
        now = time.monotonic()
        if now - self._told.get(reason, -TELL_EVERY_S) >= TELL_EVERY_S:
            self._told[reason] = now
            self._log.warning("points were rejected and are parked", reason=reason, points=count)

    def _write(self, points: list[tuple[str, str]]) -> None:
        at = round(time.time(), 3)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists() and self.file.stat().st_size > FILE_BYTES:
                self.file.replace(self.file.with_name(f"{self.file.name}.1"))
            with self.file.open("a", encoding="utf-8") as file:
                for point, reason in points:
                    file.write(json.dumps({"at": at, "reason": reason, "point": point}) + "\n")
        except OSError as error:  # the store's "no" counts, with or without a copy
            self._log.warning("rejected points cannot be parked", problem=str(error))


def kind_of(reason: str) -> str:
    return _VARIABLE.sub("…", reason)[:REASON_LENGTH]


T = TypeVar("T")

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0
ALIKE = 16  # single points that are refused for one reason: then it is not the points


GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly, and in no pattern
LEAST = 100  # lines of a request: below that it is one of them that is too large


class PointBatch(NamedTuple):
    stream: str  # which of all streams that ever were
    number: int  # the same when it comes again


class DeliveryStopped(Exception):
    """Ends a delivery that nobody waits for any more."""


@dataclass(frozen=True)
class StoreAnswer:
    """What a store said to a request; nothing: it took all of it."""

    refused: Sequence[tuple[int, str]] = ()  # places of points it will never take, and why
    again: Sequence[int] = ()  # places of those it did not take this time
    problem: str = ""  # why not
    doubt: str = ""  # it does not like the request, and does not say which points; why
    is_about_points: bool = False  # the doubt: some are bad for certain
    is_too_large: bool = False  # the doubt: fewer at a time may be taken

    def is_strange(self, is_single: bool) -> bool:  # noqa: FBT001  what the request was
        """The complaint may be about the way we ask rather than about points."""
        return (
            bool(self.doubt) and not self.is_about_points and (is_single or not self.is_too_large)
        )


Post = Callable[[pa.Array], StoreAnswer]


class Piece(NamedTuple):
    """Lines of a request that are sent together."""

    lines: pa.Array
    is_retry: bool = False

    def halves(self) -> list["Piece"]:
        """The first half last: it is the next to be sent."""
        half = len(self.lines) // 2
        return [self._replace(lines=self.lines[half:]), self._replace(lines=self.lines[:half])]


class StoreDelivery:
    """Of one sink, for the threads that send for it; what it tells may be read by any."""

    def __init__(self, name: str, rejected: Rejected) -> None:
        self.problem = ""
        self.outcomes = Counter(sent=0, failed=0, retried=0, rejected=0)
        self.rejected = rejected
        self.delivered_ms = 0  # the newest moment that arrived
        self.stop = threading.Event()
        self._pause_s = FIRST_PAUSE_S
        self._fitting: int | None = None  # lines that a request may hold, if that was learned
        self._lock = threading.Lock()  # for counting
        self._log = log.bind(sink=name)

    def send(self, lines: pa.Array, post: Post) -> None:
        """Bring every line to the store, or to the rejected ones."""
        is_retry = False
        while reason := self._sift(lines, post, is_retry=is_retry):
            self._wait(f"nothing is taken: {reason}", len(lines))
            is_retry = True
        self.well()

    def _sift(self, lines: pa.Array, post: Post, *, is_retry: bool) -> str:
        """Send lines, fewer at a time while the store dislikes some of them; park what it refuses.

        If it takes none, for a reason that may not be the points', that is given instead.
        """
        waiting, refused = [*self._pieces(lines, is_retry=is_retry)], list[tuple[str, str]]()
        takes_some = False
        while waiting:
            piece = waiting.pop()
            answer, was_down = self._tried(lambda: post(piece.lines), len(piece.lines))  # noqa: B023  called at once
            is_single = len(piece.lines) == 1
            if answer.is_strange(is_single) and not takes_some:
                if reason := self._why_none(lines, post):
                    return reason
                takes_some = True
            if answer.doubt and not is_single:
                self._learn(answer, len(piece.lines))
                waiting += piece.halves()
                continue
            bad = [(0, answer.doubt)] if answer.doubt else answer.refused
            refused += [(piece.lines[place].as_py(), why) for place, why in bad]
            taken = len(piece.lines) - len(bad) - len(answer.again)
            takes_some = takes_some or taken > 0
            self._count(taken, is_retry=piece.is_retry or was_down)
            if answer.again:
                waiting.append(Piece(piece.lines.take(pa.array(answer.again)), is_retry=True))
                self._wait(answer.problem, len(answer.again))
        self._park(refused)
        return ""

    def _why_none(self, lines: pa.Array, post: Post) -> str:
        """Why the store takes no single point of some all over the request; "" if it takes one.

        A wrong address or setting is refused with one reason, whichever point is sent.
        """
        reasons: dict[str, str] = {}
        for place in sorted({int(len(lines) * (n * GOLDEN % 1)) for n in range(ALIKE)}):
            answer, _ = self._tried(lambda: post(lines[place : place + 1]), 1)  # noqa: B023  called at once
            if not answer.doubt or answer.is_about_points:
                return ""
            reasons[kind_of(answer.doubt)] = answer.doubt
        return next(iter(reasons.values())) if len(reasons) == 1 else ""

    def _pieces(self, lines: pa.Array, *, is_retry: bool) -> Iterator[Piece]:
        """As many lines at once as the store is known to take; the first ones last."""
        size = self._fitting or len(lines)
        for begin in reversed(range(0, len(lines), size)):
            yield Piece(lines[begin : begin + size], is_retry)

    def _learn(self, answer: StoreAnswer, count: int) -> None:
        if answer.is_too_large:
            self._fitting = max(count // 2, LEAST)

    def _count(self, taken: int, *, is_retry: bool) -> None:
        with self._lock:
            self.outcomes["sent"] += taken
            self.outcomes["retried"] += taken if is_retry else 0

    def reached(self, moment_ms: int) -> None:
        self.delivered_ms = max(self.delivered_ms, moment_ms)

    def patiently(self, attempt: Callable[[], T], points: int) -> T:
        """Try until it works; a store that is down for a day is waited for."""
        done, was_down = self._tried(attempt, points)
        with self._lock:
            self.outcomes["retried"] += points if was_down else 0
        self.well()
        return done

    def well(self) -> None:
        """Something was taken without complaint: the next failure is a first one again."""
        if self.problem:
            self._log.info("the sink takes points again")
        self.problem, self._pause_s = "", FIRST_PAUSE_S

    def _tried(self, attempt: Callable[[], T], points: int) -> tuple[T, bool]:
        """Try until there is an answer; whether there was none at first."""
        was_down = False
        while True:
            if self.stop.is_set():
                raise DeliveryStopped
            try:
                return attempt(), was_down
            except Undelivered as failure:
                was_down = True
                self._wait(str(failure), points, failure.pause_s)

    def _wait(self, problem: str, points: int, pause_s: float | None = None) -> None:
        # Getting ready has no points; that it failed counts all the same.
        with self._lock:
            self.outcomes["failed"] += max(points, 1)
        # A queue's length, say, is another every time; that is no news.
        if kind_of(problem) != kind_of(self.problem):
            self._log.error("the sink does not take points; tried again", problem=problem)
        self.problem = problem
        if self.stop.wait(min(pause_s or self._pause_s, LAST_PAUSE_S)):
            raise DeliveryStopped
        self._pause_s = min(self._pause_s * 2, LAST_PAUSE_S)

    def _park(self, refused: Sequence[tuple[str, str]]) -> None:
        if refused:
            with self._lock:
                self.outcomes["rejected"] += len(refused)
                self.rejected.park(refused)
