"""How a command ends that has started something else."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_as_ctrl_c() -> Iterator[None]:
    """Let other signals end the command as Ctrl-C does, with all that it started."""
    with _handled(signal.default_int_handler, *SIGNALS):
        yield


@contextmanager
def defer_signals() -> Iterator[None]:
    """Act on signals only afterwards: half of a start cannot be undone."""
    received: list[int] = []

    def receive(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    with _handled(receive, signal.SIGINT, *SIGNALS):
        yield
    if received:
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
