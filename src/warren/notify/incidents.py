"""When people are told of a group: pure, with time passed in.

A record holds what is true (the incident, if the group is bad) and what each module was told. Every
round `advance` brings the first up to date and `notices` compares the two: what a module should
have been told and was not, is due. Only `confirm`, after the receiver took a message, changes what
was told; so a message that did not get out is due again, a close is due only where the opening got
out, and going on from saved records is no different from never having stopped.

A close that its receiver refuses does not keep it from hearing of the next incident. Where a close
ends its own incident and no other, it stays due after that; elsewhere it is given up, as it would
end the later one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from warren.config import GroupFilter
from warren.config.notifiers import Notifier
from warren.model.status import Status
from warren.notify.message import Event

SLACK = 10  # a repeat may be a tenth of a round early: a late round must not cost a whole one
GIVE_UP_MS = 24 * 3600 * 1000  # for a close that its receiver does not take
MOST_LATE = 10  # closes of a group that a module may owe; a group may go back and forth all day


class Policy(NamedTuple):
    """A notifier's keys, as far as they decide when it is told."""

    module: str
    groups: GroupFilter = GroupFilter()
    threshold: int = Status.WARN
    repeat_ms: int = 0
    send_close: bool = False
    send_once: bool = False

    @classmethod
    def of(cls, notifier: Notifier, round_ms: int) -> "Policy":
        return cls(
            notifier.name,
            notifier.groups,
            notifier.threshold,
            max(notifier.repeat_s * 1000 - round_ms // SLACK, 0),
            notifier.send_close,
            notifier.send_once,
        )


class Notified(msgspec.Struct, frozen=True, array_like=True):
    """The last message a module's receiver took."""

    id: str  # of the incident; empty: about a good group
    start_ms: int
    at_ms: int
    status: int  # the worst it was told in that incident
    ended_ms: int = 0  # when that incident was over


class Record(msgspec.Struct, frozen=True, array_like=True):
    id: str = ""  # of the incident; empty: the group is good
    start_ms: int = 0
    told: Mapping[str, Notified] = {}
    late: Mapping[str, tuple[Notified, ...]] = {}  # whose close a later opening went past


class Notice(NamedTuple):
    """A message that is due."""

    module: str
    event: Event
    id: str
    start_ms: int
    now_ms: int  # at a close: when it was over
    status: int


NOTHING = Record()


def advance(record: Record, status: int, now_ms: int, new_id: Callable[[], str]) -> Record:
    """Open the incident of a group that became bad, end that of one that is good, or gone."""
    is_bad = status > Status.OK
    if is_bad and not record.id:
        record = msgspec.structs.replace(record, id=new_id(), start_ms=now_ms)
    elif record.id and not is_bad:
        record = msgspec.structs.replace(record, id="", start_ms=0)
    if any(each.id != record.id and not each.ended_ms for each in record.told.values()):
        told = {module: _ended(each, record.id, now_ms) for module, each in record.told.items()}
        record = msgspec.structs.replace(record, told=told)
    return record


def notices(record: Record, status: int, policy: Policy, group: str, now_ms: int) -> list[Notice]:
    """What a module should be told now: nothing, mostly; old closes come before an open."""
    told = record.told.get(policy.module)
    due = [
        Notice(policy.module, "close", each.id, each.start_ms, each.ended_ms, Status.OK)
        for each in _told_of(record, policy.module)
        if _owes_close(each, policy, now_ms)
    ]
    is_wanted = status >= max(policy.threshold, Status.OK) and policy.groups.accepts(group)
    if is_wanted and _is_due(record, told, status, policy, now_ms):
        due.append(Notice(policy.module, "open", record.id, record.start_ms, now_ms, status))
    return due


def confirm(record: Record, notice: Notice, *, closes_by_id: bool = False) -> Record:
    """Note that a module's receiver took a message.

    `closes_by_id`: an earlier incident of the group may be closed after this opening.
    """
    told, late = dict(record.told), dict(record.late)
    before = told.get(notice.module)
    is_same = before is not None and before.id == notice.id
    owed = record.late.get(notice.module, ())
    if notice.event == "open":
        worst = max(notice.status, before.status) if before and is_same else notice.status
        told[notice.module] = Notified(notice.id, notice.start_ms, notice.now_ms, worst)
        if before and not is_same and before.id and before.ended_ms and closes_by_id:
            late[notice.module] = (*owed, before)[-MOST_LATE:]
    elif is_same:
        del told[notice.module]
    elif owed:
        late[notice.module] = tuple(each for each in owed if each.id != notice.id)
    return msgspec.structs.replace(record, told=told, late=late)


def is_owed(record: Record, notice: Notice) -> bool:
    """Whether to `confirm` a message that was taken while another instance may have led.

    Of a record that has gone on since, nothing is known from what this instance remembers.
    """
    if notice.event == "close":
        return any(each.id == notice.id for each in _told_of(record, notice.module))
    told = record.told.get(notice.module)
    is_told = told is not None and told.id == notice.id
    is_newer = told is None or told.at_ms < notice.now_ms
    return record.id == notice.id and (not is_told or is_newer)


def given_up(
    before: Record, after: Record | None, policies: Mapping[str, Policy]
) -> list[tuple[str, str]]:
    """Modules, and the incidents, whose close was due and is not any more."""
    still = {*_owed(after, policies)} if after else set()
    return [each for each in _owed(before, policies) if each not in still]


def trimmed(
    record: Record, status: int, policies: Mapping[str, Policy], now_ms: int
) -> Record | None:
    """The record without what no longer matters; None when nothing does."""
    told = {
        module: each
        for module, each in record.told.items()
        if module in policies and _matters(each, status, policies[module], now_ms)
    }
    late = {
        module: _late(each, policies.get(module), now_ms) for module, each in record.late.items()
    }
    late = {module: each for module, each in late.items() if each}
    if not record.id and not told and not late:
        return None
    if len(told) == len(record.told) and late == record.late:
        return record
    return msgspec.structs.replace(record, told=told, late=late)


def _told_of(record: Record, module: str) -> tuple[Notified, ...]:
    """The incidents that a module knows of, the last one last."""
    told = record.told.get(module)
    return (*record.late.get(module, ()), *([told] if told else []))


def _owed(record: Record, policies: Mapping[str, Policy]) -> Iterator[tuple[str, str]]:
    """Closes that are due, however long ago the incidents were over."""
    for module, policy in policies.items():
        for told in _told_of(record, module) if policy.send_close else ():
            if told.id and told.ended_ms:
                yield module, told.id


def _late(late: tuple[Notified, ...], policy: Policy | None, now_ms: int) -> tuple[Notified, ...]:
    return tuple(each for each in late if policy and _owes_close(each, policy, now_ms))


def _is_due(
    record: Record, told: Notified | None, status: int, policy: Policy, now_ms: int
) -> bool:
    if told is None or (policy.send_close and told.ended_ms):
        return True
    if policy.send_once and told.id == record.id:
        return False
    return status > told.status or not _is_recent(told, policy, now_ms)


def _owes_close(told: Notified, policy: Policy, now_ms: int) -> bool:
    is_over = bool(told.id and told.ended_ms)
    return policy.send_close and is_over and now_ms - told.ended_ms < GIVE_UP_MS


def _matters(told: Notified, status: int, policy: Policy, now_ms: int) -> bool:
    if _owes_close(told, policy, now_ms) or (not told.ended_ms and status > Status.NOTFOUND):
        return True
    # Without closes, a group that goes back and forth is told of once a send-interval.
    return not policy.send_close and _is_recent(told, policy, now_ms)


def _is_recent(told: Notified, policy: Policy, now_ms: int) -> bool:
    """Both ways: what was told by a clock that went ahead must not be waited for."""
    return abs(now_ms - told.at_ms) < policy.repeat_ms


def _ended(told: Notified, current: str, now_ms: int) -> Notified:
    if told.id == current or told.ended_ms:
        return told
    return msgspec.structs.replace(told, ended_ms=now_ms)
