"""Delivers one notifier's messages to its receiver, in a thread of its own.

A receiver that is slow or down delays no other notifier. The queue holds the messages that are due
now, by subject. Every round replaces it, so the newest state wins: a group that recovers before its
alert is sent causes no message at all.

Each refused message waits for its own retry, so one that never succeeds does not block the others.
When several messages in a row are refused, all messages of that kind (openings or closes) wait: we
do not try every message against a receiver that is down.
"""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import structlog

from warren.errors import SendFailed
from warren.model.health import NotifierHealth
from warren.notify.due_message import DueMessage, compose, next_batch
from warren.notify.message import Event, Sender, Subject

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 60.0  # pauses before one message is retried
LAST_PAUSE_S = 10.0  # for all messages of a kind, when different ones were refused in a row
MINUTE_S = 60.0
POLL_S = 0.2
NO_LIMIT = 1 << 62
OUTCOMES = ("sent", "digested", "failed", "retried", "dropped", "superseded")


Identity = tuple[Subject, str, str]


@dataclass(frozen=True)
class RefusedMessage:
    """A message that the receiver refused: when to retry it, and why it was refused."""

    count: int
    due_s: float
    problem: str
    retry: bool  # False: sent again only if a later round still wants it


MOST_REFUSED = 10


class MessagePace:
    """How soon the next message of a kind may be sent, after others were refused."""

    def __init__(self) -> None:
        self.resume_s = 0.0
        self._refused: set[Identity] = set()  # since the last delivery

    def slow_down(self, refused: Identity, now_s: float) -> None:
        """Pause longer with each different message refused; repeats of one do not count."""
        if len(self._refused) < MOST_REFUSED:  # the pause has reached its maximum by then
            self._refused.add(refused)
        others = len(self._refused) - 1
        self.resume_s = now_s + (_back_off(others, LAST_PAUSE_S) if others else 0)

    def reset(self) -> None:
        self.resume_s = 0.0
        self._refused.clear()


