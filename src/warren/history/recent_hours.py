"""The last hours of history in memory, so that the most frequent requests are answered at once.

Every moment that this instance writes is added here too. After a start the table is read once, and
an instance that does not write history follows the one that does. Packed into arrays, a partition
takes 5 to 9 bytes a moment, a group 21 to 29. When memory is full the oldest moments are dropped,
and requests for them read the table.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.history.memory_queries import InMemory
from warren.history.table_files import QUERIED
from warren.model.arrays import AnyArray, Bytes, Codes, Ints, Singles
from warren.model.health import RecentHealth
from warren.model.period import Period
from warren.model.tables import GROUP, HISTORY, PARTITION

HOUR_MS = 3_600_000
MARGIN_MS = 600_000  # so that a request for "6h" finds all of it a little later
PARTITIONS_MS, GROUPS_MS = 6 * HOUR_MS + MARGIN_MS, 24 * HOUR_MS + MARGIN_MS
MEMORY_BYTES = 256 * 2**20  # one half for groups, the other for their partitions
MEASURE_S = 60.0
NULL = int(np.iinfo(np.int64).min)
NEVER = int(np.iinfo(np.int64).max)
ROWS = pa.schema([HISTORY.field(name) for name in QUERIED])


@dataclass(frozen=True)
class _Lines:
    """The partitions that exist; shared by moments as long as they do not change."""

    topics: tuple[str, ...]
    first: Ints  # a group's lines are first[i] .. first[i + 1] - 1
    topic: Codes
    partition: Codes  # -1 is null: all partitions of a topic

    def is_like(self, other: "_Lines") -> bool:
        return self.topics == other.topics and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("first", "topic", "partition")
        )


@dataclass(frozen=True)
class _Cluster:
    """One cluster at one moment."""

    names: tuple[str, ...]  # of its groups, sorted
    status: Bytes  # 0: no row
    lag: Ints
    max_lag: Ints  # NULL is null
    offset: Ints
    age_s: Singles  # NaN is null
    lines: _Lines | None  # None: dropped
    line_status: Bytes
    line_lag: Ints  # 32 bits if it fits

    def parts(self, kind: str) -> Sequence[object]:
        """Everything that takes memory."""
        if kind == GROUP:
            return self.names, self.status, self.lag, self.max_lag, self.offset, self.age_s
        if self.lines is None:
            return ()
        lines = (self.lines.topics, self.lines.first, self.lines.topic, self.lines.partition)
        return *lines, self.line_status, self.line_lag

    def without_lines(self) -> "_Cluster":
        nothing = np.zeros(0, np.uint8)
        return replace(self, lines=None, line_status=nothing, line_lag=nothing.astype(np.int64))

    def place(self, group: str) -> int | None:
        at = bisect_left(self.names, group)
        return at if at < len(self.names) and self.names[at] == group else None


class Recent:
    """Shared by the threads that add moments and those that answer requests."""

    def __init__(
        self, memory_bytes: int = MEMORY_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        self._memory_bytes = memory_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._moments: dict[int, dict[str, _Cluster]] = {}
        # From then on every moment is here; NEVER until the table has been read.
        self._since = dict.fromkeys((GROUP, PARTITION), NEVER)
        self._dropped = dict.fromkeys((GROUP, PARTITION), 0)  # something before then was dropped
        self.newest_ms = 0
        self._last: dict[str, _Cluster] = {}
        self._unmeasured = 0  # bytes added since memory was measured last
        self._measured_s = 0.0

    def add(self, rows: pa.Table) -> None:
        """Add whole moments: new ones, or old ones before a call of `reach`."""
        rows = rows.select([*QUERIED]).cast(ROWS)
        rows = rows.filter(pc.is_in(rows["kind"], pa.array([GROUP, PARTITION])))
        packed = {at: dict(_pack(some)) for at, some in _split_by(rows, "moment_ms")}
        with self._lock:
            is_in_order = all(at > self.newest_ms for at in packed)
            for at in sorted(packed):
                shared = self._shared(packed[at])
                self._moments[at] = self._moments.get(at, {}) | shared
                self._unmeasured += sum(map(_size_of, shared.values()))
                self.newest_ms = max(self.newest_ms, at)
            if not is_in_order:
                self._moments = dict(sorted(self._moments.items()))
            self._make_room()

    def reach(self, since_ms: int, *, partitions: bool) -> bool:
        """Note that every moment since then was added; return whether all fitted into memory."""
        kinds = (GROUP, PARTITION) if partitions else (GROUP,)
        with self._lock:
            for kind in kinds:
                self._since[kind] = max(min(since_ms, self._since[kind]), self._dropped[kind])
            return all(self._since[kind] <= since_ms for kind in kinds)

    def has(self, moment_ms: int, cluster: str) -> bool:
        with self._lock:
            return cluster in self._moments.get(moment_ms, {})

    def kept(
        self, cluster: str, group: str, period: Period, *, partitions: bool
    ) -> InMemory | None:
        """The rows of a group; None if not all of them are in memory."""
        with self._lock:
            kinds = (GROUP, PARTITION) if partitions else (GROUP,)
            if any(period.since_ms < self._since[kind] for kind in kinds):
                return None
            moments = {
                at: clusters[cluster]
                for at, clusters in self._moments.items()
                if period.since_ms <= at <= period.until_ms and cluster in clusters
            }
        found = [(at, of, of.place(group)) for at, of in moments.items()]
        known = [(at, of, place) for at, of, place in found if place is not None]
        tables = [_group_rows(cluster, group, known)]
        tables += [_line_rows(cluster, group, known)] if partitions else []
        return InMemory(pa.concat_tables(tables))

    def health(self, problem: str = "", restarts: int = 0) -> RecentHealth:
        """With the trouble of who fills it."""
        with self._lock:
            since = self._since[PARTITION]
            return RecentHealth(
                problem,
                restarts,
                moments=len(self._moments),
                memory_mb=round((self._size(GROUP) + self._size(PARTITION)) / 2**20, 1),
                since_ms=None if since == NEVER else since,
                oldest_ms=next(iter(self._moments), None),
            )

    def _shared(self, clusters: dict[str, _Cluster]) -> dict[str, _Cluster]:
        """Reuse arrays and names that did not change since the moment before."""
        shared = {
            name: _reuse_parts(each, self._last[name]) if name in self._last else each
            for name, each in clusters.items()
        }
        self._last |= shared
        return shared

    def _make_room(self) -> None:
        """Drop what is too old or too much; not for every moment, as that would be too slow."""
        now = self._clock()
        if self._unmeasured < self._memory_bytes // 128 and now - self._measured_s < MEASURE_S:
            return
        self._unmeasured, self._measured_s, now_ms = 0, now, int(now * 1000)
        for at in [*self._moments]:
            if at < now_ms - GROUPS_MS:
                self._drop(at)
            elif at < now_ms - PARTITIONS_MS:
                self._drop_lines(at)
        most = self._memory_bytes // 2
        while self._moments and self._size(GROUP) > most:
            for at in [*self._moments][: max(len(self._moments) // 50, 1)]:
                self._drop(at)
        with_lines = [at for at, of in self._moments.items() if _has_lines(of)]
        while with_lines and self._size(PARTITION) > most:
            several = max(len(with_lines) // 50, 1)  # measuring takes longer than dropping
            for at in with_lines[:several]:
                self._drop_lines(at)
            del with_lines[:several]

    def _drop(self, at: int) -> None:
        del self._moments[at]
        self._end(GROUP, at)
        self._end(PARTITION, at)

    def _drop_lines(self, at: int) -> None:
        if _has_lines(self._moments[at]):
            clusters = self._moments[at].items()
            self._moments[at] = {name: each.without_lines() for name, each in clusters}
            self._end(PARTITION, at)

    def _end(self, kind: str, at: int) -> None:
        self._dropped[kind] = max(self._dropped[kind], at + 1)
        self._since[kind] = max(self._since[kind], at + 1)

    def _size(self, kind: str) -> int:
        every = (
            part
            for clusters in self._moments.values()
            for each in clusters.values()
            for part in each.parts(kind)
        )
        return sum(map(_bytes, {id(part): part for part in every}.values()))


def _has_lines(clusters: Mapping[str, _Cluster]) -> bool:
    return any(each.lines is not None for each in clusters.values())


def _size_of(cluster: _Cluster) -> int:
    return sum(_bytes(part) for kind in (GROUP, PARTITION) for part in cluster.parts(kind))


def _bytes(part: Any) -> int:
    """The size, with Python's overhead for an array or a text."""
    if isinstance(part, np.ndarray):
        return int(part.nbytes) + 112
    return sum(len(name) + 60 for name in part)


