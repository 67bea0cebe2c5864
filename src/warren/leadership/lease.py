"""Leadership is a lease: it expires on its own, so a process that was frozen no longer leads."""

import threading
import time
from collections.abc import Mapping

import structlog

from warren.model import kafka_names


def encode_keys(changes: Mapping[str, bytes | None]) -> dict[bytes, bytes | None]:
    return {kafka_names.to_bytes(key): value for key, value in changes.items()}


def decode_keys(state: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {kafka_names.from_bytes(key): value for key, value in state.items()}


log = structlog.get_logger()

NOTIFIER, HISTORY = "notifier", "history"  # duties that only one of several instances has


class Lease:
    """Valid for some seconds from the moment we requested it, or until something ends it."""

    def __init__(self, lock: str, duty: str) -> None:
        """`lock` and `duty` appear in the log."""
        self.problem = ""  # why the lock cannot be requested; empty if it can
        self._log = log.bind(type="coordinator", coordinator=duty, lock=lock)
        self._until = float("-inf")
        self._ended = 0  # how many times
        self._was_valid = False  # as logged last
        self._guard = threading.Lock()

    @property
    def is_valid(self) -> bool:
        return time.monotonic() < self._until

    def start_request(self) -> tuple[float, int]:
        """Note when the request starts: the lease counts from now, unless it is ended meanwhile."""
        with self._guard:
            return time.monotonic(), self._ended

    def extend(self, request: tuple[float, int], seconds: float) -> None:
        since, ended = request
        with self._guard:
            if ended == self._ended:
                self._until = since + seconds

    def end(self) -> None:
        with self._guard:
            self._until = float("-inf")
            self._ended += 1

    def log_changes(self, problem: str) -> None:
        """Log what has changed since the last call."""
        if problem and problem != self.problem:
            self._log.error("the lock is unavailable; retrying", problem=problem)
        if self.problem and not problem:
            self._log.info("the lock is available again")
        self.problem = problem
        if self._was_valid != self.is_valid:
            self._was_valid = self.is_valid
            leads = "this instance leads" if self._was_valid else "this instance does not lead"
            self._log.info(leads)
