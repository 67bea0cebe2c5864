"""One module's messages on their way to its receiver, in a thread of their own.

So a receiver that is slow or down delays nobody else. The queue holds what is due now, by subject:
every round replaces it, so the newest state wins and a group that recovered before anybody heard
of it is not mentioned at all.
"""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import structlog

from warren.errors import SendFailed
from warren.notify.digest import compose, next_batch
from warren.notify.message import Sender
from warren.notify.subject import Subject
from warren.notify.wanted import Wanted

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 60.0
MINUTE_S = 60.0
POLL_S = 0.2
NO_LIMIT = 1 << 62
OUTCOMES = ("sent", "digested", "failed", "retried", "dropped", "superseded")


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
        self._slots: dict[Subject, list[Wanted]] = {}  # next first; a subject's in their order
        self._told: list[Wanted] = []  # taken by the receiver, not fetched by `take_told` yet
        self._late: list[Wanted] = []  # the same, of a time when this instance led before
        self._failed: set[tuple[Subject, str, str]] = set()
        self._outcomes = Counter(dict.fromkeys(OUTCOMES, 0))
        self._attempts: deque[float] = deque()  # moments, of the last minute
        self._failures = 0  # in a row
        self._resume_at = 0.0
        self._is_sending = False
        self._is_late = False  # what is on its way: the lead was lost meanwhile

    def health(self) -> Mapping[str, object]:
        with self._changed:
            return {"queued": len(self._slots), "outcomes": dict(self._outcomes)}

    def want(
        self,
        cluster: str,
        wanted: Mapping[Subject, list[Wanted]],
        unread: AbstractSet[str] = frozenset(),
    ) -> None:
        """Replace what is due about a cluster's groups, but for those that are not all read."""
        with self._changed:
            told = {each.identity for each in [*self._told, *self._late]}
            ours = [subject for subject in self._slots if subject.cluster == cluster]
            for subject in dict.fromkeys([*ours, *wanted]):
                if subject.group in unread:
                    continue
                self._replace(subject, wanted.get(subject, []), told)
            self._changed.notify()

    def take_told(self) -> list[Wanted]:
        """What the receiver has taken since the last call."""
        with self._changed:
            told, self._told = self._told, []
            return told

    def take_late(self) -> list[Wanted]:
        """What it has taken before the lead was lost, and nobody may have noted."""
        with self._changed:
            late, self._late = self._late, []
            return late

    def give_up(self, subject: Subject, incident: str) -> None:
        """Send a close no more."""
        with self._changed:
            slot = self._slots.pop(subject, [])
            kept = [e for e in slot if (e.notice.event, e.notice.id) != ("close", incident)]
            if kept:
                self._slots[subject] = kept
            self._outcomes["dropped"] += 1
        about = {"cluster": subject.cluster, "group": subject.group, "id": incident}
        log.warning("close given up", coordinator="notifier", name=self.name, **about)

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
            self._failed.clear()

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

    def _replace(
        self, subject: Subject, wanted: list[Wanted], told: set[tuple[Subject, str, str]]
    ) -> None:
        before = {each.identity: each for each in self._slots.get(subject, [])}
        # A close keeps the verdicts of its moment: the group may be bad again by now.
        slot = [
            before.get(each.identity) or each.settled() if each.notice.event == "close" else each
            for each in wanted
            if each.identity not in told
        ]
        gone = before.keys() - {each.identity for each in slot}
        self._outcomes["superseded"] += len(gone)
        self._failed -= gone
        if slot:
            self._slots[subject] = slot
        else:
            self._slots.pop(subject, None)

    def _next(self, now_s: float) -> list[Wanted]:
        """What to send now, which goes to the end of the queue until it is known how it went."""
        with self._changed:
            left = self._left(now_s)
            if not self._slots or left <= 0 or now_s < self._resume_at or not self._may_send():
                return []
            batch = next_batch(self._firsts(), len(self._slots), left, self._sender.digests)
            for each in batch:
                self._slots[each.subject] = self._slots.pop(each.subject)
                self._outcomes["retried"] += each.identity in self._failed
            self._attempts.append(now_s)
            self._is_sending = True
            return batch

    def _left(self, now_s: float) -> int:
        """How many messages of this minute are left."""
        if not self._max_per_minute:
            return NO_LIMIT
        while self._attempts and now_s - self._attempts[0] >= MINUTE_S:
            self._attempts.popleft()
        return self._max_per_minute - len(self._attempts)

    def _firsts(self) -> Iterator[Wanted]:
        return (slot[0] for slot in self._slots.values())

    def _send(self, batch: list[Wanted]) -> None:
        try:
            answer = self._sender.send(compose(batch))
        except SendFailed as error:
            self._put_off(batch, error)
            return
        with self._changed:
            self.problem, self._failures = "", 0
            self._outcomes["sent"] += 1
            self._outcomes["digested"] += len(batch) if len(batch) > 1 else 0
            taken = self._late if self._is_late else self._told
            taken += batch
            self._remove(batch)
        self._on_told()
        log.info("notification sent", **_about(self.name, batch), answer=answer)

    def _put_off(self, batch: list[Wanted], error: SendFailed) -> None:
        with self._changed:
            self.problem = str(error)
            self._failures += 1
            longest = min(FIRST_RETRY_S * 2 ** min(self._failures - 1, 10), LAST_RETRY_S)
            pause_s = longest * random.uniform(0.5, 1)  # noqa: S311  spreads retries, guards nothing
            self._resume_at = time.monotonic() + pause_s
            self._outcomes["failed"] += 1
            if error.retry:
                self._failed |= {each.identity for each in batch}
            else:  # a later round may ask for it again
                self._outcomes["dropped"] += len(batch)
                self._remove(batch)
        again_s = round(pause_s, 1) if error.retry else None
        log.warning(
            "notification failed", **_about(self.name, batch), problem=str(error), again_s=again_s
        )

    def _remove(self, batch: list[Wanted]) -> None:
        done = {each.identity for each in batch}
        self._failed -= done
        for each in batch:
            slot = [one for one in self._slots.get(each.subject, []) if one.identity not in done]
            if slot:
                self._slots[each.subject] = slot
            else:
                self._slots.pop(each.subject, None)


def _about(name: str, batch: list[Wanted]) -> dict[str, object]:
    first = batch[0]
    about: dict[str, object] = {"coordinator": "notifier", "name": name}
    about["what"] = first.notice.event
    if len(batch) > 1:
        return about | {"groups": len(batch)}
    subject = first.subject
    return about | {"cluster": subject.cluster, "group": subject.group, "id": first.notice.id}
