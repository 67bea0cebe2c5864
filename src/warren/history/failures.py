"""What Spark or a file system complains about, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from warren.errors import NotKept


@contextmanager
def failures(what: str) -> Iterator[None]:
    """What goes wrong inside becomes one of our errors: `what`, and the reason."""
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        raise NotKept(what, reason(error)) from error


def reason(error: BaseException) -> str:
    """The first line of what went wrong at the very bottom: a full disk, a missing permission."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    text = str(error) if cause is None else str(cause.toString())
    return next(iter(text.strip().splitlines()), type(error).__name__)
