"""Sends reports in a thread of its own; keeps few, waits shortly, and counts what it drops."""

from __future__ import annotations

import atexit
import json
import logging
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Iterator
from urllib.parse import urlsplit

from warren_listener.progress_reports import EVERY_S, still_alive

if TYPE_CHECKING:
    from warren_listener.progress_reports import Report

log = logging.getLogger("warren_listener")

MOST_WAITING = 1_000  # reports
MOST_OFFSETS = 9_000  # of one request; Warren takes 10,000
AT_ONCE = 100  # reports of one request, if they are small
FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0  # after a failure
MOST_ANSWER_BYTES = 2**18
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


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token goes to nobody else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


class Outbox:
    """Raises ValueError for a URL that cannot be used, and OSError for certificates.

    A run that lives and has said nothing for `every_s` seconds is reported again.
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
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError(f"{url!r} is no URL such as http://warren:8000")
        self._url = url.rstrip("/") + "/v4/offsets"
        self._headers = {"Content-Type": "application/json", "User-Agent": "warren-listener"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        context = ssl.create_default_context(cafile=cafile)
        handler = urllib.request.HTTPSHandler(context=context)
        self._opener = urllib.request.build_opener(handler, _NoRedirects)
        self._timeout_s, self._every_s = timeout_s, every_s
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
            with self._changed:
                self._waiting.extendleft(reversed(reports))
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
            return [*self._take()]

    def _take(self) -> Iterator[Report]:
        """As many as fit into a request; a large one goes alone."""
        size = 0
        for _ in range(AT_ONCE):
            size += _size(self._waiting[0]) if self._waiting else 0
            if not self._waiting or (size > MOST_OFFSETS and size > _size(self._waiting[0])):
                return
            yield self._waiting.popleft()

    def _repeated(self) -> Iterator[Report]:
        """That queries live which have said nothing for a while."""
        now = time.monotonic()
        for run, (report, said) in [*self._living.items()]:
            if now - said >= self._every_s:
                self._living[run] = (report, now)
                yield from still_alive(report, int(time.time() * 1000))

    def _send(self, reports: list[Report]) -> bool:
        """Whether Warren has decided about them; otherwise they are worth another try."""
        body = json.dumps(reports).encode()
        request = urllib.request.Request(self._url, body, self._headers, method="POST")  # noqa: S310  # http or https
        try:
            with self._opener.open(request, timeout=self._timeout_s):
                self._count(sent=len(reports))
                return True
        except urllib.error.HTTPError as error:
            with error:
                return self._note_refusal(error, len(reports))
        except OSError as error:  # also a time-out
            self._count(problem=f"Warren cannot be reached: {error}")
        except Exception as error:  # noqa: BLE001  # such as an answer that is not HTTP
            self._count(problem=f"Warren's answer cannot be read: {error!r}")
        return False

    def _note_refusal(self, error: urllib.error.HTTPError, reports: int) -> bool:
        if error.code >= 500 or error.code in (408, 429):
            self._count(problem=f"Warren answers {error.code}")
            return False
        try:
            said = json.loads(error.read(MOST_ANSWER_BYTES))
            message = str(said["message"])
            refused = len({each["item"] for each in said["refused"]}) if "refused" in said else 0
        except (OSError, ValueError, TypeError, KeyError):
            message, refused = "", 0
        refused = refused or reports
        problem = f"Warren answers {error.code}: {message[:300]}"
        self._count(sent=reports - refused, refused=refused, problem=problem)
        return True

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


def _size(report: Report) -> int:
    return sum(len(partitions) for partitions in report.get("offsets", {}).values())
