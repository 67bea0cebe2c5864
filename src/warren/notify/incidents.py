"""When to notify about a group: pure, with time passed in.

A record holds the current state (the incident, if the group is bad) and the last notice delivered
to each module. Every round, `advance` updates the state and `notices` compares the two: a notice
that a module should have and does not have is due. Only `confirm`, called after the receiver
accepted a message, changes what counts as delivered. So an undelivered message is due again, a
close is due only where the opening was delivered, and a restart from saved records changes nothing.

A refused close does not delay the opening of the next incident. If a close ends its own incident
and no other, it stays due after that opening; otherwise it is given up, as it would end the later
incident.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from warren.config import GroupFilter
from warren.config.notifiers import Notifier
from warren.model.status import Status
from warren.notify.message import Event

SLACK = 10  # a repeat may be a tenth of a round early, or one late round would delay it by another
GIVE_UP_MS = 24 * 3600 * 1000  # for a close that its receiver refuses
MOST_LATE = 10  # closes of one group that a module may owe; a group may change status all day


class Policy(NamedTuple):
    """The keys of a notifier that decide when it sends."""

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


class DeliveredNotice(msgspec.Struct, frozen=True, array_like=True):
    """The last message that a module's receiver accepted."""

    id: str  # of the incident; empty: about a good group
    start_ms: int
    at_ms: int
    status: int  # the worst that was delivered in that incident
    ended_ms: int = 0  # when that incident ended; 0: not yet


class Record(msgspec.Struct, frozen=True, array_like=True):
    id: str = ""  # of the incident; empty: the group is good
    start_ms: int = 0
    delivered: Mapping[str, DeliveredNotice] = {}  # by module
    late: Mapping[str, tuple[DeliveredNotice, ...]] = {}  # closes still owed after a later opening


class Notice(NamedTuple):
    """A message that is due."""

    module: str
    event: Event
    id: str
    start_ms: int
    now_ms: int  # of a close: when the incident ended
    status: int


NOTHING = Record()


def advance(record: Record, status: int, now_ms: int, new_id: Callable[[], str]) -> Record:
    """Open an incident if the group became bad; end it if the group is good or gone."""
    is_bad = status > Status.OK
    if is_bad and not record.id:
        record = msgspec.structs.replace(record, id=new_id(), start_ms=now_ms)
    elif record.id and not is_bad:
        record = msgspec.structs.replace(record, id="", start_ms=0)
    if any(each.id != record.id and not each.ended_ms for each in record.delivered.values()):
        delivered = {
            module: _with_end(each, record.id, now_ms) for module, each in record.delivered.items()
        }
        record = msgspec.structs.replace(record, delivered=delivered)
    return record


def notices(record: Record, status: int, policy: Policy, group: str, now_ms: int) -> list[Notice]:
    """The notices that a module is due now, usually none; old closes come before an opening."""
    last = record.delivered.get(policy.module)
    due = [
        Notice(policy.module, "close", each.id, each.start_ms, each.ended_ms, Status.OK)
        for each in _delivered_to(record, policy.module)
        if _owes_close(each, policy, now_ms)
    ]
    is_match = status >= max(policy.threshold, Status.OK) and policy.groups.accepts(group)
    if is_match and _is_due(record, last, status, policy, now_ms):
        due.append(Notice(policy.module, "open", record.id, record.start_ms, now_ms, status))
    return due


def confirm(record: Record, notice: Notice, *, closes_by_id: bool = False) -> Record:
    """Record that a module's receiver accepted a message.

    `closes_by_id`: an earlier incident of the group may be closed after this opening.
    """
    delivered, late = dict(record.delivered), dict(record.late)
    before = delivered.get(notice.module)
    is_same = before is not None and before.id == notice.id
    owed = record.late.get(notice.module, ())
    if notice.event == "open":
        worst = max(notice.status, before.status) if before and is_same else notice.status
        delivered[notice.module] = DeliveredNotice(notice.id, notice.start_ms, notice.now_ms, worst)
        if before and not is_same and before.id and before.ended_ms and closes_by_id:
            late[notice.module] = (*owed, before)[-MOST_LATE:]
    elif is_same:
        del delivered[notice.module]
    elif owed:
        late[notice.module] = tuple(each for each in owed if each.id != notice.id)
    return msgspec.structs.replace(record, delivered=delivered, late=late)


