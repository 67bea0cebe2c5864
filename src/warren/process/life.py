"""The life of a serving process around its work.

Nothing is left half-started: what was set up is undone in reverse, whatever goes wrong in between.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import structlog

from warren.config import Config, Loaded
from warren.process import logs, output, pidfile, signals

log = structlog.get_logger()


@contextmanager
def running(config: Config) -> Iterator[threading.Event]:
    """Everything the work stands on; the event is set when the work should stop."""
    path = Path(config.general.pidfile)
    with ExitStack() as stack:
        # First of all: a start that is refused must not rename the log of the one that runs.
        stack.enter_context(pidfile.held(path))
        if config.general.stdout_logfile:
            logfile = Path(config.general.stdout_logfile)
            stack.enter_context(output.redirected(logfile, datetime.now().astimezone()))
        stack.enter_context(logs.configured(config.logging))
        yield stack.enter_context(signals.stopping(forced=lambda: pidfile.release(path)))


def log_findings(loaded: Loaded) -> None:
    """What is odd about the configuration, once there is a log to say it in."""
    file = log.bind(type="main", file=str(loaded.path))
    for finding in (*loaded.warnings, *loaded.unknown):
        file.warning("the configuration has an oddity", finding=finding)
    for key in loaded.unused:
        file.debug("a setting has no effect", finding=key)


@contextmanager
def announced() -> Iterator[None]:
    """Say on stderr how it ended, as Burrow does."""
    outcome = "Warren failed"
    try:
        yield
        outcome = "Stopped Warren"
    finally:
        print(outcome, "at", _clock(datetime.now().astimezone()), file=sys.stderr)  # noqa: T201  # for people, not a log


def _clock(now: datetime) -> str:
    hour, half = now.hour % 12 or 12, "am" if now.hour < 12 else "pm"
    return f"{now:%B} {now.day}, {now.year} at {hour}:{now:%M}{half} ({now:%Z})"
