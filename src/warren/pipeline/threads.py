"""Threads that go on whatever happens in them."""

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
STEADY_S = 60.0  # a thread that ran this long was well; its next failure is a first one again
STOP_SECONDS = 8.0  # for all threads together
POLL_S = 0.2
NICE = 5  # of the pipeline's threads; Spark's process has its own, in spark-env.sh


class Troubled(Protocol):
    """What failed last, and how often something did."""

    problem: str
    restarts: int


@dataclass
class Trouble:
    problem: str = ""
    restarts: int = 0


def surviving(  # noqa: PLR0913  the last is for who is waited for
    name: str,
    work: Callable[[threading.Event], None],
    state: Troubled,
    stop: threading.Event,
    told: Callable[[], None] = lambda: None,
    *,
    longest_s: float = LAST_RETRY_S,
) -> threading.Thread:
    """Run `work` in a thread, again and again, whatever it raises; `told` follows each failure."""

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
                log.error("failed; tried again until it works", thread=name, problem=problem)
            state.problem = problem
            state.restarts += 1
            told()
            delay = FIRST_RETRY_S if time.monotonic() - began > STEADY_S else delay
            stop.wait(delay)
            delay = min(delay * 2, longest_s)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def _give_way() -> None:
    """Let answers come first: whoever asks is waiting. Linux ranks threads, others processes."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def join_all(threads: Iterable[threading.Thread]) -> None:
    """Wait for those that end in time; the others end with the process."""
    until = time.monotonic() + STOP_SECONDS
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
