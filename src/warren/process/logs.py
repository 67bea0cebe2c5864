"""Logs: one JSON object a line with Burrow's keys, or coloured text for a person at a terminal.

A full log file is renamed, as lumberjack does it for Burrow.

Modules say `log = structlog.get_logger()` and log a plain sentence with fields. `class` is a word
of Python's, so that field is given as `class_`. What libraries log through `logging` comes out the
same way, marked with the `logger` it came from.

A full `warren.log` becomes `warren-2006-01-02T15-04-05.000.log`, or the same with `.gz`. For the
number of such files and for their age 0 means no limit; a size of 0 means 100 MB.
"""

import gzip
import io
import logging
import os
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from numbers import Integral, Real
from pathlib import Path
from typing import BinaryIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from warren.config import Logging
from warren.errors import StartError

MEGABYTE = 1024 * 1024
DEFAULT_MEGABYTES = 100
TIME = "%Y-%m-%dT%H-%M-%S.%f"


@dataclass(frozen=True)
class RotationLimits:
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
    """Renames a full file at once; a thread deletes and compresses old ones."""

    def __init__(
        self, path: Path, limits: RotationLimits, clock: Callable[[], datetime] = utc_now
    ) -> None:
        with suppress(FileExistsError):  # opening it will raise a better message
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
        except Exception:  # noqa: BLE001  # a failing log line must not break the work
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
            with suppress(FileNotFoundError):  # someone removed it: just open a new one
                self.path.rename(backup_path(self.path, self.clock(), self.limits))
            file = _open(self.path, stat.S_IMODE(os.fstat(self.file.fileno()).st_mode))
        except OSError:
            return  # a file too large is better than a lost line
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


def backup_path(path: Path, now: datetime, limits: RotationLimits) -> Path:
    """The name for a file renamed now; of a later millisecond if that name is taken."""
    before, after = _around_time(path)
    zoned = now.astimezone(None if limits.local_time else UTC)
    for later in count():
        at = zoned + timedelta(milliseconds=later)
        name = f"{before}{at:%Y-%m-%dT%H-%M-%S}.{at.microsecond // 1000:03}{after}"
        if not path.with_name(name).exists() and not path.with_name(f"{name}.gz").exists():
            break
    return path.with_name(name)


def tidy(path: Path, limits: RotationLimits, now: datetime) -> None:
    """Delete old files that are too many or too old, then compress the rest."""
    oldest = now - timedelta(days=limits.days) if limits.days > 0 else None
    kept: set[str] = set()
    for at, plain, backup in sorted(_backups(path, limits), reverse=True):
        with suppress(OSError):  # someone else removed it, or the next rotation retries
            kept.add(plain)
            if (0 < limits.backups < len(kept)) or (oldest and at < oldest):
                backup.unlink()
            elif limits.compress and backup.name == plain:
                _compress(backup)


def _backups(path: Path, limits: RotationLimits) -> Iterator[tuple[datetime, str, Path]]:
    """Every old file: its time, its name without `.gz`, and its path."""
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
    """Compress under a temporary name first, so that a `.gz` is always complete."""
    part = path.with_name(f"{path.name}.gz.part")
    with path.open("rb") as plain, gzip.open(part, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    shutil.copymode(path, part)
    part.replace(path.with_name(f"{path.name}.gz"))
    path.unlink()


# Burrow's names. Warren itself logs nothing above error.
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "dpanic": logging.ERROR + 2,
    "panic": logging.ERROR + 4,
    "fatal": logging.CRITICAL,
}
NAMES = {number: name for name, number in LEVELS.items()}
FIRST = ("level", "ts", "msg", "type", "coordinator", "class", "name")

# Below these levels py4j logs every value that goes to the JVM, including passwords, and httpx logs
# whole URLs, which are secrets in the case of webhooks.
NEVER_BELOW = {"py4j": logging.INFO, "httpx": logging.WARNING, "httpcore": logging.WARNING}


@contextmanager
def configured(settings: Logging) -> Iterator[None]:
    """Log as configured in `[logging]` until the context ends."""
    handler = _handler(settings)
    handler.addFilter(_is_wanted)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    set_level(settings.level)
    for name, level in NEVER_BELOW.items():
        logging.getLogger(name).setLevel(level)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    logging.captureWarnings(capture=True)
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
        structlog.reset_defaults()
        root.setLevel(before)
        root.removeHandler(handler)
        handler.close()


def set_level(name: str) -> None:
    """Set the level from now on; raises ValueError if Burrow has no such level."""
    level = LEVELS.get(name.lower() or "info")
    if level is None:
        raise ValueError(f"unknown log level {name!r}, expected one of {', '.join(LEVELS)}")
    logging.getLogger().setLevel(level)


def get_level() -> str:
    return NAMES[logging.getLogger().level]


def _handler(settings: Logging) -> logging.Handler:
    return _to_file(settings) if settings.filename else _to_stdout()


def _to_stdout() -> logging.Handler:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that is not valid UTF-8 becomes a JSON escape instead of an error.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    stream = logging.StreamHandler(sys.stdout)
    stream.setFormatter(_for_people() if sys.stdout.isatty() else _for_machines())
    return stream


def _to_file(settings: Logging) -> logging.Handler:
    path = Path(settings.filename)
    limits = RotationLimits(
        megabytes=settings.maxsize,
        backups=settings.maxbackups,
        days=settings.maxage,
        local_time=settings.use_localtime,
        compress=settings.use_compression,
    )
    try:
        file = RotatingFile(path, limits)
    except OSError as error:
        raise StartError(f"cannot write logging.filename {path}: {error.strerror}") from error
    file.setFormatter(_for_machines())
    return file


def _is_wanted(record: logging.LogRecord) -> bool:
    """Log libraries from warnings up, or everything at debug; py4j only at debug.

    py4j logs an error for each connection that a stopping JVM closes; errors that matter reach us
    as exceptions.
    """
    if _is_ours(record) or get_level() == "debug":
        return True
    return record.levelno >= logging.WARNING and not record.name.startswith("py4j")


def _is_ours(record: logging.LogRecord) -> bool:
    return isinstance(record.msg, dict)  # as structlog hands it over; libraries log text


def _for_machines() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            _stamp,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            _as_burrow,
            structlog.processors.JSONRenderer(
                ensure_ascii=False, separators=(",", ":"), default=_plain
            ),
        ]
    )


def _for_people() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            _stamp,
            _with_local_time,
            structlog.dev.ConsoleRenderer(
                colors="NO_COLOR" not in os.environ,
                sort_keys=False,
                event_key="msg",
                timestamp_key="ts",
                # The default shows local variables, and so would show passwords.
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    )


def _stamp(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add the fields that every line has, ours or a library's."""
    record: logging.LogRecord = event.pop("_record")
    if not event.pop("_from_structlog"):
        event["logger"] = record.name
    if "class_" in event:
        event["class"] = event.pop("class_")
    event["msg"] = event.pop("event")
    event["ts"] = record.created
    event["level"] = _level_name(record.levelno)
    return event


def _level_name(number: int) -> str:
    return NAMES[max((known for known in NAMES if known <= number), default=logging.DEBUG)]


def _as_burrow(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    first = {key: event.pop(key) for key in FIRST if key in event}
    return first | dict(event)


def _with_local_time(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    event["ts"] = datetime.fromtimestamp(event["ts"]).astimezone().strftime("%H:%M:%S")
    return event


def _plain(value: object) -> object:
    """NumPy's numbers as numbers, anything else that JSON does not know as text."""
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)