class Delivery:
    """One for each `[notifier.NAME]`."""

    kind = "notifiers"

    def __init__(
        self,
        name: str,
        sender: Sender,
        max_per_minute: int,
        may_send: Callable[[], bool],
        on_delivered: Callable[[], None],
    ) -> None:
        self.name = name
        self.problem = ""
        self.restarts = 0
        self._sender = sender
        self._max_per_minute = max_per_minute
        self._may_send = may_send
        self._on_delivered = on_delivered
        self._changed = threading.Condition()  # guards everything below
        self._slots: dict[Subject, list[DueMessage]] = {}  # the queue: the next subject first
        self._delivered: list[DueMessage] = []  # until `take_delivered` fetches them
        self._from_last_lead: list[DueMessage] = []  # delivered before we lost the lead
        self._refused: dict[Identity, RefusedMessage] = {}  # the newest last
        self._paces: dict[Event, MessagePace] = {"open": MessagePace(), "close": MessagePace()}
        self._outcomes = Counter(dict.fromkeys(OUTCOMES, 0))
        self._attempts: deque[float] = deque()  # when we sent, within the last minute
        self._is_sending = False
        self._has_lost_lead = False  # while the current message is being sent

    def health(self) -> NotifierHealth:
        with self._changed:
            return NotifierHealth(
                self.problem,
                self.restarts,
                queued=len(self._slots),
                outcomes=dict(self._outcomes),
            )

    def update(
        self,
        cluster: str,
        due: Mapping[Subject, list[DueMessage]],
        unread: AbstractSet[str] = frozenset(),
    ) -> None:
        """Replace a cluster's queued messages, except those about `unread` groups."""
        with self._changed:
            delivered: dict[Subject, list[DueMessage]] = {}
            for each in [*self._delivered, *self._from_last_lead]:
                delivered.setdefault(each.subject, []).append(each)
            ours = [subject for subject in self._slots if subject.cluster == cluster]
            for subject in dict.fromkeys([*ours, *due]):
                if subject.group not in unread:
                    self._replace(subject, due.get(subject, []), delivered.get(subject, []))
            self._forget_withdrawn(cluster, unread)
            self._changed.notify()

    def take_delivered(self) -> list[DueMessage]:
        """Return the messages that were delivered since the last call."""
        with self._changed:
            delivered, self._delivered = self._delivered, []
            return delivered

    def take_from_last_lead(self) -> list[DueMessage]:
        """Return messages delivered before we lost the lead, which perhaps nobody recorded."""
        with self._changed:
            delivered, self._from_last_lead = self._from_last_lead, []
            return delivered

    def closes_by_id(self, subject: Subject) -> bool:
        """Whether a close may be sent after the opening of a later incident."""
        return self._sender.closes_by_id(lag=bool(subject.module))

    def drop_close(self, subject: Subject, incident: str, reason: str) -> None:
        """Stop trying to deliver a close."""
        with self._changed:
            slot = self._slots.pop(subject, [])
            kept = [e for e in slot if (e.notice.event, e.notice.id) != ("close", incident)]
            if kept:
                self._slots[subject] = kept
            self._forget({(subject, "close", incident)})
            self._outcomes["dropped"] += 1
        about = {"cluster": subject.cluster, "group": subject.group, "id": incident}
        log.warning(
            "close given up", coordinator="notifier", name=self.name, **about, reason=reason
        )

    def stop_leading(self) -> None:
        """Set aside what was delivered so far: another instance may lead from now on."""
        with self._changed:
            self._from_last_lead += self._delivered
            self._delivered = []
            self._has_lost_lead = self._is_sending

    def clear(self) -> None:
        """Empty the queue."""
        with self._changed:
            self._slots.clear()
            self._refused.clear()

    def wait_for_answer(self, seconds: float) -> None:
        """If a message is being sent, wait until we know the result."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_sending, seconds)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            batch = self._next(time.monotonic())
            if batch:
                try:
                    self._send(batch)
                finally:
                    self._end_sending()
            else:
                with self._changed:
                    self._changed.wait(POLL_S)
        self._sender.close()

    def _end_sending(self) -> None:
        with self._changed:
            self._is_sending = self._has_lost_lead = False
            self._changed.notify_all()

    def _replace(
        self, subject: Subject, due: list[DueMessage], delivered: list[DueMessage]
    ) -> None:
        """`delivered`: messages about the subject that the round did not know of yet."""
        before = {each.identity: each for each in self._slots.get(subject, [])}
        # A close keeps the verdicts it was decided on: the group may be bad again by now.
        slot = [
            before.get(each.identity) or each.with_result()
            if each.notice.event == "close"
            else each
            for each in due
            if not any(
                one.identity == each.identity or self._is_overtaken(each, one) for one in delivered
            )
        ]
        queued = {each.identity for each in slot}
        self._outcomes["superseded"] += len(before.keys() - queued)
        if any(event == "open" for _, event, _ in queued - before.keys()):
            # A refused close is tried once more now, to reach the receiver before the opening.
            for each in queued & before.keys() & self._refused.keys():
                self._refused[each] = replace(self._refused[each], due_s=0)
        if slot:
            self._slots[subject] = slot
        else:
            self._slots.pop(subject, None)

    def _forget_withdrawn(self, cluster: str, unread: AbstractSet[str]) -> None:
        withdrawn = {
            (subject, event, incident)
            for subject, event, incident in self._refused
            if subject.cluster == cluster
            and subject.group not in unread
            and not any(
                (each.notice.event, each.notice.id) == (event, incident)
                for each in self._slots.get(subject, [])
            )
        }
        self._forget(withdrawn)

    def _is_overtaken(self, close: DueMessage, opening: DueMessage) -> bool:
        """Whether the later incident is open at the receiver, so that this close would end it."""
        return (
            close.notice.event == "close"
            and opening.notice.event == "open"
            and close.notice.id != opening.notice.id
            and not self.closes_by_id(close.subject)
        )

    def _next(self, now_s: float) -> list[DueMessage]:
        """Choose what to send now, and move it to the end of the queue until we know the result."""
        with self._changed:
            left = self._messages_left(now_s)
            if not self._slots or left <= 0 or not self._may_send():
                return []
            batch = next_batch(self._ready(now_s), left, self._sender.digests)
            for each in batch:
                self._slots[each.subject] = self._slots.pop(each.subject)
                refused = self._refused.get(each.identity)
                self._outcomes["retried"] += refused is not None and refused.retry
            self._is_sending = bool(batch)
            if batch and self._max_per_minute:
                self._attempts.append(now_s)
            return batch

    def _ready(self, now_s: float) -> Iterator[DueMessage]:
        """The next message of each subject that need not wait; refused ones come last."""
        retries = []
        for slot in self._slots.values():
            each = next((each for each in slot if self._is_ready(each, now_s)), None)
            if each is not None and each.identity in self._refused:
                retries.append(each)
            elif each is not None:
                yield each
        yield from retries

    def _is_ready(self, message: DueMessage, now_s: float) -> bool:
        refused = self._refused.get(message.identity)
        is_due = refused is None or now_s >= refused.due_s
        return is_due and now_s >= self._paces[message.notice.event].resume_s

    def _messages_left(self, now_s: float) -> int:
        """How many messages we may still send in this minute."""
        if not self._max_per_minute:
            return NO_LIMIT
        while self._attempts and now_s - self._attempts[0] >= MINUTE_S:
            self._attempts.popleft()
        return self._max_per_minute - len(self._attempts)

    def _send(self, batch: list[DueMessage]) -> None:
        try:
            answer = self._sender.send(compose(batch))
        except SendFailed as error:
            self._postpone(batch, error, time.monotonic())
            return
        with self._changed:
            self._paces[batch[0].notice.event].reset()
            self._outcomes["sent"] += 1
            self._outcomes["digested"] += len(batch) if len(batch) > 1 else 0
            delivered = self._from_last_lead if self._has_lost_lead else self._delivered
            delivered += batch
            self._remove(batch, is_delivered=True)
            self._forget({each.identity for each in batch})
        self._on_delivered()
        log.info("notification sent", **_about(self.name, batch), answer=answer)

    def _postpone(self, batch: list[DueMessage], error: SendFailed, now_s: float) -> None:
        with self._changed:
            self.problem = str(error)
            refused = (self._refused.pop(each.identity, None) for each in batch)
            count = 1 + max(each.count if each else 0 for each in refused)
            pause_s = _back_off(count, LAST_RETRY_S)
            for each in batch:
                refusal = RefusedMessage(count, now_s + pause_s, self.problem, error.retry)
                self._refused[each.identity] = refusal
            self._paces[batch[0].notice.event].slow_down(batch[0].identity, now_s)
            self._outcomes["failed"] += 1
            if self._attempts:
                self._attempts.pop()  # the limit counts only messages that people receive
            if not error.retry:  # a later round may queue it again
                self._outcomes["dropped"] += len(batch)
                self._remove(batch, is_delivered=False)
        again_s = round(pause_s, 1) if error.retry else None
        log.warning(
            "notification failed", **_about(self.name, batch), problem=str(error), again_s=again_s
        )

    def _remove(self, batch: list[DueMessage], *, is_delivered: bool) -> None:
        """Remove the batch, and closes that would end an incident whose opening was delivered."""
        done = {each.identity for each in batch}
        for each in batch:
            slot = [
                one
                for one in self._slots.get(each.subject, [])
                if one.identity not in done and not (is_delivered and self._is_overtaken(one, each))
            ]
            if slot:
                self._slots[each.subject] = slot
            else:
                self._slots.pop(each.subject, None)

    def _forget(self, identities: AbstractSet[Identity]) -> None:
        """Retry these no more; `problem` is then the last one among the rest."""
        for each in identities:
            self._refused.pop(each, None)
        if identities:
            last = next(reversed(self._refused.values()), None)
            self.problem = last.problem if last else ""


def _back_off(times: int, longest_s: float) -> float:
    """One second, two, four; less a random part, so that retries spread out."""
    pause_s = min(FIRST_RETRY_S * 2.0 ** min(times - 1, 10), longest_s)
    return pause_s * random.uniform(0.5, 1)  # noqa: S311  guards nothing


def _about(name: str, batch: list[DueMessage]) -> dict[str, object]:
    first = batch[0]
    about: dict[str, object] = {"coordinator": "notifier", "name": name}
    about["what"] = first.notice.event
    if len(batch) > 1:
        return about | {"groups": len(batch)}
    subject = first.subject
    return about | {"cluster": subject.cluster, "group": subject.group, "id": first.notice.id}
