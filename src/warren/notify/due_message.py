"""A message that is due, written only when it is sent: perhaps it becomes one line of a digest."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from warren.model.status import Status
from warren.model.verdicts import Edge, Verdicts
from warren.notify.incidents import Notice
from warren.notify.message import DigestLine, GroupResult, Message, Offset, PartitionResult, Subject

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


# Where the group stands, or how it stood; None: it is gone.
Place = tuple[Verdicts, int] | GroupResult | None


@dataclass(frozen=True)
class Wanted:
    subject: Subject
    notice: Notice
    place: Place
    reason: str = ""

    @property
    def identity(self) -> tuple[Subject, str, str]:
        """The same for one that is decided again because it has not got out yet."""
        return self.subject, self.notice.event, self.notice.id

    def settled(self) -> "Wanted":
        """The same, without holding on to all verdicts of its moment."""
        return replace(self, place=self._result()) if self.place else self

    def message(self) -> Message:
        subject, notice = self.subject, self.notice
        return Message(
            notice.event,
            subject.cluster,
            subject.group,
            notice.id,
            notice.start_ms,
            notice.now_ms,
            self._result(),
            self.reason,
        )

    def line(self) -> DigestLine:
        subject, notice = self.subject, self.notice
        status, total_lag = self._standing()
        return DigestLine(
            subject.cluster,
            subject.group,
            status,
            total_lag,
            notice.id,
            notice.start_ms,
            self.reason,
        )

    def _standing(self) -> tuple[Status, int]:
        match self.place:
            case None:
                return Status.NOTFOUND, 0
            case GroupResult(status=status, total_lag=total_lag):
                return status, total_lag
            case verdicts, line:
                groups = verdicts.groups
                return Status(int(groups.status[line])), int(groups.total_lag[line])

    def _result(self) -> GroupResult:
        cluster, group = self.subject.cluster, self.subject.group
        match self.place:
            case None:
                return missing_result(cluster, group)
            case GroupResult() as result:
                return result
            case verdicts, line:
                return group_result(cluster, verdicts, line)
