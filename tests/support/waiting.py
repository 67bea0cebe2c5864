"""The one loop of the tests that looks again and again."""

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")

TRUE = object()  # whatever is not empty, nothing or False
WAIT_S = 120.0
FIRST_PAUSE_S, PAUSE_S = 0.01, 0.2  # pauses grow from one to the other


def eventually(
    look: Callable[[], Seen],
    expected: object = TRUE,
    seconds: float = WAIT_S,
    *,
    pause_s: float = PAUSE_S,
    more: Callable[[], object] = str,
) -> Seen:
    """Look until it is as expected, or true if nothing is said, and give what was seen.

    A failure says what was seen last, and `more`.
    """
    deadline = time.monotonic() + seconds
    pause = min(FIRST_PAUSE_S, pause_s)
    while not _is_so(seen := look(), expected):
        if time.monotonic() > deadline:
            wanted = "something" if expected is TRUE else repr(expected)
            raise AssertionError(f"after {seconds:.0f} s saw {seen!r}, expected {wanted} {more()}")
        time.sleep(pause)
        pause = min(2 * pause, pause_s)
    return seen


def _is_so(seen: object, expected: object) -> bool:
    return bool(seen) if expected is TRUE else seen == expected
