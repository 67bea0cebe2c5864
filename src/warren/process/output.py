"""`general.stdout-logfile`: everything this process and its children print goes to a file."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from warren.errors import StartError, WarrenError


@contextmanager
def redirected(path: Path, now: datetime) -> Iterator[None]:
    """Point file descriptors 1 and 2 at `path`: the JVM, which writes there itself, follows.

    A file of an earlier run is kept under the time of this start. What goes wrong inside is written
    to the file too, since that is where its reader looks.
    """
    try:
        _set_aside(path, now)
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


def _set_aside(path: Path, now: datetime) -> None:
    """Rename a log of an earlier run, never a device or a link such as /dev/stdout."""
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
