"""Finds the checkpoints of Spark's streaming queries, and reads which batches they committed.

A look lists the locations, so that new checkpoints are found and deleted ones go. Of a checkpoint
that is known it asks only whether there is a later batch, and now and then whether its newest batch
is still the one that was read: the query may have begun anew. Only the newest of the batches since
the last look is read: several between two readings of the log ends would have the same end, and
their lag would seem to shrink. Listing a checkpoint's hundred batches costs far more, so that
happens only when it is found, or when its numbers do not simply go on.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

from warren.errors import Unreadable
from warren.sources.checkpoint_log import (
    COMMITS,
    METADATA,
    OFFSETS,
    Place,
    read_batch,
    read_query_id,
)
from warren.spark.hadoop_files import HadoopFiles

COMPARED_EVERY = 4  # looks without a new batch: is the newest one still the one that was read?
LISTED_AGAIN = 8  # looks without a new batch; then twice as many, and so on
LISTED_AT_LEAST = 512
MOST_LISTED = 100  # checkpoints that a look lists: of thousands the others come with the next ones
MOST_EXAMINED = 500  # directories that a look examines for being checkpoints


class CommittedBatch(NamedTuple):
    number: int
    committed_ms: int  # by the clock of the file system
    triggered_ms: int | None
    offsets: dict[Place, int]


@dataclass
class Checkpoint:
    """One checkpoint, and what has been read of it."""

    path: str
    location: str  # where it was found
    query_id: str = ""
    newest: CommittedBatch | None = None
    fresh: list[CommittedBatch] = field(default_factory=list)  # of the last look, the newest last
    reads_kafka: bool = True  # as far as known
    problem: str = ""
    is_read: bool = False
    listed: int = 0  # the number of the look that listed its batches last
    has_gaps: bool = False  # its batches' numbers do not simply go on
    _idle: int = 0  # looks without a new batch
    _pace: int = 1  # batches between the last two looks that found some

    @property
    def must_list(self) -> bool:
        is_power = not self._idle & (self._idle - 1)
        is_due = self._idle >= LISTED_AGAIN and (is_power or not self._idle % LISTED_AT_LEAST)
        return self.newest is None or self.has_gaps or is_due

    def look(self, files: HadoopFiles, history: int, *, may_list: bool) -> None:
        """Read what was committed since the last look; a failure is kept as the problem."""
        try:
            if self.newest is None or (may_list and self.must_list):
                self._read_listed(files, history)
            else:
                self._read_next(files, self.newest, history)
            self.problem = ""
        except (OSError, Unreadable) as error:
            self.problem = str(error)
        self.is_read = True
        self._idle = 0 if self.fresh else self._idle + 1

    def _read_next(self, files: HadoopFiles, newest: CommittedBatch, history: int) -> None:
        last = self._last(files, newest.number)
        if last > newest.number:
            self._pace = last - newest.number
            self._read(files, [last])
        elif self._idle % COMPARED_EVERY == 0 and not self._is_same(files, newest):
            self._read_listed(files, history)

    def _last(self, files: HadoopFiles, start: int) -> int:
        """The number of the newest batch, with few questions however many there are since."""
        as_last_time = self._pace > 1 and files.exists(self._file(COMMITS, start + self._pace))
        start += self._pace if as_last_time else 0
        number, step = start, 1
        while files.exists(self._file(COMMITS, number + step)):
            number += step
            step = number - start
        while step > 1:
            step //= 2
            if files.exists(self._file(COMMITS, number + step)):
                number += step
        return number

    def _read_listed(self, files: HadoopFiles, history: int) -> None:
        try:
            names = files.names(f"{self.path}/{COMMITS}")
        except FileNotFoundError:
            names = []  # no batch is done yet
        numbers = sorted(int(name) for name in names if _is_number(name))[-history:]
        self.has_gaps = bool(numbers) and numbers[-1] - numbers[0] >= len(numbers)
        newest = self.newest
        if newest is not None and newest.number in numbers and self._is_same(files, newest):
            numbers = [each for each in numbers if each > newest.number]
        else:
            self.newest, self.query_id = None, self._query_id(files)
        self._read(files, numbers)

    def _is_same(self, files: HadoopFiles, batch: CommittedBatch) -> bool:
        """Whether a batch is the one that was read, and not of a query that began anew."""
        try:
            return files.modified_ms(self._file(COMMITS, batch.number)) == batch.committed_ms
        except FileNotFoundError:
            return False

    def _read(self, files: HadoopFiles, numbers: Iterable[int]) -> None:
        """Read these batches; one that is damaged does not matter if a later one is not."""
        failure: OSError | Unreadable | None = None
        for number in numbers:
            try:
                self.fresh.append(self._batch(files, number))
                failure = None
            except OSError as error:
                failure = OSError(f"{OFFSETS}/{number}: {error}")
            except Unreadable as error:
                failure = Unreadable(f"{OFFSETS}/{number}: {error.field}")
        if self.fresh:
            self.newest = self.fresh[-1]
        if failure is not None:
            raise failure

    def _batch(self, files: HadoopFiles, number: int) -> CommittedBatch:
        read = read_batch(files.read(self._file(OFFSETS, number)))
        committed_ms = files.modified_ms(self._file(COMMITS, number))
        self.reads_kafka = read.reads_kafka
        return CommittedBatch(number, committed_ms, read.triggered_ms, read.offsets)

    def _query_id(self, files: HadoopFiles) -> str:
        """Empty if the checkpoint does not say: the first versions of Spark wrote none."""
        try:
            return read_query_id(files.read(f"{self.path}/{METADATA}"))
        except (OSError, Unreadable):
            return ""

    def _file(self, log: str, number: int) -> str:
        return f"{self.path}/{log}/{number}"


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 19


class _Folder(NamedTuple):
    """A directory that is no checkpoint, or not yet."""

    children: tuple[str, ...]
    look: int  # when it was examined
    problem: str = ""


class Checkpoints:
    """All checkpoints at some locations. Each is a pattern of checkpoints, or of their parents."""

    def __init__(
        self, files: HadoopFiles, locations: Sequence[str], history: int, workers: Executor
    ) -> None:
        """`history` is how many batches to read of a checkpoint that is new."""
        self.known: dict[str, Checkpoint] = {}
        self.problems: dict[str, str] = {}  # of locations that cannot be listed
        self._files = files
        self.locations = locations
        self._history = history
        self._workers = workers
        self._folders: dict[str, _Folder] = {}
        self._looks = 0

    @property
    def unreadable(self) -> dict[str, str]:
        """Checkpoints and directories that cannot be read, and why."""
        of_folders = {path: each.problem for path, each in self._folders.items() if each.problem}
        return of_folders | {
            path: each.problem for path, each in self.known.items() if each.problem
        }

    @property
    def is_complete(self) -> bool:
        """Whether everything that can be found has been read once."""
        return all(each.is_read or each.location in self.problems for each in self.known.values())

    @property
    def empty(self) -> list[str]:
        """Locations without any checkpoint."""
        held = {each.location for each in self.known.values()}
        return [each for each in self.locations if each not in held | self.problems.keys()]

    def look(self, is_over: Callable[[], bool]) -> None:
        """Find checkpoints, and read what is new in them; `is_over` ends it early."""
        self._looks += 1
        self._find_all()
        listed = [each for each in self.known.values() if each.must_list]
        listed.sort(key=lambda each: each.listed)  # they take turns
        may_list = {each.path for each in listed[:MOST_LISTED]}

        def read(checkpoint: Checkpoint) -> None:
            is_its_turn = checkpoint.path in may_list
            if not is_over() and (is_its_turn or checkpoint.newest is not None):
                checkpoint.listed = self._looks if is_its_turn else checkpoint.listed
                checkpoint.look(self._files, self._history, may_list=is_its_turn)

        for each in self.known.values():
            each.fresh = []
        chosen = [each for each in self.known.values() if each.location not in self.problems]
        for _ in self._workers.map(read, chosen):
            pass

    def _find_all(self) -> None:
        there: set[str] = set()
        for location in self.locations:
            try:
                found = self._find(location)
                self.problems.pop(location, None)
            except OSError as error:
                self.problems[location] = str(error)
                found = {path for path, each in self.known.items() if each.location == location}
            there |= found
        self.known = {path: each for path, each in self.known.items() if path in there}
        self._folders = {path: each for path, each in self._folders.items() if path in there}

    def _find(self, location: str) -> set[str]:
        """All that may be a checkpoint. If nothing is left at all, that may be a lost disk."""
        entries = self._files.find(location)
        if not entries and any(each.location == location for each in self.known.values()):
            raise FileNotFoundError("nothing is there any more")
        children = self._examine(entries, location)
        self._examine(children, location)
        return {*entries, *children}

    def _examine(self, paths: Sequence[str], location: str) -> list[str]:
        """Find new checkpoints among these; returns what is in the others."""
        others = [path for path in paths if path not in self.known]
        longest_ago = sorted(
            others, key=lambda path: self._folders[path].look if path in self._folders else -1
        )
        opened = self._workers.map(self._open, longest_ago[:MOST_EXAMINED])
        for path, folder in zip(longest_ago, opened, strict=False):
            if folder is None:
                self.known[path] = Checkpoint(path, location)
                self._folders.pop(path, None)
            else:
                self._folders[path] = folder
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
        except FileNotFoundError:
            return _Folder((), self._looks)
        except OSError as error:
            before = self._folders.get(path)
            return _Folder(before.children if before else (), self._looks, str(error))
        if OFFSETS in names and path.rpartition("/")[2] != OFFSETS:
            return None
        shown = [name for name in names if not name.startswith((".", "_"))]
        return _Folder(tuple(f"{path}/{name}" for name in shown), self._looks)
