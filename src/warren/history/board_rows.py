"""One moment of a board as rows of HISTORY: groups, log ends, partitions, in this order.

Within each kind they are sorted by name and number, so that what is read together lies together.
Names are dictionaries until the rows are written.
"""

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from warren.config.sections import HistorySettings
from warren.history.number_columns import (
    folded_values,
    group_values,
    number_columns,
    partition_values,
)
from warren.history.word_columns import word_columns
from warren.model import bounds
from warren.model.arrays import Bytes, Codes, Ints, Mask
from warren.model.board import NO_END, Board, ClusterBoard, TopicEnds
from warren.model.granularity import Granularity, Level
from warren.model.kafka_names import readable
from warren.model.numbers import GroupNumbers
from warren.model.tables import GROUP, HISTORY, LOG_END, PARTITION
from warren.model.verdicts import PartitionVerdicts, Verdicts


def row_granularity(settings: HistorySettings) -> Granularity:
    """The coarsest pattern beats the others."""
    patterns = (
        (settings.by_group, Level.GROUP),
        (settings.by_topic, Level.TOPIC),
        (settings.by_partition, Level.PARTITION),
    )
    return Granularity(patterns, usual=Level[settings.history_granularity.upper()])


NEVER = np.iinfo(np.int64).min  # no commit yet
NAMES = ("cluster", "kind", "group", "topic", "owner", "client")
ROWS = pa.schema(
    [
        (field.name, pa.dictionary(pa.int32(), pa.string()) if field.name in NAMES else field.type)
        for field in HISTORY
    ]
)


def rows(board: Board, clusters: Collection[str], granularity: Granularity) -> pa.Table:
    """The rows of these clusters."""
    parts = [
        part
        for name in sorted(clusters)
        for part in _cluster_rows(board.moment_ms, name, board.clusters[name], granularity)
    ]
    return pa.concat_tables([ROWS.empty_table(), *parts]).unify_dictionaries()


def without(moment: pa.Table, groups: Mapping[str, AbstractSet[str]]) -> pa.Table:
    """The moment without these groups, by cluster."""
    for cluster, names in groups.items():
        if names:
            is_here = pc.equal(moment["cluster"].cast(pa.string()), cluster)
            is_one = pc.is_in(moment["group"].cast(pa.string()), _texts(names))
            moment = moment.filter(pc.invert(pc.and_(is_here, is_one)))
    return moment


def _cluster_rows(
    moment_ms: int, name: str, cluster: ClusterBoard, granularity: Granularity
) -> list[pa.Table]:
    verdicts, numbers = cluster.verdicts, cluster.numbers
    levels = granularity.levels(verdicts.names)
    kinds = {
        GROUP: _group_rows(verdicts, numbers.groups),
        LOG_END: _end_rows(cluster.ends, _end_levels(cluster, levels, granularity.usual)),
        PARTITION: _partition_rows(moment_ms, cluster, levels),
    }
    return [_with_common_columns(columns, moment_ms, name, kind) for kind, columns in kinds.items()]


def _with_common_columns(
    columns: dict[str, pa.Array], moment_ms: int, cluster: str, kind: str
) -> pa.Table:
    """Add the columns that are the same in all rows, and nulls for those this kind lacks."""
    length = len(next(iter(columns.values())))
    day = bounds.moment(moment_ms).date()
    same = {
        "day": pa.repeat(pa.scalar(day, pa.date32()), length),
        "cluster": _repeated(cluster, length),
        "moment_ms": pa.repeat(pa.scalar(moment_ms, pa.int64()), length),
        "kind": _repeated(kind, length),
    }
    known = same | columns
    arrays = [
        known[field.name].cast(field.type) if field.name in known else pa.nulls(length, field.type)
        for field in ROWS
    ]
    return pa.Table.from_arrays(arrays, schema=ROWS)


def _repeated(name: str, length: int) -> pa.DictionaryArray:
    return _named(np.zeros(length, np.int32), (name,))


def _texts(names: Collection[str]) -> pa.Array:
    """Names as text: Kafka's need not be UTF-8."""
    return pa.array([readable(name) for name in names], pa.string())


