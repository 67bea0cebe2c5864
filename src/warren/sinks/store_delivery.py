"""Sends points until the store accepts them, and counts the outcomes.

Points that a store will never accept are parked in a file with the reason, and not retried.
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
REASONS = 20  # counted separately; the rest count as others
LOG_EVERY_S = 600.0
# The parts of a reason that differ from point to point.
_VARIABLE = re.compile(r"""'[^']*'|"[^"]*"|\[[^\]]*\]|[0-9]+""")
REASON_LENGTH = 200


class Rejected:
    def __init__(self, sink: str, file: Path) -> None:
        self.file = file
        self.reasons: Counter[str] = Counter()
        self._logged_s: dict[str, float] = {}
        self._log = log.bind(sink=sink, file=str(file))

    def park(self, points: Iterable[tuple[str, str]]) -> None:
        """Write rejected points to the file, each with the store's reason."""
        points = list(points)
        self._write(points)
        for kind, count in Counter(kind_of(reason) for _, reason in points).items():
            is_listed = kind in self.reasons or len(self.reasons) < REASONS
            reason = kind if is_listed else "other reasons"
            self.reasons[reason] += count
            self._log_rejection(reason, count)

    def _log_rejection(self, reason: str, count: int) -> None:
        now = time.monotonic()
        if now - self._logged_s.get(reason, -LOG_EVERY_S) >= LOG_EVERY_S:
            self._logged_s[reason] = now
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
        except OSError as error:  # they stay rejected even without a copy
            self._log.warning("rejected points cannot be parked", problem=str(error))


def kind_of(reason: str) -> str:
    return _VARIABLE.sub("…", reason)[:REASON_LENGTH]


T = TypeVar("T")

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0
PROBES = 16  # if so many single points are refused for one reason, the points are not the cause


GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 are spread evenly, without a pattern
FEWEST_LINES = 100  # in a request: below that a single line is too large


class PointBatch(NamedTuple):
    stream: str  # its unique name
    number: int  # the same if the batch is repeated


class DeliveryStopped(Exception):
    """Raised to end a delivery when the sink is stopped."""


@dataclass(frozen=True)
class StoreAnswer:
    """A store's answer to a request; empty: it accepted everything."""

    refused: Sequence[tuple[int, str]] = ()  # points it will never accept, by place, and why
    retry: Sequence[int] = ()  # places of points it did not accept this time
    problem: str = ""  # why those must be retried
    objection: str = ""  # an error about the request that names no points
    is_about_points: bool = False  # the objection: some points are certainly bad
    is_too_large: bool = False  # the objection: the store may accept fewer at a time

    def may_be_about_request(self, is_single: bool) -> bool:  # noqa: FBT001  whether it was a single point
        """Whether the cause may be the request itself, such as its URL, and not the points."""
        return (
            bool(self.objection)
            and not self.is_about_points
            and (is_single or not self.is_too_large)
        )


Post = Callable[[pa.Array], StoreAnswer]


class Piece(NamedTuple):
    """Lines that are sent in one request."""

    lines: pa.Array
    is_retry: bool = False

    def halves(self) -> list["Piece"]:
        """The first half comes last, as it is sent next."""
        half = len(self.lines) // 2
        return [self._replace(lines=self.lines[half:]), self._replace(lines=self.lines[:half])]


