"""Servers stopped where they stand; their connections stay open, and nobody is answered."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from support.waiting import eventually


def freeze(pid: int | None) -> None:
    """Stop every thread of a process that leads its group, and of the others in it."""
    assert pid is not None
    os.killpg(pid, signal.SIGSTOP)
    # On a busy machine a thread may go on for a moment, and answer.
    eventually(lambda: _states(pid) <= {"T", "Z"})


def _states(pid: int) -> set[str]:
    """What its threads do; T: stopped."""
    states = set()
    for each in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ends just now
            states.add(each.read_text().rpartition(")")[2].split()[0])
    return states


def thaw(pid: int | None) -> None:
    """Let it go on; one that is gone stays so."""
    if pid is not None:
        os.killpg(pid, signal.SIGCONT)
