"""A message that is due. It is written only when it is sent, alone or as a line of a digest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from warren.model import bounds
from warren.model.arrays import Ints
from warren.model.status import Status
from warren.model.verdicts import Edge, Verdicts
from warren.model.window_commits import make_commits
from warren.notify.incidents import Notice
from warren.notify.message import (
    DigestLine,
    Event,
    GroupResult,
    Message,
    Offset,
    PartitionResult,
    Subject,
)


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
    """A group that does not exist, as Burrow shows it."""
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
    return make_commits(
        Offset,
        edge.offset[lines],
        edge.committed_ms[lines],
        edge.observed_s[lines],
        edge.lag[lines],
    )


def _shortest(value: np.float32) -> float:
    return float(str(value))


# The group in the current verdicts, or its result at an earlier moment; None: it is gone.
Place = tuple[Verdicts, int] | GroupResult | None


@dataclass(frozen=True)
class DueMessage:
    subject: Subject
    notice: Notice
    place: Place
    reason: str = ""

    @property
    def identity(self) -> tuple[Subject, str, str]:
        """Equal for the same message decided again by a later round."""
        return self.subject, self.notice.event, self.notice.id

    def with_result(self) -> "DueMessage":
        """The same message, without a reference to all verdicts of its moment."""
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
        status, total_lag = self._status_and_lag()
        return DigestLine(
            subject.cluster,
            subject.group,
            status,
            total_lag,
            notice.id,
            notice.start_ms,
            self.reason,
        )

    def _status_and_lag(self) -> tuple[Status, int]:
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


RESERVED = 2  # messages of each minute: for a digest of openings and one of closes


def next_batch(
    queue: Iterator[DueMessage], left: int, digests: Callable[[Event], bool]
) -> list[DueMessage]:
    """Take the first message; if the queue is longer than `left` allows, all of the same event.

    Messages that the sender cannot put into a digest are sent one by one, at the allowed rate.
    """
    first = list(islice(queue, 1))
    if not first or left > RESERVED:
        return first
    rest, event = list(queue), first[0].notice.event
    if len(rest) < left or not digests(event):
        return first
    return first + [each for each in rest if each.notice.event == event]


def compose(batch: list[DueMessage]) -> Message:
    """The message about one group, or the digest of several."""
    if len(batch) == 1:
        return batch[0].message()
    lines = tuple(each.line() for each in batch)
    total = GroupResult(
        cluster="",
        group="",
        status=Status(max(line.status for line in lines)),
        complete=1.0,
        partitions=(),
        total_partitions=0,
        maxlag=None,
        total_lag=bounds.total(line.total_lag for line in lines),
    )
    notices = [each.notice for each in batch]
    return Message(
        event=notices[0].event,
        cluster="",
        group="",
        id="",
        start_ms=min(notice.start_ms for notice in notices),
        now_ms=max(notice.now_ms for notice in notices),
        result=total,
        digest=lines,
    )
