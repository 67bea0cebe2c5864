"""Reads the table's files without Spark: for small queries that should not wait for it.

The log of a Delta table lists its files: a JSON file for every commit, and now and then a
checkpoint that sums up all commits before it. Only Delta's reader version 1 is supported here; a
table that needs more, or is not on a disk of this machine, is left to Spark.
"""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from warren.errors import NoHistory
from warren.history.memory_queries import InMemory
from warren.model.period import Period, day
from warren.model.tables import HISTORY

READER_VERSION = 1
CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet")
COMMIT = re.compile(r"(\d{20})\.json")
IN_CHECKPOINTS = ["add", "metaData", "protocol"]
ROWS = pa.schema([field for field in HISTORY if field.name != "day"])
# The columns that our queries use; the others are for other readers of the table.
QUERIED = (
    *("cluster", "moment_ms", "kind", "group", "topic", "partition"),
    *("status", "lag", "offset", "max_lag", "partitions", "age_s"),
)
SMALL_ROWS = 5_000_000  # in the files to read, which takes a second or two
FORMAT = ds.ParquetFileFormat()
DISK = fs.LocalFileSystem()


class NeedsSpark(Exception):
    """Only Spark can read this table."""


# After these, Spark is tried; if the table is damaged, Spark reports it.
UNREADABLE = (NeedsSpark, OSError, pa.ArrowException, msgspec.MsgspecError)


@dataclass(frozen=True)
class File:
    """Some rows of one day and cluster."""

    path: Path
    day: str
    cluster: str
    stats: Mapping[str, Any]  # Delta's statistics; may be empty

    @property
    def rows(self) -> int:
        known = self.stats.get("numRecords")
        return int(pq.read_metadata(self.path).num_rows if known is None else known)

    @property
    def moments(self) -> tuple[int | None, int | None]:
        """The first and the last moment, if known."""
        first, last = (
            self.stats.get(side, {}).get("moment_ms") for side in ("minValues", "maxValues")
        )
        return first, last

    def may_hold(self, period: Period, cluster: str) -> bool:
        first, last = self.moments
        return (
            cluster in {"", self.cluster}
            and str(day(period.since_ms)) <= self.day <= str(day(period.until_ms))
            and (first is None or first <= period.until_ms)
            and (last is None or last >= period.since_ms)
        )


class TableFiles:
    """The current files of a table; each commit of the log is read once."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._log = Path(directory.removeprefix("file://"), "_delta_log")
        self._lock = threading.Lock()
        self._version = -1
        self._files: dict[str, File] = {}

    @property
    def are_here(self) -> bool:
        path = self.directory.removeprefix("file://")
        is_plain = path == self.directory or (path.startswith("/") and "%" not in path)
        return "://" not in path and is_plain

    def holding(self, period: Period, cluster: str = "") -> list[File]:
        """The files that may have rows of a period; raises NeedsSpark, NoHistory or OSError."""
        if not self.are_here:
            raise NeedsSpark
        with self._lock:
            try:
                self._follow()
            except FileNotFoundError:
                self._begin()
            found = [*self._files.values()]
        return [each for each in found if each.may_hold(period, cluster)]

    def _follow(self) -> None:
        """Read the new commits."""
        if self._version < 0:
            raise FileNotFoundError
        # If the last commit we read is gone, this is another table.
        self._commit(self._version).stat()
        while (commit := self._commit(self._version + 1)).exists():
            self._take(_actions(commit))
            self._version += 1

    def _begin(self) -> None:
        """Read the newest checkpoint and all commits after it."""
        if not self._log.is_dir():
            self._version, self._files = -1, {}
            raise NoHistory(self.directory)
        names = [path.name for path in self._log.iterdir()]
        version, parts = _newest_checkpoint(names)
        commits = sorted(int(found[1]) for name in names if (found := COMMIT.fullmatch(name)))
        commits = [number for number in commits if number > version]
        if not parts and not commits:
            raise NoHistory(self.directory)
        if commits != [*range(version + 1, version + 1 + len(commits))]:
            raise NeedsSpark  # some are missing: the log is being cleaned up right now
        self._version, self._files = -1, {}
        for part in parts:
            self._take(_checkpoint_actions(self._log / part))
        for number in commits:
            self._take(_actions(self._commit(number)))
        self._version = commits[-1] if commits else version

    def _commit(self, version: int) -> Path:
        return self._log / f"{version:020}.json"

    def _take(self, actions: Iterable[Mapping[str, Any]]) -> None:
        for action in actions:
            if protocol := action.get("protocol"):
                if protocol["minReaderVersion"] > READER_VERSION:
                    raise NeedsSpark
            elif added := action.get("add"):
                self._files[added["path"]] = self._file(added)
            elif removed := action.get("remove"):
                self._files.pop(removed["path"], None)

    def _file(self, added: Mapping[str, Any]) -> File:
        path = unquote(added["path"])
        if path.startswith("/") or ":" in path.partition("/")[0]:
            raise NeedsSpark  # a file of a cloned table, elsewhere
        values = dict(added["partitionValues"])
        if not {"day", "cluster"} <= values.keys():
            raise NeedsSpark  # not a table of Warren's
        stats = msgspec.json.decode(added.get("stats") or "{}")
        return File(self._log.parent / path, values["day"], values["cluster"], stats)


def small(
    files: TableFiles, period: Period, cluster: str = "", group: str = "", kinds: Sequence[str] = ()
) -> InMemory | None:
    """The rows of a period, if they are few and readable here; None: use Spark."""
    try:
        holding = files.holding(period, cluster)
        if sum(each.rows for each in holding) > SMALL_ROWS:
            return None
        return InMemory(read(holding, period, group, kinds))
    except UNREADABLE:
        return None


def read(
    files: Sequence[File],
    period: Period,
    group: str = "",
    kinds: Sequence[str] = (),
    columns: Sequence[str] = QUERIED,
) -> pa.Table:
    """The rows of a period, of one group or some kinds if named."""
    chosen = (pc.field("moment_ms") >= period.since_ms) & (pc.field("moment_ms") <= period.until_ms)
    if group:
        chosen &= pc.field("group") == group
    if kinds:
        chosen &= pc.field("kind").isin([*kinds])
    fragments = [
        FORMAT.make_fragment(str(each.path), DISK, pc.field("cluster") == each.cluster)
        for each in files
    ]
    some = ds.FileSystemDataset(fragments, ROWS, FORMAT, DISK)
    return some.to_table(columns=[*columns], filter=chosen)


def _newest_checkpoint(names: Iterable[str]) -> tuple[int, list[str]]:
    """Its version and its files; a checkpoint in parts counts only if all parts exist."""
    found: dict[tuple[int, int], list[str]] = {}
    for name in sorted(names):
        if match := CHECKPOINT.fullmatch(name):
            found.setdefault((int(match[1]), int(match[3] or 1)), []).append(name)
    whole = [key for key, parts in found.items() if len(parts) == key[1]]
    return (max(whole)[0], found[max(whole)]) if whole else (-1, [])


def _actions(commit: Path) -> list[Mapping[str, Any]]:
    return [msgspec.json.decode(line) for line in commit.read_bytes().splitlines()]


def _checkpoint_actions(file: Path) -> list[Mapping[str, Any]]:
    there = pq.read_schema(file).names
    table = pq.read_table(file, columns=[name for name in IN_CHECKPOINTS if name in there])
    actions: list[Mapping[str, Any]] = table.to_pylist()
    return actions
