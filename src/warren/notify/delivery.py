"""One module's messages on their way to its receiver, in a thread of their own.

So a receiver that is slow or down delays nobody else. The queue holds what is due now, by subject:
every round replaces it, so the newest state wins and a group that recovered before anybody heard
of it is not mentioned at all.

Each message that was refused waits for itself, so one that never works holds up nobody. Only when
one after another is refused all of the kind wait, openings and closes apart: a receiver that is
down is not asked for each of them.
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

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 60.0  # of one message
LAST_PAUSE_S = 10.0  # of all of a kind, when different ones were refused in a row
MINUTE_S = 60.0
POLL_S = 0.2
NO_LIMIT = 1 << 62
OUTCOMES = ("sent", "digested", "failed", "retried", "dropped", "superseded")


Identity = tuple[Subject, str, str]


@dataclass(frozen=True)
class RefusedMessage:
    """A message that was not taken: when to try it again, and why that is."""

    count: int
    due_s: float
    problem: str
    retry: bool  # or only because a later round asks for it


MOST_REFUSED = 10


class MessagePace:
    """How soon one of a kind may be tried, after others were refused."""

    def __init__(self) -> None:
        self.resume_s = 0.0
        self._refused: set[Identity] = set()  # since one was taken

    def slow_down(self, refused: Identity, now_s: float) -> None:
        """One that is refused again and again says nothing about the others."""
        if len(self._refused) < MOST_REFUSED:  # by then the pause is as long as it gets
            self._refused.add(refused)
        others = len(self._refused) - 1
        self.resume_s = now_s + (_back_off(others, LAST_PAUSE_S) if others else 0)

    def go_on(self) -> None:
        self.resume_s = 0.0
        self._refused.clear()


class Delivery:
    """A companion for each `[notifier.NAME]`."""

    kind = "notifiers"

    def __init__(
        self,
        name: str,
        sender: Sender,
        max_per_minute: int,
        may_send: Callable[[], bool],
        on_told: Callable[[], None],
    ) -> None:
        self.name = name
        self.problem = ""
        self.restarts = 0
        self._sender = sender
        self._max_per_minute = max_per_minute
        self._may_send = may_send
        self._on_told = on_told
        self._changed = threading.Condition()  # guards all below
        self._slots: dict[Subject, list[DueMessage]] = {}  # next first; a subject's in their order
        self._told: list[DueMessage] = []  # taken by the receiver, not fetched by `take_told` yet
        self._late: list[DueMessage] = []  # the same, of a time when this instance led before
        self._refused: dict[Identity, RefusedMessage] = {}  # the last one last
        self._paces: dict[Event, MessagePace] = {"open": MessagePace(), "close": MessagePace()}
        self._outcomes = Counter(dict.fromkeys(OUTCOMES, 0))
        self._attempts: deque[float] = deque()  # moments, of the last minute
        self._is_sending = False
        self._is_late = False  # what is on its way: the lead was lost meanwhile

    def health(self) -> NotifierHealth:
        with self._changed:
            return NotifierHealth(
                self.problem,
                self.restarts,
                queued=len(self._slots),
                outcomes=dict(self._outcomes),
            )

    def want(
        self,
        cluster: str,
        wanted: Mapping[Subject, list[DueMessage]],
        unread: AbstractSet[str] = frozenset(),
    ) -> None:
        """Replace what is due about a cluster's groups, but for those that are not all read."""
        with self._changed:
            told: dict[Subject, list[DueMessage]] = {}
            for each in [*self._told, *self._late]:
                told.setdefault(each.subject, []).append(each)
            ours = [subject for subject in self._slots if subject.cluster == cluster]
            for subject in dict.fromkeys([*ours, *wanted]):
                if subject.group not in unread:
                    self._replace(subject, wanted.get(subject, []), told.get(subject, []))
            self._forget_unwanted(cluster, unread)
            self._changed.notify()

    def take_told(self) -> list[DueMessage]:
        """What the receiver has taken since the last call."""
        with self._changed:
            told, self._told = self._told, []
            return told

    def take_late(self) -> list[DueMessage]:
        """What it has taken before the lead was lost, and nobody may have noted."""
        with self._changed:
            late, self._late = self._late, []
            return late

    def closes_by_id(self, subject: Subject) -> bool:
        """Whether a close may be sent after the opening of a later incident."""
        return self._sender.closes_by_id(lag=bool(subject.module))

    def give_up(self, subject: Subject, incident: str, reason: str) -> None:
        """Send a close no more."""
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

    def part(self) -> None:
        """Another instance may lead from now on."""
        with self._changed:
            self._late += self._told
            self._told = []
            self._is_late = self._is_sending

    def clear(self) -> None:
        """Send nothing more."""
        with self._changed:
            self._slots.clear()
            self._refused.clear()

    def wait_for_answer(self, seconds: float) -> None:
        """If a message is on its way, wait until it is known how that went."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_sending, seconds)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            batch = self._next(time.monotonic())
            if batch:
                try:
                    self._send(batch)
                finally:
                    self._rest()
            else:
                with self._changed:
                    self._changed.wait(POLL_S)
        self._sender.close()

    def _rest(self) -> None:
        with self._changed:
            self._is_sending = self._is_late = False
            self._changed.notify_all()

    def _replace(self, subject: Subject, wanted: list[DueMessage], told: list[DueMessage]) -> None:
        """`told`: what was taken about the subject, and the round did not know of yet."""
        before = {each.identity: each for each in self._slots.get(subject, [])}
        # A close keeps the verdicts of its moment: the group may be bad again by now.
        slot = [
            before.get(each.identity) or each.settled() if each.notice.event == "close" else each
            for each in wanted
            if not any(one.identity == each.identity or self._is_past(each, one) for one in told)
        ]
        asked = {each.identity for each in slot}
        self._outcomes["superseded"] += len(before.keys() - asked)
        if any(event == "open" for _, event, _ in asked - before.keys()):
            # A close that was refused is tried once more, so that it comes before the opening.
            for each in asked & before.keys() & self._refused.keys():
                self._refused[each] = replace(self._refused[each], due_s=0)
        if slot:
            self._slots[subject] = slot
        else:
            self._slots.pop(subject, None)

    def _forget_unwanted(self, cluster: str, unread: AbstractSet[str]) -> None:
        unwanted = {
            (subject, event, incident)
            for subject, event, incident in self._refused
            if subject.cluster == cluster
            and subject.group not in unread
            and not any(
                (each.notice.event, each.notice.id) == (event, incident)
                for each in self._slots.get(subject, [])
            )
        }
        self._forget(unwanted)

    def _is_past(self, close: DueMessage, opening: DueMessage) -> bool:
        """Whether a close would end the later incident, as its opening was taken already."""
        return (
            close.notice.event == "close"
            and opening.notice.event == "open"
            and close.notice.id != opening.notice.id
            and not self.closes_by_id(close.subject)
        )

    def _next(self, now_s: float) -> list[DueMessage]:
        """What to send now, which goes to the end of the queue until it is known how it went."""
        with self._changed:
            left = self._left(now_s)
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
        """The next of every subject that need not wait; those that were refused come last."""
        again = []
        for slot in self._slots.values():
            each = next((each for each in slot if self._is_ready(each, now_s)), None)
            if each is not None and each.identity in self._refused:
                again.append(each)
            elif each is not None:
                yield each
        yield from again

    def _is_ready(self, wanted: DueMessage, now_s: float) -> bool:
        refused = self._refused.get(wanted.identity)
        is_due = refused is None or now_s >= refused.due_s
        return is_due and now_s >= self._paces[wanted.notice.event].resume_s

    def _left(self, now_s: float) -> int:
        """How many messages of this minute are left."""
        if not self._max_per_minute:
            return NO_LIMIT
        while self._attempts and now_s - self._attempts[0] >= MINUTE_S:
            self._attempts.popleft()
        return self._max_per_minute - len(self._attempts)

    def _send(self, batch: list[DueMessage]) -> None:
        try:
            answer = self._sender.send(compose(batch))
        except SendFailed as error:
            self._put_off(batch, error, time.monotonic())
            return
        with self._changed:
            self._paces[batch[0].notice.event].go_on()
            self._outcomes["sent"] += 1
            self._outcomes["digested"] += len(batch) if len(batch) > 1 else 0
            taken = self._late if self._is_late else self._told
            taken += batch
            self._remove(batch, is_taken=True)
            self._forget({each.identity for each in batch})
        self._on_told()
        log.info("notification sent", **_about(self.name, batch), answer=answer)

    def _put_off(self, batch: list[DueMessage], error: SendFailed, now_s: float) -> None:
        with self._changed:
            self.problem = str(error)
            refused = (self._refused.pop(each.identity, None) for each in batch)
            count = 1 + max(each.count if each else 0 for each in refused)
            pause_s = _back_off(count, LAST_RETRY_S)
            for each in batch:
                again = RefusedMessage(count, now_s + pause_s, self.problem, error.retry)
                self._refused[each.identity] = again
            self._paces[batch[0].notice.event].slow_down(batch[0].identity, now_s)
            self._outcomes["failed"] += 1
            if self._attempts:
                self._attempts.pop()  # people are spared what they get, not what they do not
            if not error.retry:  # a later round may ask for it again
                self._outcomes["dropped"] += len(batch)
                self._remove(batch, is_taken=False)
        again_s = round(pause_s, 1) if error.retry else None
        log.warning(
            "notification failed", **_about(self.name, batch), problem=str(error), again_s=again_s
        )

    def _remove(self, batch: list[DueMessage], *, is_taken: bool) -> None:
        """And, behind an opening that was taken, the closes that would end its incident."""
        done = {each.identity for each in batch}
        for each in batch:
            slot = [
                one
                for one in self._slots.get(each.subject, [])
                if one.identity not in done and not (is_taken and self._is_past(one, each))
            ]
            if slot:
                self._slots[each.subject] = slot
            else:
                self._slots.pop(each.subject, None)

    def _forget(self, settled: AbstractSet[Identity]) -> None:
        """These are not tried again; what is wrong is what the others wait for."""
        for each in settled:
            self._refused.pop(each, None)
        if settled:
            last = next(reversed(self._refused.values()), None)
            self.problem = last.problem if last else ""


def _back_off(times: int, longest_s: float) -> float:
    """One second, two, four; less a random part, which spreads what failed together."""
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
