"""One round over one cluster: which incidents open, continue or end, and which messages are due."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Bytes
from warren.model.board import Board
from warren.model.status import Status
from warren.model.verdicts import Verdicts
from warren.notify.due_message import NOTHING_BESIDE, Beside, DueMessage, Place
from warren.notify.incidents import (
    NOTHING,
    Notice,
    Policy,
    Record,
    advance,
    dropped_closes,
    notices,
    trim,
)
from warren.notify.lag_rules import Alarm, LagAlarms, LagWatch
from warren.notify.message import Subject
from warren.notify.routing import ANYWHERE, Route, Routing


class CurrentCluster(NamedTuple):
    """A cluster that can be judged, all of it or all but the groups of some consumers."""

    cluster: str
    behind: frozenset[str] = frozenset()  # consumers outside Kafka whose commits are not all read
    unread: frozenset[str] = frozenset()  # the groups they tell of, and others to be read yet


class CurrentClusters:
    """Goes from board to board.

    Verdicts are made a moment before the health that stands beside them: what has just been caught
    up with counts from the next board on, and a group once its commits of after that moment have
    been read.
    """

    def __init__(self) -> None:
        # The first board on which something was current again; None: it is not.
        self._since_ms: dict[tuple[str, str], int | None] = {}

    def of(self, board: Board, oldest_ms: int) -> list[CurrentCluster]:
        """Clusters whose brokers answer and whose commits have been read, if the board is new."""
        return [] if board.moment_ms < oldest_ms else [*self._of(board)]

    def _of(self, board: Board) -> Iterator[CurrentCluster]:
        for name, cluster in board.health.clusters.items():
            own = board.health.consumers_of(name)
            behind = {
                consumer
                for consumer, each in own.items()
                if not self._is_settled("consumer", consumer, board, is_current=each.is_current)
            }
            is_current = cluster.is_current and name in board.clusters
            if not self._is_settled("cluster", name, board, is_current=is_current):
                continue
            outside = board.clusters[name].outside
            if behind <= outside.keys():
                settled = [("cluster", name), *(("consumer", each) for each in own.keys() - behind)]
                since_ms = max(self._since_ms[each] or 0 for each in settled)
                unread = board.clusters[name].verdicts.unread_groups(since_ms)
                yield CurrentCluster(
                    name, frozenset(behind), unread.union(*(outside[each] for each in behind))
                )

    def _is_settled(self, kind: str, name: str, board: Board, *, is_current: bool) -> bool:
        if not is_current:
            self._since_ms[kind, name] = None
            return False
        since = self._since_ms.setdefault((kind, name), -1)
        if since is None or since > board.moment_ms:  # the clock may be set back
            since = self._since_ms[kind, name] = board.moment_ms
        return board.moment_ms > since


@dataclass
class Presence:
    """A subject is gone when it is missing in two rounds in a row.

    With `start-latest`, a restarted Warren knows a group only after its next commit, and a stopped
    group never commits. So there a group counts as gone only if this process has seen it.
    """

    reads_from_start: bool
    seen: set[Subject] = field(default_factory=set)
    missing: set[Subject] = field(default_factory=set)  # at the last round

    def note(
        self, there: Iterable[Subject], missing: Iterable[Subject], skipped: Iterable[Subject] = ()
    ) -> None:
        """Remember what a round found; `skipped` subjects could not be judged."""
        self.missing = set(missing)
        self.seen = {*there} | (self.seen & {*self.missing, *skipped})

    def is_gone(self, subject: Subject, *, has_expired: bool) -> bool:
        was_there = self.reads_from_start or subject in self.seen or has_expired
        return subject in self.missing and was_there


ALL_READ = CurrentCluster("")
UNWATCHED = "its lag is no longer watched"


def _random_id() -> str:
    return str(uuid.uuid4())


@dataclass
class NotifierRound:
    """Goes over a cluster's groups and collects changed records and due messages.

    Most groups are good and have no record: only the others are examined one by one.
    """

    cluster: str
    records: Mapping[Subject, Record]  # of this cluster
    policies: Mapping[str, Policy]
    now_ms: int
    is_gone: Callable[[Subject], bool] = lambda _: True  # of those without a verdict
    current: CurrentCluster = ALL_READ  # names the groups that cannot be judged yet
    beside: Beside = NOTHING_BESIDE  # the verdicts, for what messages say
    new_id: Callable[[], str] = _random_id
    routing: Routing | None = None  # None: every message goes to every module
    changes: dict[Subject, Record | None] = field(default_factory=dict)
    due: dict[str, dict[Subject, list[DueMessage]]] = field(default_factory=dict)  # by module
    there: list[Subject] = field(default_factory=list)
    missing: list[Subject] = field(default_factory=list)
    dropped_closes: list[tuple[str, Subject, str]] = field(default_factory=list)  # module first
    skipped: list[Subject] = field(default_factory=list)  # their records do not change

    def judge_groups(self, verdicts: Verdicts, alarms: Bytes | None = None) -> None:
        """Judge groups by verdict, for all modules; `alarms`, by group, say what counts as bad."""
        status = verdicts.groups.status if alarms is None else alarms
        policies = list(self.policies.values())
        reports_good = any(policy.threshold <= Status.OK for policy in policies)
        lines = np.arange(len(status)) if reports_good else np.flatnonzero(status > Status.OK)
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
        """Judge lag by a module's rule; an alarm counts as WARN."""
        policies = [self.policies[module]._replace(threshold=Status.WARN)]
        alarms = watch.look(verdicts, self.now_ms)
        known = self._known(module)
        for name in dict.fromkeys(
            [*alarms.firing(), *((each.group, each.topic) for each in known)]
        ):
            subject = Subject(self.cluster, name[0], module, name[1])
            at = alarms.places.get(name)
            if at is not None:
                is_over = self._is_over(subject, alarms, at)
                reason = watch.rule.reason(int(alarms.lag[at]), subject.topic, is_over=is_over)
                status = Status.OK if is_over else Status.WARN
                place = (verdicts, int(alarms.line[at]))
                self._examine(subject, status, place, policies, reason)
            else:
                self._miss(subject, policies, UNWATCHED)

    def end(self, module: str) -> None:
        """End incidents that the configuration no longer covers."""
        policies = list(self.policies.values())
        for subject in self._known(module):
            if not module or module in self.policies:
                reason = UNWATCHED if module else ""
                self._examine(subject, Status.NOTFOUND, None, policies, reason)
            else:
                self.changes[subject] = None

    def _is_over(self, subject: Subject, alarms: LagAlarms, at: int) -> bool:
        """While the alarm is unknown, an open incident stays open."""
        alarm = alarms.state[at]
        if alarm == Alarm.UNKNOWN:
            return not self.records.get(subject, NOTHING).id
        return bool(alarm == Alarm.QUIET)

    def _miss(self, subject: Subject, policies: Sequence[Policy], reason: str = "") -> None:
        if self.current.behind:  # it may be a group of a consumer that is behind
            self.skipped.append(subject)
            return
        self.missing.append(subject)
        if self.is_gone(subject):
            self._examine(subject, Status.NOTFOUND, None, policies, reason)

    def _route(self, place: Place) -> Route:
        if self.routing is None or not isinstance(place, tuple):
            return ANYWHERE
        return self.routing.of(place[1])

    @staticmethod
    def _may_send(notice: Notice, route: Route) -> bool:
        bad_for_ms = notice.now_ms - notice.start_ms
        return notice.event == "close" or route.lets_open(notice.module, bad_for_ms)

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
        route = self._route(place)
        for policy in policies:
            found = notices(record, status, policy, subject.group, self.now_ms)
            found = [each for each in found if self._may_send(each, route)]
            if found:
                about = (place, reason, route.owner, self.beside)
                messages = [DueMessage(subject, each, *about) for each in found]
                self.due.setdefault(policy.module, {})[subject] = messages
        after = trim(record, status, self.policies, self.now_ms)
        self.dropped_closes += [
            (module, subject, incident)
            for module, incident in dropped_closes(record, after, self.policies)
        ]
        if after != before:
            self.changes[subject] = after
