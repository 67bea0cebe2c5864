"""Tells a checkpoint that was deleted from one that is out of reach, as on an unmounted disk.

It was deleted if the directory that held it is the same one as before, and lists without it. If
that directory is gone itself, the one above it counts, and so on up to the root of the location.
What an unmounted disk leaves is another directory: on a local file system directories are told
apart by device and inode. Other file systems have no disks to mount, so there a list is believed.
"""

import time
from collections.abc import Iterable, Iterator

from warren.sources.checkpoint_log import OFFSETS
from warren.spark.hadoop_files import ABSENT, HadoopFiles

KEPT_S = 86_400.0  # what is out of reach
LOST = "nothing is there any more"

Listing = tuple[str, ...] | OSError


class Homes:
    """What holds each checkpoint, from itself up to the root of its location."""

    def __init__(self, files: HadoopFiles) -> None:
        self._files = files
        self._homes: dict[str, dict[str, tuple[int, int] | None]] = {}
        self._lost_s: dict[str, float] = {}  # since when each is out of reach

    def remember(self, path: str, root: str) -> None:
        """It is there now."""
        self._homes[path] = {home: self._files.identity(home) for home in _homes(path, root)}
        self._lost_s.pop(path, None)

    def has_lost(self, path: str) -> bool:
        return path in self._lost_s

    def reasons(self, absent: Iterable[str]) -> dict[str, str]:
        """Why each of these may still exist; those that are left out were deleted.

        What is out of reach counts as deleted after a day.
        """
        listed, now = dict[str, Listing](), time.monotonic()
        found = {path: self._reason(path, listed) for path in absent}
        lost = [path for path, reason in found.items() if reason == LOST]
        self._lost_s = {path: self._lost_s.get(path, now) for path in lost}
        late = {path for path, since in self._lost_s.items() if now - since >= KEPT_S}
        kept = {path: reason for path, reason in found.items() if reason and path not in late}
        for path in found.keys() - kept.keys():
            del self._homes[path]
            self._lost_s.pop(path, None)
        return kept

    def _reason(self, path: str, listed: dict[str, Listing]) -> str:
        """Empty: it was deleted."""
        logs = f"{path}/{OFFSETS}"
        for home, identity in self._homes[path].items():
            if home not in listed:
                listed[home] = self._list(home)
            names = listed[home]
            if isinstance(names, ABSENT):
                continue
            if isinstance(names, OSError):
                return str(names)
            is_there = logs[len(home) :].lstrip("/").partition("/")[0] in names
            is_same = self._files.identity(home) == identity
            return "" if is_same and not is_there else LOST
        return LOST

    def _list(self, home: str) -> Listing:
        try:
            return tuple(self._files.names(home))
        except OSError as error:
            return error


def _homes(path: str, root: str) -> Iterator[str]:
    """The checkpoint and all above it up to the root; above it, if it is the root itself."""
    top = _above(root) if path == root else root
    yield path
    while path != top:
        above = _above(path)
        path = above if len(above) > len(top) else top
        yield path


def _above(path: str) -> str:
    above = path.rpartition("/")[0]
    return above if above.count("/") else f"{above}/"
