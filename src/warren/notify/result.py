"""A group of a board as messages show it: what `/status` answers."""

import numpy as np
import numpy.typing as npt

from warren.evaluate.verdicts import Edge, Verdicts
from warren.model import Status
from warren.notify.message import GroupResult, Offset, PartitionResult

Ints = npt.NDArray[np.int64]


def group_result(cluster: str, verdicts: Verdicts, line: int) -> GroupResult:
    """The group with its bad partitions."""
    groups, status = verdicts.groups, verdicts.partitions.status
    begin, end = int(groups.first[line]), int(groups.first[line + 1])
    bad = begin + np.flatnonzero(status[begin:end] > Status.OK)
    *partitions, maxlag = _partitions(verdicts, np.append(bad, groups.max_lag_line[line]))
    return GroupResult(
        cluster,
        verdicts.names[line],
        Status(int(groups.status[line])),
        _shortest(groups.complete[line]),
        tuple(partitions),
        int(groups.partition_count[line]),
        maxlag,
        int(groups.total_lag[line]),
    )


def missing_result(cluster: str, group: str) -> GroupResult:
    """A group that is not there, as Burrow shows it."""
    return GroupResult(cluster, group, Status.NOTFOUND, 1.0, (), 0, None, 0)


def _partitions(verdicts: Verdicts, lines: Ints) -> list[PartitionResult]:
    table = verdicts.partitions
    start, end = _offsets(table.start, lines), _offsets(table.end, lines)
    return [
        PartitionResult(
            verdicts.topics[table.topic[line]],
            int(table.partition[line]),
            verdicts.owners[table.owner[line]],
            verdicts.owners[table.client[line]],
            Status(int(table.status[line])),
            start[at] if table.filled[line] else None,
            end[at] if table.filled[line] else None,
            int(table.current_lag[line]),
            _shortest(table.complete[line]),
        )
        for at, line in enumerate(lines.tolist())
    ]


def _offsets(edge: Edge, lines: Ints) -> list[Offset]:
    columns = (edge.offset, edge.committed_ms, edge.observed_s, edge.lag)
    values = (column[lines].tolist() for column in columns)
    return [
        Offset(offset, committed_ms, observed_s * 1000, None if lag < 0 else lag)
        for offset, committed_ms, observed_s, lag in zip(*values, strict=True)
    ]


def _shortest(value: np.float32) -> float:
    return float(str(value))
