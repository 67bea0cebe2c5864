"""How a command that has started something ends."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Other signals end it as Ctrl-C does: what was started ends too, and leaves nothing."""
    with _handled(signal.default_int_handler, *SIGNALS):
        yield


@contextmanager
def deferred() -> Iterator[None]:
    """Whoever wants to end it is heard after this: half of a start cannot be undone."""
    heard: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    with _handled(hear, signal.SIGINT, *SIGNALS):
        yield
    if heard:
        raise KeyboardInterrupt


@contextmanager
def _handled(handler: Any, *numbers: signal.Signals) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in numbers}
    for number, usual in before.items():
        if usual is not signal.SIG_IGN:  # `nohup` ignores SIGHUP for us, and that is meant
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
