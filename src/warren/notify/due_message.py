"""A message that is due. It is written only when it is sent, alone or as a line of a digest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from warren.evaluate import reasons
from warren.model import bounds
from warren.model.arrays import Ints
from warren.model.group_life import GroupLife
from warren.model.judgement import Judgement, Word
from warren.model.numbers import UNKNOWN, GroupNumbers, Method, Numbers, PartitionNumbers
from warren.model.status import Status
from warren.model.verdicts import Edge, Verdicts
from warren.model.window_commits import make_commits
from warren.notify.incidents import Notice
from warren.notify.message import (
    NO_OPINION,
    NOBODY_KNOWN,
    NOT_KNOWN,
    DigestLine,
    Event,
    GroupResult,
    Measures,
    Members,
    Message,
    Offset,
    Opinion,
    PartitionResult,
    Subject,
)


class Beside(NamedTuple):
    """What the board says beside its verdicts."""

    numbers: Numbers | None = None
    judgement: Judgement | None = None
    life: GroupLife | None = None

    @property
    def deciding(self) -> Judgement | None:
        return self.judgement if self.judgement and self.judgement.decides else None


NOTHING_BESIDE = Beside()


def group_result(
    cluster: str,
    verdicts: Verdicts,
    line: int,
    beside: Beside = NOTHING_BESIDE,
) -> GroupResult:
    """The group with its bad partitions; a judgement that does not decide counts as none."""
    groups, numbers, judgement = verdicts.groups, beside.numbers, beside.deciding
    lines = np.append(_bad(verdicts, line, judgement), groups.max_lag_line[line])
    *partitions, maxlag = _partitions(verdicts, beside, lines)
    return GroupResult(
        cluster,
        verdicts.names[line],
        _status(verdicts, line, judgement),
        _shortest(groups.complete[line]),
        tuple(partitions),
        int(groups.partition_count[line]),
        maxlag,
        int(groups.total_lag[line]),
        measures(numbers.groups, line) if numbers else NOT_KNOWN,
        _word(verdicts, line, judgement),
        _members(beside.life, line),
    )


def _members(life: GroupLife | None, line: int) -> Members:
    if life is None:
        return NOBODY_KNOWN
    return Members(
        int(life.member_count[line]),
        int(life.empty_since_s[line] * 1000),
        _shortest(life.generations_per_minute[line]),
        _shortest(life.churn_per_minute[line]),
    )


def _bad(verdicts: Verdicts, line: int, judgement: Judgement | None) -> Ints:
    """The lines that are bad, or that a policy wants told all the same."""
    begin, end = (int(each) for each in verdicts.groups.first[line : line + 2])
    bad = verdicts.partitions.status[begin:end] > Status.OK
    if judgement is not None and judgement.alarm is not None:
        bad = bad | (judgement.alarm[begin:end] > Status.OK)
    if judgement is not None and not bad.any():
        bad = judgement.word[begin:end] != Word.OK
    lines: Ints = begin + np.flatnonzero(bad)
    return lines


def _status(verdicts: Verdicts, line: int, judgement: Judgement | None) -> Status:
    """A word that Burrow's clients know as OK is bad when a policy says so."""
    status = int(verdicts.groups.status[line])
    return Status(status if judgement is None else max(status, int(judgement.pages[line])))


def _word(verdicts: Verdicts, line: int, judgement: Judgement | None) -> str:
    """The worst word that opens an incident; if none does, the worst."""
    if judgement is None:
        return ""
    begin, end = (int(each) for each in verdicts.groups.first[line : line + 2])
    told = judgement.word[begin:end]
    if judgement.alarm is not None and (judgement.alarm[begin:end] > Status.OK).any():
        told = told[judgement.alarm[begin:end] > Status.OK]
    return Word(told.max()).name


def _opinion(judgement: Judgement, line: int) -> Opinion:
    differs = bool(judgement.differs[line])
    return Opinion(
        Word(judgement.word[line]).name,
        reasons.why(judgement, line),
        reasons.change(judgement, line),
        int(judgement.since_s[line]) * 1000,
        Status(judgement.burrow[line]).name if differs else "",
        judgement.alarm is not None and bool(judgement.alarm[line] > Status.OK),
        judgement.figures.of(line),
    )


