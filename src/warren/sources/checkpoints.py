"""Finds the checkpoints of Spark's streaming queries at some locations, and has them read.

Each location is looked at in threads of its own: one whose file system hangs, or is slow, holds up
no other, and what it finds counts once its look is done. A look lists the location, so that new
checkpoints are found and deleted ones go.
"""

import copy
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import NamedTuple

from warren.sources.checkpoint_batches import Checkpoint
from warren.sources.checkpoint_homes import LOST, Homes
from warren.sources.checkpoint_log import OFFSETS
from warren.spark.hadoop_files import ABSENT, HadoopFiles

MOST_LISTED = 100  # checkpoints that a look lists: of thousands the others come with the next ones
MOST_EXAMINED = 500  # directories that a look examines for being checkpoints
WORKERS = 8  # of a location: remote file systems take their time for each file
PATIENCE_S = 5.0  # for locations that are slow; they go on, and others are looked at meanwhile
SILENT_S = 60.0  # so long without any answer: it hangs
POLL_S = 0.2
SILENT = "its file system does not answer"


class _Folder(NamedTuple):
    """A directory that is no checkpoint, or not yet."""

    children: tuple[str, ...]
    look: int  # when it was examined
    problem: str = ""
    is_empty: bool = False


class _Found(NamedTuple):
    """What a look found."""

    known: dict[str, Checkpoint]
    unlistable: dict[str, str]  # directories, and why
    empty: list[str]  # directories
    problem: str = ""  # of the whole location
    looked_s: float = -math.inf  # when the last look began that had no such problem
    root: str = ""  # where checkpoints are below


