"""Logs: one JSON object a line with Burrow's keys, or coloured text for a person at a terminal.

Modules say `log = structlog.get_logger()` and log a plain sentence with fields. `class` is a word
of Python's, so that field is given as `class_`. What libraries log through `logging` comes out the
same way, marked with the `logger` it came from.
"""

import io
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from numbers import Integral, Real
from pathlib import Path

import structlog
from structlog.typing import EventDict, WrappedLogger

from warren.config import Logging
from warren.errors import StartError
from warren.process.rotation import Limits, RotatingFile

# Burrow's names. Warren itself logs nothing between error and fatal.
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

# Below these, py4j logs every value that crosses to the JVM, passwords among them, and httpx whole
# URLs, which are secrets where webhooks are concerned.
NEVER_BELOW = {"py4j": logging.INFO, "httpx": logging.WARNING, "httpcore": logging.WARNING}


@contextmanager
def configured(settings: Logging) -> Iterator[None]:
    """Log as `[logging]` says until the context ends."""
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
    """Change what is logged from now on; ValueError if the name is none of Burrow's."""
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
    limits = Limits(
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
    """Libraries are heard from a warning on, or all of them at debug; py4j only at debug.

    py4j reports as errors the connections that a stopping JVM closes; those that matter reach us
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
    """The fields every line has, ours or a library's."""
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
    """NumPy's numbers as numbers, anything else that JSON does not know as its text."""
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else str(value)
