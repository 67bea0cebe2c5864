"""Leading is a lease: it ends by itself, so a process that was frozen wakes up without it."""

import threading
import time
from collections.abc import Mapping

import structlog

from warren.model import kafka_names


def encoded(changes: Mapping[str, bytes | None]) -> dict[bytes, bytes | None]:
    return {kafka_names.to_bytes(key): value for key, value in changes.items()}


def decoded(state: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {kafka_names.from_bytes(key): value for key, value in state.items()}


log = structlog.get_logger()

NOTIFIER, HISTORY = "notifier", "history"  # what only one of several instances does


class Lease:
    """Valid for some seconds from the moment it was asked for, or until something ends it."""

    def __init__(self, lock: str, duty: str) -> None:
        """Both are names in the log."""
        self.problem = ""  # why the lock cannot even be asked for, if so
        self._log = log.bind(type="coordinator", coordinator=duty, lock=lock)
        self._until = float("-inf")
        self._ended = 0  # how often
        self._told = False
        self._guard = threading.Lock()

    @property
    def is_valid(self) -> bool:
        return time.monotonic() < self._until

    def ask(self) -> tuple[float, int]:
        """Begin to ask for it: it will count from now on, unless it is ended meanwhile."""
        with self._guard:
            return time.monotonic(), self._ended

    def extend(self, asked: tuple[float, int], seconds: float) -> None:
        since, ended = asked
        with self._guard:
            if ended == self._ended:
                self._until = since + seconds

    def end(self) -> None:
        with self._guard:
            self._until = float("-inf")
            self._ended += 1

    def tell(self, problem: str) -> None:
        """Log what has changed since it was told last."""
        if problem and problem != self.problem:
            self._log.error("the lock cannot be had; tried again", problem=problem)
        if self.problem and not problem:
            self._log.info("the lock answers again")
        self.problem = problem
        if self._told != self.is_valid:
            self._told = self.is_valid
            self._log.info("this instance leads" if self._told else "this instance does not lead")
