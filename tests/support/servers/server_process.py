"""Processes that serve: waited for until they are up, ended for good."""

import contextlib
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import httpx
from support.waiting import eventually

STOP_S = 20.0


def wait_for(
    is_up: Callable[[], bool],
    processes: Iterable[subprocess.Popen[bytes]],
    logs: Iterable[Path],
    seconds: float,
) -> None:
    """Wait until it is up; a server that ends before, or does not get that far, says why."""

    def tails() -> str:
        return "".join(log.read_text(errors="replace")[-2000:] for log in logs)

    def is_up_yet() -> bool:
        assert all(process.poll() is None for process in processes), f"it has ended: {tails()}"
        return is_up()

    eventually(is_up_yet, seconds=seconds, more=tails)


def wait_for_answer(process: subprocess.Popen[bytes], url: str, log: Path, seconds: float) -> None:
    """Wait until it says yes."""

    def answers() -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(url, timeout=5).is_success
        return False

    wait_for(answers, [process], [log], seconds)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and see to it that it does."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