def measures(numbers: GroupNumbers | PartitionNumbers, line: int) -> Measures:
    """Of one group or partition."""
    of_group = numbers if isinstance(numbers, GroupNumbers) else None
    return Measures(
        lag=_count(numbers.lag[line]),
        lag_low=_count(numbers.lag_low[line]),
        lag_high=_count(numbers.lag_high[line]),
        age_s=_seconds(numbers.age_s[line]),
        age_low_s=_seconds(numbers.age_low_s[line]),
        age_high_s=_seconds(numbers.age_high_s[line]),
        age_method=_method(numbers.age_method[line]),
        drain_low_s=_seconds(numbers.drain_low_s[line]),
        drain_high_s=_seconds(numbers.drain_high_s[line]),
        margin_s=_seconds(numbers.margin_s[line]),
        lost=_count(numbers.lost[line]),
        scalable_lag=_count(of_group.scalable_lag[line]) if of_group else None,
        offsets_expire_s=_seconds(of_group.expires_s[line]) if of_group else None,
    )


def _count(value: np.int64) -> int | None:
    return None if value == UNKNOWN else int(value)


def _seconds(value: np.float32) -> float | None:
    return None if np.isnan(value) else _shortest(value)


def _method(value: np.uint8) -> str | None:
    method = Method(int(value))
    return None if method is Method.UNKNOWN else method.name.lower()


def missing_result(cluster: str, group: str) -> GroupResult:
    """A group that does not exist, as Burrow shows it."""
    return GroupResult(cluster, group, Status.NOTFOUND, 1.0, (), 0, None, 0)


def _partitions(verdicts: Verdicts, beside: Beside, lines: Ints) -> list[PartitionResult]:
    table, numbers, judgement = verdicts.partitions, beside.numbers, beside.deciding
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
            measures(numbers.partitions, line) if numbers else NOT_KNOWN,
            _opinion(judgement, line) if judgement else NO_OPINION,
            *_last_readers(verdicts, beside.life, line),
        )
        for at, line in enumerate(lines.tolist())
    ]


def _last_readers(verdicts: Verdicts, life: GroupLife | None, line: int) -> tuple[str, str]:
    """Owner and client."""
    if life is None:
        return "", ""
    return verdicts.owners[life.last_owner[line]], verdicts.owners[life.last_client[line]]


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
    owner: str = ""  # that a policy names
    beside: Beside = NOTHING_BESIDE  # the verdicts of `place`

    @property
    def identity(self) -> tuple[Subject, str, str]:
        """Equal for the same message decided again by a later round."""
        return self.subject, self.notice.event, self.notice.id

    def with_result(self) -> "DueMessage":
        """The same message, without a reference to all verdicts of its moment."""
        return replace(self, place=self._result(), beside=NOTHING_BESIDE) if self.place else self

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
            owner=self.owner,
        )

    def line(self) -> DigestLine:
        subject, notice = self.subject, self.notice
        status, total_lag, numbers, word = self._summary()
        return DigestLine(
            subject.cluster,
            subject.group,
            status,
            total_lag,
            notice.id,
            notice.start_ms,
            self.reason,
            numbers,
            word,
            self.owner,
        )

    def _summary(self) -> tuple[Status, int, Measures, str]:
        match self.place:
            case None:
                return Status.NOTFOUND, 0, NOT_KNOWN, ""
            case GroupResult() as result:
                return result.status, result.total_lag, result.numbers, result.word
            case verdicts, line:
                said, numbers = self.beside.deciding, NOT_KNOWN
                if self.beside.numbers is not None:
                    numbers = measures(self.beside.numbers.groups, line)
                status, lag = _status(verdicts, line, said), int(verdicts.groups.total_lag[line])
                return status, lag, numbers, _word(verdicts, line, said)

    def _result(self) -> GroupResult:
        cluster, group = self.subject.cluster, self.subject.group
        match self.place:
            case None:
                return missing_result(cluster, group)
            case GroupResult() as result:
                return result
            case verdicts, line:
                return group_result(cluster, verdicts, line, self.beside)


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