class StoreDelivery:
    """Delivers one sink's points. Its sending threads share it; any thread may read its fields."""

    def __init__(self, name: str, rejected: Rejected) -> None:
        self.problem = ""
        self.outcomes = Counter(sent=0, failed=0, retried=0, rejected=0)
        self.rejected = rejected
        self.delivered_ms = 0  # the newest delivered moment
        self.stop = threading.Event()
        self._pause_s = FIRST_PAUSE_S
        self._max_lines: int | None = None  # per request, once the store has refused more
        self._lock = threading.Lock()  # guards the counters
        self._log = log.bind(sink=name)

    def send(self, lines: pa.Array, post: Post) -> None:
        """Deliver every line to the store, or park it as rejected."""
        is_retry = False
        while reason := self._sift(lines, post, is_retry=is_retry):
            self._wait(f"no point is accepted: {reason}", len(lines))
            is_retry = True
        self.note_success()

    def _sift(self, lines: pa.Array, post: Post, *, is_retry: bool) -> str:
        """Send lines, fewer at a time while the store objects; park the points it refuses.

        If it accepts none, and the points may not be the cause, return the store's reason.
        """
        waiting, refused = [*self._pieces(lines, is_retry=is_retry)], list[tuple[str, str]]()
        accepts_some = False
        while waiting:
            piece = waiting.pop()
            answer, was_down = self._try_until_answered(lambda: post(piece.lines), len(piece.lines))  # noqa: B023  called at once
            is_single = len(piece.lines) == 1
            if answer.may_be_about_request(is_single) and not accepts_some:
                if reason := self._why_none(lines, post):
                    return reason
                accepts_some = True
            if answer.objection and not is_single:
                self._learn(answer, len(piece.lines))
                waiting += piece.halves()
                continue
            bad = [(0, answer.objection)] if answer.objection else answer.refused
            refused += [(piece.lines[place].as_py(), why) for place, why in bad]
            accepted = len(piece.lines) - len(bad) - len(answer.retry)
            accepts_some = accepts_some or accepted > 0
            self._count(accepted, is_retry=piece.is_retry or was_down)
            if answer.retry:
                waiting.append(Piece(piece.lines.take(pa.array(answer.retry)), is_retry=True))
                self._wait(answer.problem, len(answer.retry))
        self._park(refused)
        return ""

    def _why_none(self, lines: pa.Array, post: Post) -> str:
        """Send some single points from all over the request: why are all refused? "" if not all.

        With a wrong address or setting, the store refuses every point for the same reason.
        """
        reasons: dict[str, str] = {}
        for place in sorted({int(len(lines) * (n * GOLDEN % 1)) for n in range(PROBES)}):
            answer, _ = self._try_until_answered(lambda: post(lines[place : place + 1]), 1)  # noqa: B023  called at once
            if not answer.objection or answer.is_about_points:
                return ""
            reasons[kind_of(answer.objection)] = answer.objection
        return next(iter(reasons.values())) if len(reasons) == 1 else ""

    def _pieces(self, lines: pa.Array, *, is_retry: bool) -> Iterator[Piece]:
        """Cut the lines into pieces that the store accepts; the first comes last."""
        size = self._max_lines or len(lines)
        for begin in reversed(range(0, len(lines), size)):
            yield Piece(lines[begin : begin + size], is_retry)

    def _learn(self, answer: StoreAnswer, count: int) -> None:
        if answer.is_too_large:
            self._max_lines = max(count // 2, FEWEST_LINES)

    def _count(self, accepted: int, *, is_retry: bool) -> None:
        with self._lock:
            self.outcomes["sent"] += accepted
            self.outcomes["retried"] += accepted if is_retry else 0

    def note_delivered(self, moment_ms: int) -> None:
        self.delivered_ms = max(self.delivered_ms, moment_ms)

    def retry(self, attempt: Callable[[], T], points: int) -> T:
        """Try until it succeeds, even if the store is down for a day."""
        result, was_down = self._try_until_answered(attempt, points)
        with self._lock:
            self.outcomes["retried"] += points if was_down else 0
        self.note_success()
        return result

    def note_success(self) -> None:
        """Clear the problem: the next failure starts with the shortest pause again."""
        if self.problem:
            self._log.info("the sink accepts points again")
        self.problem, self._pause_s = "", FIRST_PAUSE_S

    def _try_until_answered(self, attempt: Callable[[], T], points: int) -> tuple[T, bool]:
        """Try until there is an answer; return it, and whether an attempt failed before."""
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
        # `prepare` has no points; its failure counts as one.
        with self._lock:
            self.outcomes["failed"] += max(points, 1)
        # Log a new problem only; a number in it, such as a queue's length, may differ every time.
        if kind_of(problem) != kind_of(self.problem):
            self._log.error("the sink does not accept points; retrying", problem=problem)
        self.problem = problem
        if self.stop.wait(min(pause_s or self._pause_s, LAST_PAUSE_S)):
            raise DeliveryStopped
        self._pause_s = min(self._pause_s * 2, LAST_PAUSE_S)

    def _park(self, refused: Sequence[tuple[str, str]]) -> None:
        if refused:
            with self._lock:
                self.outcomes["rejected"] += len(refused)
                self.rejected.park(refused)