def is_owed(record: Record, notice: Notice) -> bool:
    """Whether to `confirm` a message that was delivered while another instance may have led.

    Not if the other instance has changed the record since: then ours is out of date.
    """
    if notice.event == "close":
        return any(each.id == notice.id for each in _delivered_to(record, notice.module))
    last = record.delivered.get(notice.module)
    is_known = last is not None and last.id == notice.id
    is_newer = last is None or last.at_ms < notice.now_ms
    return record.id == notice.id and (not is_known or is_newer)


def dropped_closes(
    before: Record, after: Record | None, policies: Mapping[str, Policy]
) -> list[tuple[str, str]]:
    """Modules and incidents whose close was due before and is not due after."""
    still = {*_owed(after, policies)} if after else set()
    return [each for each in _owed(before, policies) if each not in still]


def trim(record: Record, status: int, policies: Mapping[str, Policy], now_ms: int) -> Record | None:
    """Drop what no longer matters from the record; None if nothing is left."""
    delivered = {
        module: each
        for module, each in record.delivered.items()
        if module in policies and _is_needed(each, status, policies[module], now_ms)
    }
    late = {
        module: _late(each, policies.get(module), now_ms) for module, each in record.late.items()
    }
    late = {module: each for module, each in late.items() if each}
    if not record.id and not delivered and not late:
        return None
    if len(delivered) == len(record.delivered) and late == record.late:
        return record
    return msgspec.structs.replace(record, delivered=delivered, late=late)


def _delivered_to(record: Record, module: str) -> tuple[DeliveredNotice, ...]:
    """The last notice of each incident that a module knows of, the newest incident last."""
    last = record.delivered.get(module)
    return (*record.late.get(module, ()), *([last] if last else []))


def _owed(record: Record, policies: Mapping[str, Policy]) -> Iterator[tuple[str, str]]:
    """Modules and incidents whose close is due, however long ago the incident ended."""
    for module, policy in policies.items():
        for last in _delivered_to(record, module) if policy.send_close else ():
            if last.id and last.ended_ms:
                yield module, last.id


def _late(
    late: tuple[DeliveredNotice, ...], policy: Policy | None, now_ms: int
) -> tuple[DeliveredNotice, ...]:
    return tuple(each for each in late if policy and _owes_close(each, policy, now_ms))


def _is_due(
    record: Record, last: DeliveredNotice | None, status: int, policy: Policy, now_ms: int
) -> bool:
    if last is None or (policy.send_close and last.ended_ms):
        return True
    if policy.send_once and last.id == record.id:
        return False
    return status > last.status or not _is_recent(last, policy, now_ms)


def _owes_close(last: DeliveredNotice, policy: Policy, now_ms: int) -> bool:
    is_over = bool(last.id and last.ended_ms)
    return policy.send_close and is_over and now_ms - last.ended_ms < GIVE_UP_MS


def _is_needed(last: DeliveredNotice, status: int, policy: Policy, now_ms: int) -> bool:
    if _owes_close(last, policy, now_ms) or (not last.ended_ms and status > Status.NOTFOUND):
        return True
    # Without closes, a group that keeps changing causes one message per send-interval.
    return not policy.send_close and _is_recent(last, policy, now_ms)


def _is_recent(last: DeliveredNotice, policy: Policy, now_ms: int) -> bool:
    """In both directions: a timestamp from a clock that was ahead must not cause a long wait."""
    return abs(now_ms - last.at_ms) < policy.repeat_ms


def _with_end(last: DeliveredNotice, current: str, now_ms: int) -> DeliveredNotice:
    if last.id == current or last.ended_ms:
        return last
    return msgspec.structs.replace(last, ended_ms=now_ms)
