"""The batches of one checkpoint: which were committed, and how far they read.

Of a checkpoint that is known a look asks only whether there is a later batch, and now and then
whether its newest batch is still the one that was read: the query may have begun anew. Only the
newest of the batches since the last look is read: several between two readings of the log ends
would have the same end, and their lag would seem to shrink. Listing a checkpoint's hundred batches
costs far more, so that happens only when it is found, or when its numbers do not simply go on.
"""

from collections.abc import Iterable
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
FEWER_SOURCES = "a Kafka source that the batch before had: the log is cut short or damaged"


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
    read_s: float = 0.0  # everything that was committed before has been read
    listed: int = 0  # the number of the look that listed its batches last
    has_gaps: bool = False  # its batches' numbers do not simply go on
    is_bare: bool = False  # its logs are gone; what was read of them stays
    longest_pause_ms: int = 0  # between two batches that were read
    begun_ms: int = 0  # when the query was created, by the clock of the file system
    _sources: int = 0  # of Kafka, in the newest batch
    _doubted: int | None = None  # the number of a batch that has fewer
    _idle: int = 0  # looks without a new batch
    _pace: int = 1  # batches between the last two looks that found some

    @property
    def must_list(self) -> bool:
        is_power = not self._idle & (self._idle - 1)
        is_due = self._idle >= LISTED_AGAIN and (is_power or not self._idle % LISTED_AT_LEAST)
        return self.newest is None or self.has_gaps or self.is_bare or is_due

    def look(self, files: HadoopFiles, history: int, as_of_s: float, *, may_list: bool) -> None:
        """Read what was committed since the last look; a failure is kept as the problem."""
        is_listed = self.newest is None or (may_list and self.must_list)
        try:
            if is_listed:
                self._read_listed(files, history)
            else:
                self._read_next(files, history)
            self.problem = ""
        except (OSError, Unreadable) as error:
            self.problem = str(error)
        self.is_read = True
        # Where numbers have gaps, only a list says whether there are later ones.
        if not self.problem and (is_listed or not self.has_gaps):
            self.read_s = as_of_s
        self._idle = 0 if self.fresh else self._idle + 1

    def _read_next(self, files: HadoopFiles, history: int) -> None:
        newest = self.newest
        assert newest is not None  # noqa: S101  else all are listed
        last = self._last(files, newest.number)
        if last > newest.number and self._is_same_query(files):
            self._pace = last - newest.number
            self._read(files, [last])
        elif last > newest.number or (
            self._idle % COMPARED_EVERY == 0 and not self._is_same(files, newest)
        ):
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
            self.is_bare = not files.exists(f"{self.path}/{OFFSETS}")
        if self.is_bare and not names:
            return
        self.is_bare = False
        numbers = sorted(int(name) for name in names if _is_number(name))[-history:]
        self.has_gaps = bool(numbers) and numbers[-1] - numbers[0] >= len(numbers)
        newest = self.newest
        is_held = newest is not None and newest.number in numbers and self._is_same(files, newest)
        if newest is not None and is_held and self._is_same_query(files):
            self._read(files, [each for each in numbers if each > newest.number])
        else:
            self._read_anew(files, numbers)

    def _read_anew(self, files: HadoopFiles, numbers: list[int]) -> None:
        """Read a query that is new, or that has begun anew. Until it is read, all stays."""
        before = self.newest, self.query_id, self._sources, self.begun_ms
        self.newest, self._sources, self._doubted = None, 0, None
        self.query_id, self.begun_ms = self._query_id(files), self._created_ms(files)
        try:
            self._read(files, numbers)
        finally:
            if numbers and not self.fresh:
                self.newest, self.query_id, self._sources, self.begun_ms = before

    def _is_same(self, files: HadoopFiles, batch: CommittedBatch) -> bool:
        """Whether a batch is the one that was read, and not of a query that began anew."""
        try:
            return files.modified_ms(self._file(COMMITS, batch.number)) == batch.committed_ms
        except FileNotFoundError:
            return False

    def _is_same_query(self, files: HadoopFiles) -> bool:
        """Another may have the same numbers, and more."""
        return self._created_ms(files) == self.begun_ms

    def _created_ms(self, files: HadoopFiles) -> int:
        """Spark writes the query's id once. The first versions wrote none."""
        try:
            return files.modified_ms(f"{self.path}/{METADATA}")
        except FileNotFoundError:
            return 0

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
        self._note_pauses()
        if failure is not None:
            raise failure

    def _note_pauses(self) -> None:
        for batch in self.fresh:
            pause_ms = batch.committed_ms - self.newest.committed_ms if self.newest else 0
            self.longest_pause_ms = max(self.longest_pause_ms, pause_ms)
            self.newest = batch

    def _batch(self, files: HadoopFiles, number: int) -> CommittedBatch:
        read = read_batch(files.read(self._file(OFFSETS, number)))
        # A log may be cut between two sources. Two in a row are no accident: the query has changed.
        if read.kafka_sources < self._sources and self._doubted in {None, number}:
            self._doubted = number
            raise Unreadable(FEWER_SOURCES)
        committed_ms = files.modified_ms(self._file(COMMITS, number))
        self._doubted, self._sources = None, read.kafka_sources
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
    """Spark compacts only the logs of file sources and sinks; `9.compact` is none of these."""
    return name.isascii() and name.isdecimal() and len(name) < 19
