"""A log file that is set aside when it is full, as Burrow's is by lumberjack.

`warren.log` becomes `warren-2006-01-02T15-04-05.000.log`, or the same with `.gz`. For the number of
such files and for their age 0 means no limit; a size of 0 means 100 MB.
"""

import gzip
import logging
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import BinaryIO

MEGABYTE = 1024 * 1024
DEFAULT_MEGABYTES = 100
TIME = "%Y-%m-%dT%H-%M-%S.%f"


@dataclass(frozen=True)
class Limits:
    megabytes: int = DEFAULT_MEGABYTES
    backups: int = 0
    days: int = 0
    local_time: bool = False
    compress: bool = False

    @property
    def size(self) -> int:
        return (self.megabytes if self.megabytes > 0 else DEFAULT_MEGABYTES) * MEGABYTE


def utc_now() -> datetime:
    return datetime.now(UTC)


class RotatingFile(logging.Handler):
    """A full file is renamed at once; deleting and compressing old ones is left to a thread."""

    def __init__(self, path: Path, limits: Limits, clock: Callable[[], datetime] = utc_now) -> None:
        with suppress(FileExistsError):  # a file in the way: opening has the better words for it
            path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.limits, self.clock = path, limits, clock
        self.file = _open(path, 0o600)
        self.tidying = self._tidy()
        super().__init__()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            # A name that is not valid UTF-8 becomes a JSON escape instead of an error.
            line = self.format(record).encode(errors="backslashreplace") + b"\n"
            if self._is_full(len(line)):
                self._rotate()
            self.file.write(line)
            self.file.flush()
        except Exception:  # noqa: BLE001  # a log line never breaks what it tells about
            self.handleError(record)

    def close(self) -> None:
        super().close()
        self.file.close()
        self.tidying.join()

    def _is_full(self, more: int) -> bool:
        now = os.fstat(self.file.fileno())
        is_too_large = now.st_size > 0 and now.st_size + more > self.limits.size
        return is_too_large and stat.S_ISREG(now.st_mode)

    def _rotate(self) -> None:
        try:
            with suppress(FileNotFoundError):  # taken away by someone: only start anew
                self.path.rename(backup_path(self.path, self.clock(), self.limits))
            file = _open(self.path, stat.S_IMODE(os.fstat(self.file.fileno()).st_mode))
        except OSError:
            return  # better a file too large than a line lost
        self.file.close()
        self.file = file
        self.tidying.join()
        self.tidying = self._tidy()

    def _tidy(self) -> threading.Thread:
        job = threading.Thread(
            target=tidy, args=(self.path, self.limits, self.clock()), name="log rotation"
        )
        job.start()
        return job


def _open(path: Path, mode: int) -> BinaryIO:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode), "ab")


def backup_path(path: Path, now: datetime, limits: Limits) -> Path:
    """The name for a file set aside now; that of a later millisecond if it is taken."""
    before, after = _around_time(path)
    zoned = now.astimezone(None if limits.local_time else UTC)
    for later in count():
        at = zoned + timedelta(milliseconds=later)
        name = f"{before}{at:%Y-%m-%dT%H-%M-%S}.{at.microsecond // 1000:03}{after}"
        if not path.with_name(name).exists() and not path.with_name(f"{name}.gz").exists():
            break
    return path.with_name(name)


def tidy(path: Path, limits: Limits, now: datetime) -> None:
    """Delete the files set aside that are too many or too old, then compress the rest."""
    oldest = now - timedelta(days=limits.days) if limits.days > 0 else None
    kept: set[str] = set()
    for at, plain, backup in sorted(_backups(path, limits), reverse=True):
        with suppress(OSError):  # lost to someone else, or tried again at the next rotation
            kept.add(plain)
            if (0 < limits.backups < len(kept)) or (oldest and at < oldest):
                backup.unlink()
            elif limits.compress and backup.name == plain:
                _compress(backup)


def _backups(path: Path, limits: Limits) -> Iterator[tuple[datetime, str, Path]]:
    """Every file set aside: when, its name without `.gz`, and its path."""
    before, after = _around_time(path)
    for backup in path.parent.iterdir():
        plain = backup.name.removesuffix(".gz")
        if not (plain.startswith(before) and plain.endswith(after)):
            continue
        with suppress(ValueError):  # some other file
            time = plain[len(before) : len(plain) - len(after)]
            at = datetime.strptime(time, TIME)  # noqa: DTZ007  # the zone is a setting
            yield at.astimezone() if limits.local_time else at.replace(tzinfo=UTC), plain, backup


def _around_time(path: Path) -> tuple[str, str]:
    stem, dot, extension = path.name.rpartition(".")
    return (f"{stem}-", f".{extension}") if dot else (f"{path.name}-", "")


def _compress(path: Path) -> None:
    """Under a passing name first, so that a `.gz` is always whole."""
    part = path.with_name(f"{path.name}.gz.part")
    with path.open("rb") as plain, gzip.open(part, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    shutil.copymode(path, part)
    part.replace(path.with_name(f"{path.name}.gz"))
    path.unlink()
