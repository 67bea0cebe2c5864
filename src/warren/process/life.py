"""Start and end of a serving process, around its work.

Nothing is left half-started: what was set up is undone in reverse, whatever goes wrong in between.
"""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import structlog

from warren.config import Config, Loaded
from warren.errors import StartError, WarrenError
from warren.process import logs, pidfile, signals


@contextmanager
def redirected(path: Path, now: datetime) -> Iterator[None]:
    """Redirect file descriptors 1 and 2 to `path`, also for the JVM, which inherits them.

    A file of an earlier run is renamed with the time of this start. Errors go to the file too,
    because the operator looks there.
    """
    try:
        _rename_old(path, now)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StartError(f"cannot write general.stdout-logfile {path}: {error.strerror}") from error
    with ExitStack() as restored:
        for descriptor in (1, 2):
            restored.callback(_point, descriptor, os.dup(descriptor))
            os.dup2(file, descriptor)
        os.close(file)
        restored.callback(_flush)
        try:
            yield
        except WarrenError as error:
            print(error, file=sys.stderr)  # noqa: T201  # for people, not a log
            raise


def _rename_old(path: Path, now: datetime) -> None:
    """Rename a log of an earlier run, but not a device or a link such as /dev/stdout."""
    try:
        is_log = stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if is_log:
        path.rename(f"{path}.{now:%Y-%m-%d_%H:%M:%S}")


def _point(descriptor: int, saved: int) -> None:
    os.dup2(saved, descriptor)
    os.close(saved)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


log = structlog.get_logger()


@contextmanager
def running(config: Config) -> Iterator[threading.Event]:
    """Set up pidfile, output, logs and signals; the event is set when the work should stop."""
    path = Path(config.general.pidfile)
    with ExitStack() as stack:
        # First: a start that is refused must not rename the log of the running process.
        stack.enter_context(pidfile.held(path))
        if config.general.stdout_logfile:
            logfile = Path(config.general.stdout_logfile)
            stack.enter_context(redirected(logfile, datetime.now().astimezone()))
        stack.enter_context(logs.configured(config.logging))
        yield stack.enter_context(signals.stopping(forced=lambda: pidfile.release(path)))


def log_findings(loaded: Loaded) -> None:
    """Log what is questionable in the configuration, once logs are set up."""
    logger = log.bind(type="main", file=str(loaded.path))
    for finding in (*loaded.warnings, *loaded.unknown):
        logger.warning("questionable configuration", finding=finding)
    for key in loaded.unused:
        logger.debug("a setting has no effect", finding=key)


@contextmanager
def announced() -> Iterator[None]:
    """Print on stderr how the process ended, as Burrow does."""
    outcome = "Warren failed"
    try:
        yield
        outcome = "Stopped Warren"
    finally:
        print(outcome, "at", _clock(datetime.now().astimezone()), file=sys.stderr)  # noqa: T201  # for people, not a log


def _clock(now: datetime) -> str:
    hour, half = now.hour % 12 or 12, "am" if now.hour < 12 else "pm"
    return f"{now:%B} {now.day}, {now.year} at {hour}:{now:%M}{half} ({now:%Z})"
