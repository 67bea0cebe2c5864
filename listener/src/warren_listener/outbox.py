"""Sends reports in a thread of its own; keeps few, waits shortly, and counts what it drops."""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterator

from warren_listener.connection import Connection, checked_seconds, reason_in
from warren_listener.progress_reports import EVERY_S, partitions, smaller, still_alive

if TYPE_CHECKING:
    from warren_listener.progress_reports import Report

log = logging.getLogger("warren_listener")

MOST_WAITING = 1_000  # reports
MOST_OFFSETS = 9_000  # of one request; Warren takes 10,000
MOST_BYTES = 900_000  # of one request; Warren takes 1 MiB, and what is before it perhaps less
LEAST_BYTES = 2_000
AT_ONCE = 100  # reports of one request, if they are small
FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0  # after a failure
LAST_WORDS_S = 1.0  # to send what waits when the job ends
QUIET_S = 600.0  # between two log lines about the same problem


@dataclass(frozen=True)
class Counts:
    """Reports so far."""

    sent: int = 0  # Warren has taken them
    refused: int = 0  # by Warren, whole or in part; these are not sent again
    dropped: int = 0  # Warren was away or slow, and newer ones needed the room
    waiting: int = 0
    problem: str = ""  # why the last request failed; empty: it did not


class Outbox:
    """A run that lives and has said nothing for `every_s` seconds is reported again.

    Raises ValueError for a URL or a time that cannot be used, and OSError for certificates.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        cafile: str | None = None,
        timeout_s: float = 2.0,
        every_s: float = EVERY_S,
    ) -> None:
        self._connection = Connection(url, token, cafile, timeout_s)
        self._every_s = checked_seconds("every_s", every_s)
        self._most_bytes = MOST_BYTES
        self._waiting: deque[Report] = deque()
        self._living: dict[str, tuple[Report, float]] = {}  # by run: the last report, and when
        self._counts = Counts()
        self._changed = threading.Condition()
        self._stopping = False
        self._logged: tuple[str, float] = ("", 0.0)
        self._thread = threading.Thread(target=self._run, name="warren-listener", daemon=True)

    @property
    def counts(self) -> Counts:
        with self._changed:
            return replace(self._counts, waiting=len(self._waiting))

    def start(self) -> None:
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Send what waits if Warren answers; this takes a second at most."""
        atexit.unregister(self.stop)
        with self._changed:
            self._stopping = True
            is_worth_it = bool(self._waiting) and not self._counts.problem
            self._changed.notify()
        if is_worth_it:
            self._thread.join(LAST_WORDS_S)

    def put(self, run: str, report: Report, *, lives: bool) -> None:
        """Add a report of a run; if there are too many, the oldest is dropped."""
        with self._changed:
            if lives:
                self._living[run] = (report, time.monotonic())
            else:
                self._living.pop(run, None)
            self._waiting.append(report)
            self._drop_oldest()
            self._changed.notify()

    def drop(self, problem: str) -> None:
        """Count a report that could not even be made."""
        with self._changed:
            self._counts = replace(self._counts, dropped=self._counts.dropped + 1)
        self._complain(problem)

    def _drop_oldest(self) -> None:
        excess = len(self._waiting) - MOST_WAITING
        for _ in range(excess):
            self._waiting.popleft()
        if excess > 0:
            self._counts = replace(self._counts, dropped=self._counts.dropped + excess)

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while (reports := self._next()) is not None:
            try:
                is_taken = self._send(reports)
            except Exception as error:  # noqa: BLE001  # whatever it is, the thread goes on
                self._count(refused=len(reports), problem=repr(error))
                is_taken = True
            if is_taken:
                pause_s = FIRST_PAUSE_S
                continue
            self._put_back(reports)
            with self._changed:
                self._drop_oldest()
                if self._stopping:
                    return
                self._changed.wait_for(lambda: self._stopping, pause_s)
            pause_s = min(2 * pause_s, LAST_PAUSE_S)

    def _next(self) -> list[Report] | None:
        """Wait for reports, new or repeated; None: the end."""
        with self._changed:
            while not self._waiting:
                if self._stopping:
                    return None
                self._waiting.extend(self._repeated())
                if not self._waiting:
                    self._changed.wait(self._every_s / 6)
            return [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]

    def _put_back(self, reports: list[Report]) -> None:
        with self._changed:
            self._waiting.extendleft(reversed(reports))

    def _repeated(self) -> Iterator[Report]:
        """That queries live which have said nothing for a while."""
        now = time.monotonic()
        for run, (report, said) in [*self._living.items()]:
            if now - said >= self._every_s:
                self._living[run] = (report, now)
                yield from still_alive(report, int(time.time() * 1000))

    def _send(self, reports: list[Report]) -> bool:
        """Whether Warren has decided about them; otherwise they are worth another try.

        What does not fit into a request goes back; a single report goes back in smaller ones.
        """
        body, count = self._body(reports)
        if not count:
            self._put_back([*smaller(reports[0]), *reports[1:]])
            return True
        try:
            status, answer = self._connection.post(body)
        except OSError as error:  # also a time-out
            self._count(problem=f"Warren cannot be reached: {error}")
            return False
        except Exception as error:  # noqa: BLE001  # such as an answer that is not HTTP
            self._count(problem=f"Warren's answer cannot be read: {error!r}")
            return False
        if status >= 500 or status in (408, 429):
            self._count(problem=f"Warren answers {status}")
            return False
        self._put_back(reports[count:])
        is_too_large = status == 413 and len(body) > LEAST_BYTES
        if is_too_large and (count > 1 or smaller(reports[0])):
            self._most_bytes = max(len(body) // 2, LEAST_BYTES)
            self._put_back(reports[:count])
        elif status < 300:
            self._count(sent=count)
        else:
            self._note_refusal(status, answer, count)
        return True

    def _body(self, reports: list[Report]) -> tuple[bytes, int]:
        """As many as fit into a request: of a large one that can be smaller, none."""
        sent_ms = int(time.time() * 1000)
        texts: list[str] = []
        size = offsets = 0
        for report in reports:
            text = json.dumps({**report, "sent": sent_ms})
            size, offsets = size + len(text) + 2, offsets + partitions(report)
            fits = size <= self._most_bytes and offsets <= MOST_OFFSETS
            if not fits and (texts or smaller(report)):
                break
            texts.append(text)
        return f"[{', '.join(texts)}]".encode(), len(texts)

    def _note_refusal(self, status: int, answer: bytes, reports: int) -> None:
        message, refused = reason_in(answer)
        refused = refused or reports
        problem = f"Warren answers {status}: {message[:300]}"
        self._count(sent=reports - refused, refused=refused, problem=problem)

    def _count(self, sent: int = 0, refused: int = 0, problem: str = "") -> None:
        with self._changed:
            before = self._counts
            self._counts = replace(
                before, sent=before.sent + sent, refused=before.refused + refused, problem=problem
            )
        if problem:
            self._complain(problem)
        elif before.problem:
            log.warning("Warren takes reports again; %d were dropped so far", before.dropped)

    def _complain(self, problem: str) -> None:
        now, (logged, at) = time.monotonic(), self._logged
        if problem != logged or now - at > QUIET_S:
            self._logged = (problem, now)
            log.warning("%s; the job goes on", problem)