def _named(places: Codes, names: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places), _texts(names))


def _group_rows(verdicts: Verdicts, numbers: GroupNumbers) -> dict[str, pa.Array]:
    groups, partitions = verdicts.groups, verdicts.partitions
    worst, begin = groups.max_lag_line, groups.first[:-1]
    committed = np.where(partitions.filled > 0, partitions.end.offset, 0)
    newest_ms = _newest(partitions, begin)
    return {
        "group": _named(np.arange(len(verdicts.names), dtype=np.int32), verdicts.names),
        "status": pa.array(groups.status.astype(np.int8)),
        "complete": pa.array(groups.complete),
        "lag": pa.array(groups.total_lag),
        "offset": pa.array(bounds.sums(committed, begin)),
        "committed_ms": pa.array(newest_ms, mask=newest_ms == NEVER),
        "max_lag": pa.array(partitions.current_lag[worst]),
        "partitions": pa.array(groups.partition_count.astype(np.int32)),
        **number_columns(group_values(numbers)),
    }


def _partition_rows(moment_ms: int, cluster: ClusterBoard, levels: Bytes) -> dict[str, pa.Array]:
    """One row for each partition, or for each topic of groups that are kept by topic."""
    verdicts, numbers = cluster.verdicts, cluster.numbers.partitions
    partitions, first = verdicts.partitions, verdicts.groups.first
    group = np.repeat(np.arange(len(levels), dtype=np.int32), np.diff(first))
    level = np.repeat(levels, np.diff(first))
    folded = _Folded(verdicts, _begins(partitions.topic, first[:-1]), level == Level.TOPIC)
    kept = np.flatnonzero((level == Level.PARTITION) | folded.is_first)
    is_folded = folded.is_first[kept]
    never = partitions.filled[kept] == 0
    newest_ms = np.where(never, NEVER, partitions.end.committed_ms[kept])
    newest_ms = folded.replace(kept, newest_ms, folded.newest_ms)
    max_lag = folded.replace(kept, partitions.current_lag[kept], folded.max_lag)
    of_folded = folded_values(numbers, folded.lines, folded.at)
    values = {
        name: folded.replace(kept, array, of_folded[name])
        for name, array in partition_values(numbers, kept).items()
    }
    return {
        "group": _named(group[kept], verdicts.names),
        "topic": _named(partitions.topic[kept], verdicts.topics),
        "partition": pa.array(partitions.partition[kept], mask=is_folded),
        "status": pa.array(
            folded.replace(kept, partitions.status[kept], folded.status).astype(np.int8)
        ),
        "complete": pa.array(folded.replace(kept, partitions.complete[kept], folded.complete)),
        "lag": pa.array(folded.replace(kept, partitions.current_lag[kept], folded.lag)),
        "offset": pa.array(
            folded.replace(kept, partitions.end.offset[kept], folded.offset),
            mask=never & ~is_folded,
        ),
        "committed_ms": pa.array(newest_ms, mask=newest_ms == NEVER),
        "max_lag": pa.array(max_lag, mask=~is_folded),
        "partitions": pa.array(
            folded.replace(kept, np.ones(len(kept), np.int32), folded.count), mask=~is_folded
        ),
        "owner": _named_unless(is_folded, partitions.owner[kept], verdicts.owners),
        "client": _named_unless(is_folded, partitions.client[kept], verdicts.owners),
        **number_columns(values, _exact(cluster, kept)),
        **word_columns(moment_ms, cluster, kept, is_folded),
    }


def _exact(cluster: ClusterBoard, kept: Ints) -> Mask:
    """The lines that are judged by their age: a back-test needs it to the last digit."""
    settings = cluster.judgement.settings if cluster.judgement else None
    if settings is None:
        return np.zeros(len(kept), np.bool_)
    return ~np.isnan(settings.max_time_lag_s[kept])


def _named_unless(absent: Mask, places: Codes, names: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=absent), _texts(names))