def _reuse_parts(new: _Cluster, old: _Cluster) -> _Cluster:
    names = old.names if new.names == old.names else new.names
    lines = new.lines
    if lines is not None and old.lines is not None and lines.is_like(old.lines):
        lines = old.lines
    return replace(new, names=names, lines=lines)


def _split_by(rows: pa.Table, column: str) -> Iterator[tuple[Any, pa.Table]]:
    for value in rows[column].unique().to_pylist():
        yield value, rows.filter(pc.equal(rows[column], value))


def _pack(rows: pa.Table) -> Iterator[tuple[str, _Cluster]]:
    """A moment, cluster by cluster."""
    for cluster, some in _split_by(rows, "cluster"):
        groups, lines = (some.filter(pc.equal(some["kind"], kind)) for kind in (GROUP, PARTITION))
        both = pa.chunked_array([*groups["group"].chunks, *lines["group"].chunks], pa.string())
        names, codes = _encode_names(both)
        yield cluster, _cluster(names, groups, codes[: len(groups)], lines, codes[len(groups) :])


def _cluster(
    names: tuple[str, ...], groups: pa.Table, of_group: Codes, lines: pa.Table, of_line: Codes
) -> _Cluster:
    topics, topic = _encode_names(lines["topic"])
    partition = lines["partition"].fill_null(-1).to_numpy().astype(np.int32)
    order = np.lexsort((partition, topic, of_line))
    first = np.searchsorted(of_line[order], np.arange(len(names) + 1)).astype(np.int64)
    return _Cluster(
        names,
        status=_place_values(groups["status"], of_group, len(names), 0).astype(np.uint8),
        lag=_shrink(_place_values(groups["lag"], of_group, len(names), 0)),
        max_lag=_shrink(_place_values(groups["max_lag"], of_group, len(names), NULL)),
        offset=_place_values(groups["offset"], of_group, len(names), NULL),
        age_s=_place_ages(groups["age_s"], of_group, len(names)),
        lines=_Lines(topics, first, topic[order], partition[order]),
        line_status=lines["status"].to_numpy()[order].astype(np.uint8),
        line_lag=_shrink(lines["lag"].to_numpy()[order]),
    )