class _Location:
    """A pattern of checkpoints, or of their parents."""

    def __init__(self, files: HadoopFiles, path: str, history: int) -> None:
        self.path, self.found, self.is_looked_at = path, _Found({}, {}, []), False
        self._files, self._history = files, history
        self._workers = ThreadPoolExecutor(WORKERS + 1, f"checkpoints {path}")
        self._running: Future[_Found] | None = None
        self._heard_s = 0.0  # when the file system answered last
        # Only a look uses these.
        self._known: dict[str, Checkpoint] = {}
        self._folders: dict[str, _Folder] = {}
        self._homes = Homes(files)
        self._looks = 0

    def begin(self, as_of_s: float, is_over: Callable[[], bool]) -> Future[_Found]:
        """Begin a look, unless one is under way."""
        if self._running is None:
            self._heard_s = time.monotonic()
            self._running = self._workers.submit(self._look, as_of_s, is_over)
        return self._running

    def end(self) -> None:
        """Take what a look has found, if it is done."""
        for each in self.found.known.values():
            each.fresh = []
        running = self._running
        if running is not None and running.done():
            self._running, self.is_looked_at = None, True
            self.found = running.result()
        elif time.monotonic() - self._heard_s > SILENT_S:
            self.found = self.found._replace(problem=SILENT)

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    def may_hold(self, path: str) -> bool:
        """Of a location that was never listed only the kind of file system is known."""
        scheme, colon, _ = self.path.partition(":")
        return path.startswith(self.found.root or (f"{scheme}:" if colon else ""))

    @property
    def is_bare(self) -> bool:
        """Whether there is no checkpoint at all."""
        return self.is_looked_at and not self.found.known and not self.found.problem

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be found has been read once."""
        is_read = all(each.is_read for each in self.found.known.values())
        return bool(self.found.problem) or (self.is_looked_at and is_read)

    def _look(self, as_of_s: float, is_over: Callable[[], bool]) -> _Found:
        self._looks += 1
        root = self.found.root
        try:
            root = root or self._files.root(self.path)
            there = self._find(root)
            read = self._read(there & self._known.keys(), as_of_s, is_over)
            for path, each in read.items():
                if each.begun_ms != self._known[path].begun_ms or self._homes.has_lost(path):
                    self._homes.remember(path, root)
            problem = self._take(read)
        except OSError as error:
            problem = str(error)
        looked_s = self.found.looked_s if problem else as_of_s
        folders = self._folders.items()
        unlistable = {path: each.problem for path, each in folders if each.problem}
        empty = [path for path, each in folders if each.is_empty]
        return _Found(dict(self._known), unlistable, empty, problem, looked_s, root)

    def _take(self, read: dict[str, Checkpoint]) -> str:
        """Take what was read, and part with checkpoints that were deleted."""
        absent = (self._known.keys() - read.keys()) | {
            n for n, each in read.items() if each.is_bare
        }
        reasons = self._homes.reasons(absent)
        is_all_lost = {*reasons.values()} == {LOST} and reasons.keys() >= read.keys()
        kept = {path: copy.copy((self._known | read)[path]) for path in reasons}
        for path, each in kept.items():
            each.fresh, each.problem = [], "" if is_all_lost else reasons[path]
        self._known = {path: each for path, each in read.items() if not each.is_bare} | kept
        return LOST if is_all_lost else ""

    def _find(self, root: str) -> set[str]:
        """All that may be a checkpoint: what matches, and what is in it."""
        entries = self._files.find(self.path)
        self._heard_s = time.monotonic()
        children = self._examine(entries, root)
        if root in self._folders and (problem := self._folders[root].problem):
            del self._folders[root]
            raise OSError(problem)
        self._examine(children, root)
        there = {*entries, *children}
        self._folders = {path: each for path, each in self._folders.items() if path in there}
        return there

    def _examine(self, paths: Sequence[str], root: str) -> list[str]:
        """Find new checkpoints among these; returns what is in the others."""
        others = [path for path in paths if path not in self._known]
        longest_ago = sorted(
            others, key=lambda path: self._folders[path].look if path in self._folders else -1
        )
        opened = self._workers.map(self._open, longest_ago[:MOST_EXAMINED])
        for path, folder in zip(longest_ago, opened, strict=False):
            if folder is not None:
                self._folders[path] = folder
                continue
            self._folders.pop(path, None)
            with suppress(*ABSENT):
                self._homes.remember(path, root)
                self._known[path] = Checkpoint(path, self.path)
        return [
            child
            for path in others
            if path in self._folders
            for child in self._folders[path].children
        ]

    def _open(self, path: str) -> _Folder | None:
        """None: it is a checkpoint."""
        try:
            names = self._files.names(path)
        except ABSENT:
            return _Folder((), self._looks)
        except OSError as error:
            before = self._folders.get(path)
            return _Folder(before.children if before else (), self._looks, str(error))
        finally:
            self._heard_s = time.monotonic()
        if OFFSETS in names and path.rpartition("/")[2] != OFFSETS:
            return None
        shown = [name for name in names if not name.startswith((".", "_"))]
        children = tuple(f"{path}/{name}" for name in shown)
        return _Folder(children, self._looks, is_empty=not names)

    def _read(
        self, paths: Iterable[str], as_of_s: float, is_over: Callable[[], bool]
    ) -> dict[str, Checkpoint]:
        """These checkpoints as they are now; until the look is done, others see the old ones."""
        known = {path: copy.copy(self._known[path]) for path in paths}
        listed = [each for each in known.values() if each.must_list]
        listed.sort(key=lambda each: each.listed)  # they take turns
        may_list = {each.path for each in listed[:MOST_LISTED]}

        def read(checkpoint: Checkpoint) -> None:
            is_its_turn = checkpoint.path in may_list
            checkpoint.fresh = []
            if not is_over() and (is_its_turn or checkpoint.newest is not None):
                checkpoint.listed = self._looks if is_its_turn else checkpoint.listed
                checkpoint.look(self._files, self._history, as_of_s, may_list=is_its_turn)
            self._heard_s = time.monotonic()

        for _ in self._workers.map(read, known.values()):
            pass
        return known


class Checkpoints:
    """All checkpoints at some locations."""

    def __init__(self, files: HadoopFiles, locations: Sequence[str], history: int) -> None:
        """`history` is how many batches to read of a checkpoint that is new."""
        self._locations = [_Location(files, each, history) for each in locations]

    @property
    def known(self) -> dict[str, Checkpoint]:
        """By path; where locations overlap, as the first one has it."""
        found: dict[str, Checkpoint] = {}
        for each in reversed(self._locations):
            found |= each.found.known
        return found

    @property
    def problems(self) -> dict[str, str]:
        """Of locations that cannot be listed."""
        return {each.path: each.found.problem for each in self._locations if each.found.problem}

    @property
    def unreadable(self) -> dict[str, str]:
        """Checkpoints and directories that cannot be read, and why."""
        found: dict[str, str] = {}
        for each in self._locations:
            found |= each.found.unlistable
        return found | {path: each.problem for path, each in self.known.items() if each.problem}

    @property
    def empty(self) -> list[str]:
        """Locations without any checkpoint, and empty directories at them."""
        bare = {each.found.root: each.path for each in self._locations if each.is_bare}
        below = (path for each in self._locations for path in each.found.empty)
        return [*bare.values(), *(path for path in below if path not in bare)]

    def failing_location(self, path: str) -> str:
        """A location that cannot be listed, and may hold this; empty: none may."""
        failing = (each for each in self._locations if each.found.problem)
        return next((each.path for each in failing if not path or each.may_hold(path)), "")

    def bare_location(self, path: str) -> str:
        """One where nothing is, and this would be, such as on a disk that is missing."""
        bare = (each for each in self._locations if each.is_bare)
        return next((each.path for each in bare if path and each.may_hold(path)), "")

    @property
    def has_failed(self) -> bool:
        """Whether no location can be listed: others do not suffer from one that cannot."""
        return all(each.found.problem for each in self._locations)

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be found has been read once."""
        return all(each.is_complete for each in self._locations)

    @property
    def looked_s(self) -> float:
        """Everything before this moment has been found, where files can be listed."""
        moments = (each.found.looked_s for each in self._locations if not each.found.problem)
        return min(moments, default=-math.inf)

    def look(self, as_of_s: float, is_over: Callable[[], bool]) -> None:
        """Find checkpoints, and read what is new in them; `is_over` ends it early."""
        until = time.monotonic() + PATIENCE_S
        running = [each.begin(as_of_s, is_over) for each in self._locations]
        while wait(running, POLL_S).not_done and time.monotonic() < until and not is_over():
            pass
        for each in self._locations:
            each.end()

    def close(self) -> None:
        for each in self._locations:
            each.close()
