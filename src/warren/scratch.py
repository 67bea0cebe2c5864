"""Directories for what must not outlive the process, however it ends.

Each holds a file that its maker keeps locked. The kernel unlocks it when the maker dies, so whoever
comes next can tell what nobody needs any more, and removes it.
"""

import contextlib
import fcntl
import shutil
import tempfile
from pathlib import Path
from typing import IO

PREFIX = "warren-spark-"
ALIVE = "alive"
_held: dict[Path, IO[bytes]] = {}


def make() -> Path:
    _sweep()
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    unlocked = directory / "unlocked"  # under this name nobody looks for it
    file = unlocked.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)
    unlocked.rename(directory / ALIVE)
    _held[directory] = file
    return directory


def remove(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    if directory in _held:
        _held.pop(directory).close()


def _sweep() -> None:
    for file in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{ALIVE}"):
        with contextlib.suppress(OSError), file.open("r+b") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(file.parent, ignore_errors=True)
