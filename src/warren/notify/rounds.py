"""One look at one cluster: which incidents open, go on or end, and who should be told."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from warren.evaluate.verdicts import Verdicts
from warren.model import Status
from warren.notify.current import Current
from warren.notify.growth import Alarm, LagWatch, Seen
from warren.notify.incidents import NOTHING, Policy, Record, advance, given_up, notices, trimmed
from warren.notify.subject import Subject
from warren.notify.wanted import Place, Wanted

ALL_READ = Current("")
UNWATCHED = "its lag is no longer watched"


def _random_id() -> str:
    return str(uuid.uuid4())


@dataclass
class Round:
    """Goes over a cluster's groups and collects what changes and what is due.

    Most groups are good and were never told of: only the others are looked at one by one.
    """

    cluster: str
    records: Mapping[Subject, Record]  # of this cluster
    policies: Mapping[str, Policy]
    now_ms: int
    is_gone: Callable[[Subject], bool] = lambda _: True  # for sure, of what the verdicts lack
    current: Current = ALL_READ  # which of its groups are not all read
    new_id: Callable[[], str] = _random_id
    changes: dict[Subject, Record | None] = field(default_factory=dict)
    wanted: dict[str, dict[Subject, list[Wanted]]] = field(default_factory=dict)  # by module
    there: list[Subject] = field(default_factory=list)
    missing: list[Subject] = field(default_factory=list)
    given_up: list[tuple[str, Subject, str]] = field(default_factory=list)  # closes, by module
    skipped: list[Subject] = field(default_factory=list)  # stay as they are

    def judge_groups(self, verdicts: Verdicts) -> None:
        """By verdict, for all modules."""
        status, policies = verdicts.groups.status, list(self.policies.values())
        tells_good = any(policy.threshold <= Status.OK for policy in policies)
        lines = np.arange(len(status)) if tells_good else np.flatnonzero(status > Status.OK)
        places: dict[Subject, int | None] = {
            Subject(self.cluster, verdicts.names[line]): line for line in lines.tolist()
        }
        for subject in self._known(""):
            if subject not in places:
                places[subject] = verdicts.line(subject.group)
        for subject, line in places.items():
            if line is None:
                self._miss(subject, policies)
            else:
                self._examine(subject, int(status[line]), (verdicts, line), policies)

    def judge_lags(self, verdicts: Verdicts, module: str, watch: LagWatch) -> None:
        """By lag, for the module that asked for it; what fires is a WARN to it."""
        policies = [self.policies[module]._replace(threshold=Status.WARN)]
        seen = watch.look(verdicts, self.now_ms)
        known = self._known(module)
        for name in dict.fromkeys([*seen.firing(), *((each.group, each.topic) for each in known)]):
            subject = Subject(self.cluster, name[0], module, name[1])
            at = seen.places.get(name)
            if at is not None:
                is_over = self._is_over(subject, seen, at)
                reason = watch.rule.reason(int(seen.lag[at]), subject.topic, is_over=is_over)
                status = Status.OK if is_over else Status.WARN
                place = (verdicts, int(seen.line[at]))
                self._examine(subject, status, place, policies, reason)
            else:
                self._miss(subject, policies, UNWATCHED)

    def end(self, module: str) -> None:
        """Nothing of this kind is judged any more: the configuration says so."""
        policies = list(self.policies.values())
        for subject in self._known(module):
            if not module or module in self.policies:
                reason = UNWATCHED if module else ""
                self._examine(subject, Status.NOTFOUND, None, policies, reason)
            else:
                self.changes[subject] = None

    def _is_over(self, subject: Subject, seen: Seen, at: int) -> bool:
        """Without enough to go by, what is open stays open."""
        alarm = seen.state[at]
        if alarm == Alarm.UNKNOWN:
            return not self.records.get(subject, NOTHING).id
        return bool(alarm == Alarm.QUIET)

    def _miss(self, subject: Subject, policies: Sequence[Policy], reason: str = "") -> None:
        if self.current.behind:  # whose group it is cannot be told
            self.skipped.append(subject)
            return
        self.missing.append(subject)
        if self.is_gone(subject):
            self._examine(subject, Status.NOTFOUND, None, policies, reason)

    def _known(self, module: str) -> list[Subject]:
        return [subject for subject in self.records if subject.module == module]

    def _examine(
        self,
        subject: Subject,
        status: int,
        place: Place,
        policies: Sequence[Policy],
        reason: str = "",
    ) -> None:
        if subject.group in self.current.unread:
            self.skipped.append(subject)
            return
        if place is not None:
            self.there.append(subject)
        before = self.records.get(subject)
        if before is None and not any(each.groups.accepts(subject.group) for each in policies):
            return
        record = advance(before or NOTHING, status, self.now_ms, self.new_id)
        for policy in policies:
            due = notices(record, status, policy, subject.group, self.now_ms)
            if due:
                wanted = [Wanted(subject, each, place, reason) for each in due]
                self.wanted.setdefault(policy.module, {})[subject] = wanted
        after = trimmed(record, status, self.policies, self.now_ms)
        self.given_up += [
            (module, subject, incident)
            for module, incident in given_up(record, after, self.policies)
        ]
        if after != before:
            self.changes[subject] = after
