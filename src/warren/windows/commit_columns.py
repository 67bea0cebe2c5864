"""An Arrow table of commits as NumPy columns, with numbers for its names."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from warren.model import kafka_names
from warren.model.arrays import Codes, Ints, Mask
from warren.model.tables import one_chunk

LATEST = np.iinfo(np.int64).max


def encoded(column: pa.ChunkedArray) -> tuple[Codes, list[str]]:
    """Each value as an index into the list of distinct values."""
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    array = one_chunk(column)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    names = array.dictionary.cast(pa.binary()).to_pylist()
    decoded = [kafka_names.from_bytes(name) for name in names]
    return array.indices.to_numpy(zero_copy_only=False), decoded


def groups_of(commits: pa.Table) -> list[str]:
    return encoded(commits["group"])[1]


@dataclass(frozen=True)
class Records:
    """Commits and tombstones in the order they were read."""

    group: Codes
    topic: Codes
    partition: Ints
    offset: Ints
    order: Ints
    committed_ms: Ints
    written_ms: Ints  # by our own clock: it selects the log end for the lag
    is_tombstone: Mask
    groups: list[str]
    topics: list[str]
    is_past: bool = False  # may be older than the commits in the windows

    def __len__(self) -> int:
        return len(self.order)

    @classmethod
    def read(cls, commits: pa.Table, *, is_past: bool = False) -> Self:
        """Take the rows with a group; the others are not commits."""
        if commits["group"].null_count:
            commits = commits.filter(commits["group"].is_valid())
        group, groups = encoded(commits["group"])
        topic, topics = encoded(commits["topic"])
        return cls(
            group,
            topic,
            commits["partition"].to_numpy().astype(np.int64),
            commits["offset"].fill_null(0).to_numpy(),
            commits["order"].to_numpy(),
            commits["committed_ms"].fill_null(0).to_numpy(),
            _written_ms(commits),
            commits["offset"].is_null().to_numpy(),
            groups,
            topics,
            is_past,
        )

    def where(self, mask: Mask) -> Self:
        if mask.all():
            return self
        columns: dict[str, Any] = {
            name: value[mask] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return replace(self, **columns)

    def is_on(self, topics: AbstractSet[str]) -> Mask:
        """Which records belong to one of these topics."""
        if not topics:
            return np.zeros(len(self), np.bool_)
        return np.array([topic in topics for topic in self.topics], np.bool_)[self.topic]

    def keys(self, at: Ints) -> Iterator[tuple[str, str, int]]:
        """Group, topic and partition of some records."""
        columns = (self.group[at], self.topic[at], self.partition[at])
        for group, topic, partition in zip(*(each.tolist() for each in columns), strict=True):
            yield self.groups[group], self.topics[topic], partition

    def pairs(self) -> tuple[Codes, list[tuple[int, int]]]:
        """Each record as an index into the list of distinct (group, topic) codes."""
        width = max(len(self.topics), 1)
        code = pa.array(self.group.astype(np.int64) * width + self.topic).dictionary_encode()
        distinct = [divmod(pair, width) for pair in code.dictionary.to_pylist()]
        return code.indices.to_numpy(zero_copy_only=False), distinct


def _written_ms(commits: pa.Table) -> Ints:
    """Commits without a time of writing count as written now."""
    if "written_ms" not in commits.column_names:
        return np.full(len(commits), LATEST)
    written_ms: Ints = commits["written_ms"].to_numpy()
    return written_ms


@dataclass(frozen=True)
class Folded:
    """The result of folding a batch."""

    commits: int  # folded into windows, with duplicates and those already pushed out
    tombstones: int
    waiting: int  # for the log end of their partition
    dropped: Mapping[str, int]  # by reason


def after_tombstones(row: Ints, is_tombstone: Mask) -> tuple[Mask, Ints, Ints]:
    """Which records come after their row's last tombstone; the rows with one, and its index."""
    at = np.flatnonzero(is_tombstone)
    if not len(at):
        return np.ones(len(row), np.bool_), at, at
    rows, from_end = np.unique(row[at][::-1], return_index=True)
    last = at[::-1][from_end]
    place = np.minimum(np.searchsorted(rows, row), len(rows) - 1)
    before = (rows[place] == row) & (np.arange(len(row)) <= last[place])
    return ~before, rows, last
