"""The table's files in parts that a task reads by itself.

Spark would turn every column of every row into its own form and back again, which takes several
times as long as reading the files. Each part is some row groups of some files.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from warren.backtest.verdict_runs import COLUMNS
from warren.history.table_files import File
from warren.model.arrays import Mask
from warren.model.period import Period
from warren.model.tables import HISTORY, PARTITION, one_chunk

ROWS = 2_000_000  # of a part, about
AT_ONCE = 250_000  # rows decoded at once
NAMES = ["kind", "group", "topic"]  # read as dictionaries


class FilePart(NamedTuple):
    cluster: str
    files: tuple[tuple[str, tuple[int, ...]], ...]  # each with some of its row groups


def parts(files: Sequence[File], period: Period) -> Iterator[FilePart]:
    """All row groups that may have rows of the period, by cluster, in order of time."""
    for cluster in sorted({each.cluster for each in files}):
        own = sorted((each for each in files if each.cluster == cluster), key=_begin)
        chosen = list[tuple[str, tuple[int, ...]]]()
        rows = 0
        for file in own:
            for group, length in _row_groups(str(file.path), period):
                chosen.append((str(file.path), (group,)))
                rows += length
                if rows >= ROWS:
                    yield FilePart(cluster, tuple(chosen))
                    chosen, rows = [], 0
        if chosen:
            yield FilePart(cluster, tuple(chosen))


def _begin(file: File) -> tuple[str, int, str]:
    return file.day, file.moments[0] or 0, str(file.path)


def _row_groups(path: str, period: Period) -> Iterator[tuple[int, int]]:
    """Each with its number of rows."""
    known = pq.read_metadata(path)
    at = known.schema.names.index("moment_ms")
    for number in range(known.num_row_groups):
        group = known.row_group(number)
        if _may_hold(group.column(at).statistics, period):
            yield number, group.num_rows


def _may_hold(stats: Any, period: Period) -> bool:
    if stats is None or not stats.has_min_max:
        return True
    return bool(stats.min <= period.until_ms and stats.max >= period.since_ms)


def read_part(part: FilePart, period: Period, group: str) -> pa.Table:
    """The rows of partitions, of one group if it is named."""
    found = [pa.schema([_field(name) for name in COLUMNS]).empty_table()]
    for path, groups in part.files:
        with pq.ParquetFile(path, read_dictionary=NAMES) as file:
            there = [name for name in ("kind", *COLUMNS) if name in file.schema_arrow.names]
            # Each task has a core of its own.
            batches = file.iter_batches(AT_ONCE, [*groups], columns=there, use_threads=False)
            for batch in batches:
                found += map(_complete, _chosen(pa.table(batch), period, group))
    return pa.concat_tables(found).unify_dictionaries()


def _chosen(rows: pa.Table, period: Period, group: str) -> Iterator[pa.Table]:
    """Without a copy: rows of one kind lie together."""
    is_chosen = _are(rows["kind"], PARTITION)
    moment_ms = rows["moment_ms"].to_numpy()
    is_chosen &= (moment_ms >= period.since_ms) & (moment_ms <= period.until_ms)
    if group:
        is_chosen &= _are(rows["group"], group)
    changes = np.flatnonzero(np.diff(is_chosen.astype(np.int8), prepend=0, append=0))
    for begin, end in zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True):
        yield rows.slice(begin, end - begin)


def _are(column: pa.ChunkedArray, name: str) -> Mask:
    """Which rows have this name; the column is a dictionary."""
    names = one_chunk(column)
    place = names.dictionary.index(name).as_py()
    mask: Mask = (names.indices.fill_null(-1).to_numpy() == place) & (place >= 0)
    return mask


def _complete(rows: pa.Table) -> pa.Table:
    """Files of an older version lack columns."""
    arrays: list[Any] = []
    for name in COLUMNS:
        field = _field(name)
        there = name in rows.column_names
        arrays.append(rows[name].cast(field.type) if there else pa.nulls(len(rows), field.type))
    return pa.table(arrays, schema=pa.schema([_field(name) for name in COLUMNS]))


def _field(name: str) -> pa.Field:
    kind = pa.dictionary(pa.int32(), pa.string()) if name in NAMES else HISTORY.field(name).type
    return pa.field(name, kind)
