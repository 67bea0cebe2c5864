"""Signals that end Warren set one event; the working threads watch it."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from types import FrameType
from typing import NoReturn

import structlog

log = structlog.get_logger()

# SIGHUP kills Burrow, and its pidfile is left behind.
STOPPING = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping(forced: Callable[[], None]) -> Iterator[threading.Event]:
    """An event that a stopping signal sets. Ctrl-C after that calls `forced` and exits at once."""
    # A handler may interrupt code that holds the lock of an event or of the log. Putting into a
    # SimpleQueue is safe there; a thread does the rest.
    arrived: SimpleQueue[int | None] = SimpleQueue()
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(arrived, stop), name="signals", daemon=True)
    is_stopping = False

    def handle(number: int, _frame: FrameType | None) -> None:
        nonlocal is_stopping
        if is_stopping and number == signal.SIGINT:
            _leave(forced)
        is_stopping = True
        arrived.put(number)

    with ExitStack() as restored:
        watcher.start()
        restored.callback(watcher.join)
        restored.callback(arrived.put, None)
        for number in STOPPING:
            # Under `nohup` SIGHUP is ignored: leave it so.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            restored.callback(signal.signal, number, signal.signal(number, handle))
        yield stop


def _watch(arrived: "SimpleQueue[int | None]", stop: threading.Event) -> None:
    while (number := arrived.get()) is not None:
        stop.set()
        log.info("stopping", type="main", signal=signal.Signals(number).name)


def _leave(forced: Callable[[], None]) -> NoReturn:
    forced()
    os.write(2, b"Warren exited without a clean stop\n")
    os._exit(128 + signal.SIGINT)
