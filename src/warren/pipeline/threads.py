"""Threads that retry whatever fails in them."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import structlog

from warren.errors import SourceError

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 30.0
STEADY_S = 60.0  # after a run this long the first retry is quick again
STOP_SECONDS = 8.0  # for all threads together
POLL_S = 0.2
NICE = 5  # niceness of the pipeline's threads


class HasTrouble(Protocol):
    """What failed last, and how often the work was started again."""

    problem: str
    restarts: int


@dataclass
class Trouble:
    problem: str = ""
    restarts: int = 0


def keep_running(  # noqa: PLR0913  only some threads set the last
    name: str,
    work: Callable[[threading.Event], None],
    state: HasTrouble,
    stop: threading.Event,
    on_failure: Callable[[], None] = lambda: None,
    *,
    longest_s: float = LAST_RETRY_S,
) -> threading.Thread:
    """Run `work` in a thread again and again, whatever it raises; a failure calls `on_failure`."""

    def run() -> None:
        _give_way()
        delay = FIRST_RETRY_S
        while not stop.is_set():
            began = time.monotonic()
            try:
                work(stop)
                stop.wait(POLL_S)
                continue
            except SourceError as error:
                problem = str(error)
            except Exception as error:
                problem = repr(error)
                if problem != state.problem:
                    log.exception("unexpected failure", type="main", thread=name)
            if problem != state.problem:
                log.error("failed; retrying until it works", thread=name, problem=problem)
            state.problem = problem
            state.restarts += 1
            on_failure()
            delay = FIRST_RETRY_S if time.monotonic() - began > STEADY_S else delay
            stop.wait(delay)
            delay = min(delay * 2, longest_s)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def _give_way() -> None:
    """Let HTTP answers come first. Only Linux has a niceness for each thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def join_all(threads: Iterable[threading.Thread]) -> None:
    """Wait a while for the threads to end; the others end with the process."""
    until = time.monotonic() + STOP_SECONDS
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
