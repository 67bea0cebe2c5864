"""Servers stopped where they stand; their connections stay open, and nobody is answered."""

import os
import signal


def freeze(pid: int | None) -> None:
    """Stop every thread of a process that leads its group, and of the others in it."""
    assert pid is not None
    os.killpg(pid, signal.SIGSTOP)


def thaw(pid: int | None) -> None:
    """Let it go on; one that is gone stays so."""
    if pid is not None:
        os.killpg(pid, signal.SIGCONT)
