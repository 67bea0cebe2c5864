"""One Warren per pidfile, by Burrow's rules.

If the file names a live process, the start is refused. Anything else in it (a dead process, our own
pid, garbage) is replaced. The file is locked only while it is read and written, so that of two
processes that start at once one sees the other; after that only the pid in it counts.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warren.errors import StartError


@contextmanager
def held(path: Path) -> Iterator[None]:
    try:
        claim(path)
    except OSError as error:
        raise StartError(f"cannot write the pidfile {path}: {error.strerror}") from error
    try:
        yield
    finally:
        release(path)


def claim(path: Path) -> None:
    with _locked(path, os.O_CREAT) as file:
        pid = _pid_in(file)
        if pid and pid != os.getpid() and _is_alive(pid):
            raise StartError(
                f"another process, pid {pid}, holds the pidfile {path}; "
                "stop it, or give this one its own general.pidfile"
            )
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)


def release(path: Path) -> None:
    """Remove the file, unless it is gone or names another process now."""
    try:
        with _locked(path) as file:
            if _pid_in(file) == os.getpid():
                path.unlink()
    except OSError:
        # The process is ending, and the next start replaces the file.
        return


@contextmanager
def _locked(path: Path, flags: int = 0) -> Iterator[int]:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            # If the file was removed while we waited for its lock, open a new one.
            if os.fstat(file).st_nlink:
                yield file
                return
        finally:
            os.close(file)


def _pid_in(file: int) -> int | None:
    text = os.pread(file, 64, 0).strip()
    return int(text) if text.isdigit() and int(text) > 0 else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:  # alive, and another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