def _shrink(values: Ints) -> Ints:
    """Half the size, if all values fit into 32 bits."""
    short: Any = values.astype(np.int32)
    return short if np.array_equal(short, values) else values


def _place_values(column: pa.ChunkedArray, at: Codes, length: int, otherwise: int) -> Ints:
    values = np.full(length, otherwise, np.int64)
    values[at] = column.cast(pa.int64()).fill_null(otherwise).to_numpy()
    return values


def _place_ages(column: pa.ChunkedArray, at: Codes, length: int) -> Singles:
    ages = np.full(length, np.nan, np.float32)
    ages[at] = column.fill_null(np.nan).to_numpy()
    return ages


def _encode_names(column: pa.ChunkedArray) -> tuple[tuple[str, ...], Codes]:
    """The distinct names, sorted, and the place of each row's name among them."""
    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    names: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    return tuple(names[at] for at in order), rank[encoded.indices.to_numpy(zero_copy_only=False)]


def _group_rows(cluster: str, group: str, known: Sequence[tuple[int, _Cluster, int]]) -> pa.Table:
    seen = [(at, of, place) for at, of, place in known if of.status[place]]
    columns = {"moment_ms": pa.array([at for at, _, _ in seen], pa.int64())}
    for name in ("status", "lag", "max_lag", "offset"):
        values = np.array([getattr(of, name)[place] for _, of, place in seen], np.int64)
        columns[name] = pa.array(values, mask=values == NULL)
    ages = np.array([of.age_s[place] for _, of, place in seen], np.float32)
    columns["age_s"] = pa.array(ages, mask=np.isnan(ages))
    return _with_common_columns(columns, len(seen), cluster, group, GROUP)


def _line_rows(cluster: str, group: str, known: Sequence[tuple[int, _Cluster, int]]) -> pa.Table:
    moments, status, lag, partition, topics = [], [], [], [], [pa.array([], pa.string())]
    for at, of, place in known:
        if of.lines is None:
            continue
        some = slice(int(of.lines.first[place]), int(of.lines.first[place + 1]))
        status.append(of.line_status[some])
        lag.append(of.line_lag[some].astype(np.int64))
        partition.append(of.lines.partition[some])
        moments.append(np.full(some.stop - some.start, at))
        names = pa.array(of.lines.topics, pa.string())
        topics.append(names.take(pa.array(of.lines.topic[some])))
    numbers = _join(partition)
    columns = {
        "moment_ms": pa.array(_join(moments)),
        "topic": pa.chunked_array(topics),
        "partition": pa.array(numbers, mask=numbers == -1),
        "status": pa.array(_join(status)),
        "lag": pa.array(_join(lag)),
    }
    return _with_common_columns(columns, len(numbers), cluster, group, PARTITION)


def _join(parts: Sequence[AnyArray]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _with_common_columns(
    columns: Mapping[str, Any], length: int, cluster: str, group: str, kind: str
) -> pa.Table:
    same = {"cluster": cluster, "group": group, "kind": kind}
    known = {name: pa.repeat(value, length) for name, value in same.items()} | dict(columns)
    return pa.table(
        {
            field.name: known[field.name].cast(field.type)
            if field.name in known
            else pa.nulls(length, field.type)
            for field in ROWS
        },
        schema=ROWS,
    )
