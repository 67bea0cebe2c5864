"""Directories for what Spark must not leave behind.

Spark leaves folders wherever it stands, so its working directory is a scratch directory that goes
with the session. Paths handed to Spark are therefore absolute.

A scratch directory holds a file that its process keeps locked. The kernel unlocks it when that
process dies, so the next start can tell what nobody needs any more, and removes it.
"""

import contextlib
import fcntl
import shutil
import tempfile
from pathlib import Path
from typing import IO

PREFIX = "warren-spark-"
ALIVE = "alive"  # a file that is locked for as long as its process lives
_held: dict[Path, IO[bytes]] = {}


def make_scratch() -> Path:
    """A directory that nobody needs once this process has ended: the next start removes it."""
    _sweep_scratch()
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    unlocked = directory / "unlocked"  # under this name nobody looks for it
    file = unlocked.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)
    unlocked.rename(directory / ALIVE)
    _held[directory] = file
    return directory


def remove_scratch(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    if directory in _held:
        _held.pop(directory).close()


def _sweep_scratch() -> None:
    for file in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{ALIVE}"):
        with contextlib.suppress(OSError), file.open("r+b") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(file.parent, ignore_errors=True)