def _newest(partitions: PartitionVerdicts, at: Ints) -> Ints:
    """The last commit time in each part of the lines; parts start at `at`. NEVER if none."""
    committed_ms = np.where(partitions.filled > 0, partitions.end.committed_ms, NEVER)
    return np.maximum.reduceat(committed_ms, at)


def _begins(topic: Codes, first: Ints) -> Mask:
    """Whether a line is the first one of its group and topic."""
    begins = np.ones(len(topic), np.bool_)
    begins[1:] = topic[1:] != topic[:-1]
    begins[first] = True
    return begins


class _Folded:
    """The partitions of the chosen groups, combined by topic."""

    def __init__(self, verdicts: Verdicts, begins: Mask, chosen: Mask) -> None:
        partitions = verdicts.partitions
        self.lines = lines = np.flatnonzero(chosen)
        self.is_first = begins & chosen
        self.at = at = np.flatnonzero(begins[lines])
        self.count = np.diff(at, append=len(lines)).astype(np.int32)
        lag, is_known = partitions.current_lag[lines], partitions.filled[lines] > 0
        self.lag, self.max_lag = bounds.sums(lag, at), np.maximum.reduceat(lag, at)
        self.offset = bounds.sums(np.where(is_known, partitions.end.offset[lines], 0), at)
        committed_ms = np.where(is_known, partitions.end.committed_ms[lines], NEVER)
        self.newest_ms = np.maximum.reduceat(committed_ms, at)
        self.status = np.maximum.reduceat(partitions.status[lines], at)
        full = (partitions.complete[lines] == 1).astype(np.int64)
        self.complete = (bounds.sums(full, at) / self.count).astype(np.float32)

    def replace(self, kept: Ints, values: npt.NDArray[np.generic], by: npt.ArrayLike) -> Ints:
        """The values of kept lines, with those of folded lines replaced."""
        values = values.copy()
        values[self.is_first[kept]] = by
        return values  # type: ignore[return-value]  # of the type that was passed in


def _end_levels(cluster: ClusterBoard, levels: Bytes, usual: Level) -> Bytes:
    """A topic's log ends are kept as finely as the finest group that reads it."""
    verdicts = cluster.verdicts
    place = {topic: number for number, topic in enumerate(cluster.ends.topics)}
    number = np.array([place.get(topic, -1) for topic in verdicts.topics], np.int64)
    finest = np.full(len(place) + 1, np.uint8(255))  # the last is for topics without log ends
    line_level = np.repeat(levels, np.diff(verdicts.groups.first))
    np.minimum.at(finest, number[verdicts.partitions.topic], line_level)
    finest = finest[:-1]
    return np.where(finest == 255, np.uint8(usual), finest)


def _end_rows(ends: TopicEnds, levels: Bytes) -> dict[str, pa.Array]:
    """The known log ends; a folded row has the sum over its topic."""
    count = np.diff(ends.first)
    topic = np.repeat(np.arange(len(ends.topics), dtype=np.int32), count)
    partition = (np.arange(len(ends.end)) - np.repeat(ends.first[:-1], count)).astype(np.int32)
    known = ends.end != NO_END
    coarse = np.repeat(levels > Level.PARTITION, count)
    total, members = np.zeros(len(ends.topics), np.int64), np.zeros(len(ends.topics), np.int32)
    np.add.at(total, topic, np.where(known, ends.end, 0))
    np.add.at(members, topic, known)
    lines = np.flatnonzero(known)
    is_first = np.zeros(len(topic), np.bool_)
    is_first[lines[np.unique(topic[lines], return_index=True)[1]]] = True
    kept = np.flatnonzero(known & (~coarse | is_first))
    folded = coarse[kept]
    return {
        "topic": _named(topic[kept], ends.topics),
        "partition": pa.array(partition[kept], mask=folded),
        "offset": pa.array(np.where(folded, total[topic[kept]], ends.end[kept])),
        "partitions": pa.array(members[topic[kept]], mask=~folded),
        "log_start": pa.array(ends.start[kept], mask=folded | (ends.start[kept] == NO_END)),
    }
