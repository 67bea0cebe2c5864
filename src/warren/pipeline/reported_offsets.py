"""Offsets that programs report over HTTP: checked when they come, folded together a moment later.

A report is checked without the cluster's lock, so that its sender never waits for a verdict. What
is right of it waits in the consumer's inbox; the consumer's thread folds everything that waits.
"""

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pyarrow as pa
import structlog

from warren.config import Config
from warren.model.arrays import Floats, Ints
from warren.model.offset_reports import MOST_REFUSALS, QueryNews, Refusal, Report, Taken
from warren.model.query_facts import QueryFacts, followed_by
from warren.pipeline import steps
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey, order_at
from warren.windows.limits import NO_ROOM
from warren.windows.precedence import is_held, placed_ms

log = structlog.get_logger()

MS = 1000
AHEAD_MS = 60_000  # a clock that is further ahead is wrong
UNSURE_MS = 2_000  # a clock is not wrong for less: requests take their time
IDLE_MS = 10 * 365 * 86_400_000  # an idle query stands there at most so long
LATE_S = 15.0  # reports come some seconds after what they tell
PATIENCE_S = 120.0  # after a restart, before a group that has not reported counts as silent
MOST_WAITING = 200_000  # offsets that wait to be folded; a report without any counts as one
FOLDED_AT_ONCE = 20_000  # of these
PRUNED_EVERY_S = 60.0
PAUSE_S = 0.1  # what comes within it is folded together
BUSY = "too many reports wait to be read; send it again later"
NOWHERE = "no reports are taken here: the configuration has no [consumer.NAME] of class-name http"


@dataclass
class ReportedConsumer(OutsideConsumer):
    """A `[consumer.*]` of class `http`. What has not been reported has not happened."""

    inbox: deque[Report] = field(default_factory=deque)
    waiting: int = 0  # offsets in the inbox
    coming: set[str] = field(default_factory=set)  # groups in the inbox, new ones
    arrived: threading.Event = field(default_factory=threading.Event)
    began_s: float = math.inf
    resumed_s: float = 0.0  # of the snapshot that it continues from
    _heard: set[str] = field(default_factory=set)  # groups, since the start
    _complete_ms: dict[str, int] = field(default_factory=dict)  # by group, its last whole report
    _behind_ms: dict[str, int] = field(default_factory=dict)  # by group, a clock that is wrong
    _late_s: dict[str, float] = field(default_factory=dict)  # by group, how late its news are
    _pruned_s: float = 0.0
    _guard: threading.Lock = field(default_factory=threading.Lock)  # of inbox, waiting, coming

    def read_until_s(self, groups: Sequence[str]) -> Floats:
        """Now; of a group whose reports are late, so long ago: what is on its way is no silence.

        Shortly after a restart, of a group that has not reported yet, the snapshot's moment.
        """
        moments, now, is_resuming = (
            np.full(len(groups), math.inf),
            self.cluster.clock(),
            self._is_resuming,
        )
        if is_resuming or self._late_s:
            for at, group in enumerate(groups):
                if is_resuming and group not in self._heard:
                    moments[at] = self.resumed_s
                elif group in self._late_s:
                    moments[at] = now - self._late_s[group]
        return moments

    @property
    def _is_resuming(self) -> bool:
        now = self.cluster.clock()
        return bool(self.resumed_s) and self.began_s <= now < self.began_s + PATIENCE_S

    @property
    def all_read_s(self) -> float:
        """Log ends are remembered for so long, for commits that are reported late."""
        return self.resumed_s if self._is_resuming else self.cluster.clock() - LATE_S

    def behind_s(self, now: float) -> float:
        return max(now - self.resumed_s, 0) if self._is_resuming else 0.0

    def read_before_ms(self, commits: pa.Table) -> Ints:
        """A report says itself when it was."""
        return np.zeros(len(commits), np.int64)

    def follows(self, group: str) -> bool:
        """Not if the checkpoint of its query counts, because reports have ended."""
        facts = self.cluster.queries.get(group)
        return super().follows(group) and (facts is None or facts.origin != "checkpoint")

    def by_our_clock(self, report: Report) -> Report:
        """A report that says when it was sent, with its time put right if that clock is wrong.

        The same difference as long as it hardly changes: a report has one time however often it is
        sent.
        """
        if report.sent_ms is None or report.time_ms is None:
            return report
        behind_ms = int(self.cluster.clock() * MS) - report.sent_ms
        with self._guard:
            known_ms = self._behind_ms.get(report.group, 0)
            if abs(behind_ms - known_ms) > UNSURE_MS:
                known_ms = behind_ms if abs(behind_ms) > UNSURE_MS else 0
                self._behind_ms[report.group] = known_ms
        return msgspec.structs.replace(report, time_ms=report.time_ms + known_ms)

    def offer(self, report: Report) -> bool:
        """Put a report into the inbox; False if that is full."""
        with self._guard:
            if self.waiting + _size(report) > MOST_WAITING:
                return False
            self.waiting += _size(report)
            self.inbox.append(report)
            if not self._knows(report.group):
                self.coming.add(report.group)
        self.arrived.set()
        return True

    def has_room(self, group: str) -> bool:
        """Whether it is known, or there is room for another one."""
        known = max(len(self.cluster.windows.pairs.groups), len(self.cluster.queries))
        room = self.cluster.windows.limits.groups - known - len(self.coming)
        return room > 0 or group in self.coming or self._knows(group)

    def _knows(self, group: str) -> bool:
        return self.cluster.windows.pairs.groups.find(group) >= 0 or group in self.cluster.queries

    def collect(self, most: float = math.inf) -> list[Report]:
        """All that has come, or the first part of it."""
        found, size = list[Report](), 0
        with self._guard:
            while self.inbox and size < most:
                found.append(self.inbox.popleft())
                size += _size(found[-1])
            self.waiting -= size
            if not self.inbox:
                self.arrived.clear()
        return found

    def begin(self) -> None:
        """Continue with the groups of the snapshot."""
        cluster, name = self.cluster, self.settings.name
        with cluster.lock:
            self.resumed_s, self.began_s = cluster.restored_s, cluster.clock()
            if self.resumed_s:
                cluster.away_ms = int(self.resumed_s * MS), int(self.began_s * MS)
            if cluster.outside_groups.get(name) is None:
                cluster.outside_groups[name] = {*cluster.restored_outside_groups.get(name, ())}
        self.is_caught_up = True
        forget_vanished(cluster)

    def fold(self, reports: Sequence[Report]) -> None:
        """Fold reports in the order in which they came."""
        cluster, queries = self.cluster, dict[str, QueryFacts]()
        now = cluster.clock()
        with cluster.lock:
            commits = list[OutsideCommit]()
            for report in reports:
                time_ms = int(now * MS) if report.time_ms is None else report.time_ms
                known = queries.get(report.group) or cluster.queries.get(report.group)
                if known is None or time_ms > known.seen_ms:
                    self._note_late(report.group, now - time_ms / MS)
                if report.query or known is None or known.origin == "report":
                    facts = _facts(report.query, min(time_ms, int(now * MS)), int(now * MS))
                    queries[report.group] = followed_by(queries.get(report.group), facts)
                commits += self._commits(report, time_ms, int(now * MS))
                self._heard.add(report.group)
            steps.fold_outside_changes(self, OutsideChanges(commits, {}, Counter(), queries), now)
            reported = {report.group for report in reports}
            self._known_groups.update(reported)
            self._prune(now)
        with self._guard:
            self.coming -= reported

    def _note_late(self, group: str, late_s: float) -> None:
        if late_s > UNSURE_MS / MS:
            self._late_s[group] = late_s
        else:
            self._late_s.pop(group, None)

    @property
    def _known_groups(self) -> set[str]:
        groups = self.cluster.outside_groups[self.settings.name]
        assert groups is not None  # noqa: S101  since it began
        return groups

    def _prune(self, now: float) -> None:
        """Now and then forget groups that are gone: there may be many."""
        if 0 <= now - self._pruned_s < PRUNED_EVERY_S:
            return
        self._pruned_s = now
        ours = {each for each in self._known_groups if self._knows(each)}
        self.cluster.outside_groups[self.settings.name] = ours
        self._heard &= ours
        for by_group in (self._complete_ms, self._behind_ms, self._late_s):
            for group in by_group.keys() - ours:
                by_group.pop(group)

    def _commits(self, report: Report, time_ms: int, now_ms: int) -> Iterator[OutsideCommit]:
        """What is new in it: a report may come twice, and after newer ones."""
        group, windows, order = report.group, self.cluster.windows, order_at(time_ms)
        before_ms = self._complete_ms.get(group, -1)
        # An idle query may stand there for longer than commits are kept.
        committed_ms = max(min(time_ms, now_ms), now_ms - (windows.expire_group_s - 1) * MS)
        for topic, partition, offset in report.offsets:
            key = OutsideKey(group, topic, partition)
            if time_ms >= before_ms and not is_held(windows, key, order):
                yield OutsideCommit(key, offset, committed_ms, order)
        if report.is_complete and time_ms > before_ms:
            self._complete_ms[group] = time_ms
            there = {(topic, partition) for topic, partition, _ in report.offsets}
            for place, placed in placed_ms(windows, group).items():
                if place not in there and placed < time_ms:
                    yield OutsideCommit(OutsideKey(group, *place), None, 0, 0)


def _size(report: Report) -> int:
    return max(len(report.offsets), 1)


def _facts(news: QueryNews | None, seen_ms: int, now_ms: int) -> QueryFacts:
    late_ms = now_ms - seen_ms
    if news is None:
        return QueryFacts(origin="report", seen_ms=seen_ms, late_ms=late_ms)
    known = msgspec.structs.asdict(news)
    has_ended = known.pop("has_ended")
    return QueryFacts(
        **known,
        seen_ms=seen_ms,
        late_ms=late_ms,
        ended_ms=seen_ms if has_ended else None,
        error_ms=seen_ms if news.error else None,
    )


def reported_consumers(
    config: Config, clusters: Mapping[str, ClusterState]
) -> dict[str, ReportedConsumer]:
    """The consumers of class http, by name."""
    consumers = {
        name: ReportedConsumer(
            consumer,
            clusters[consumer.cluster],
            Accepts(consumer.groups, config.storage.groups),
        )
        for name, consumer in config.consumers.items()
        if consumer.class_name == "http"
    }
    for name, each in consumers.items():
        each.cluster.outside_groups[name] = None
    return consumers


class ReportReader:
    """The thread that folds what has been reported."""

    def __init__(self, consumer: ReportedConsumer, changed: Callable[[], None]) -> None:
        self._consumer = consumer
        self._changed = changed

    def run(self, stop: threading.Event) -> None:
        self._consumer.begin()
        self._changed()
        while not stop.wait(PAUSE_S):
            while reports := self._consumer.collect(FOLDED_AT_ONCE):
                self._consumer.fold(reports)
                self._changed()


class ReportCheck:
    """Checks reports against the clusters that take them."""

    def __init__(self, consumers: Sequence[ReportedConsumer]) -> None:
        self._consumers = consumers

    def take(self, reports: Sequence[Report]) -> Taken:
        """Keep what is right; each that is wrong is refused with the reason."""
        if not self._consumers:
            return Taken(404, NOWHERE)
        kept, refused = 0, list[Refusal]()
        for each in reports:
            consumer = self._consumer(each)
            report = each if isinstance(consumer, str) else consumer.by_our_clock(each)
            why = consumer if isinstance(consumer, str) else _wrong_time(consumer, report)
            if isinstance(consumer, str) or why:
                refused.append(Refusal(report.item, why))
                continue
            right = list[tuple[str, int, int]]()
            for offset, why in _checked(consumer, report):
                if why:
                    refused.append(Refusal(report.item, why))
                else:
                    right.append(offset)
            if (right or report.query) and not consumer.offer(_only(report, right)):
                return Taken(503, BUSY)
            kept += len(right)
        return Taken(200, "", kept, refused[:MOST_REFUSALS], len(refused))

    def _consumer(self, report: Report) -> ReportedConsumer | str:
        """Who takes this report, or why nobody does."""
        group, clusters = report.group, sorted({each.cluster.name for each in self._consumers})
        if not report.cluster and len(clusters) > 1:
            return f"it must name its cluster, one of: {', '.join(clusters)}"
        cluster = report.cluster or clusters[0]
        takers = [each for each in self._consumers if each.cluster.name == cluster]
        if not takers:
            return f"cluster {cluster!r} takes no reports; these do: {', '.join(clusters)}"
        taker = next((each for each in takers if each.accepts(group)), None)
        if taker is None:
            return f"group {group!r} is left out by group-allowlist or group-denylist"
        return _wrong_group(taker, group) or taker


def _wrong_group(consumer: ReportedConsumer, group: str) -> str:
    if consumer.has_room(group):
        return ""
    windows = consumer.cluster.windows
    windows.dropped[NO_ROOM] += 1
    return f"there is no room for another group: max-groups is {windows.limits.groups:.0f}"


def _wrong_time(consumer: ReportedConsumer, report: Report) -> str:
    time_ms = report.time_ms
    if time_ms is None:
        return ""
    cluster = consumer.cluster
    now_ms, longest_s = int(cluster.clock() * MS), cluster.windows.expire_group_s
    if time_ms > now_ms + AHEAD_MS:
        return f"time {time_ms} is in the future: here it is {now_ms}"
    longest_ms = longest_s * MS if report.sent_ms is None else IDLE_MS
    if time_ms < now_ms - longest_ms:
        hint = "; is it in seconds? it must be milliseconds" if 0 < time_ms < 10**10 else ""
        return f"time {time_ms} is more than expire-group, {longest_s} s, ago{hint}"
    return ""


def _checked(
    consumer: ReportedConsumer, report: Report
) -> Iterator[tuple[tuple[str, int, int], str]]:
    """Each offset, and what is wrong with it; until topics have been listed it may wait for its."""
    cluster = consumer.cluster
    topics = cluster.topics
    for offset in report.offsets:
        topic, partition, _ = offset
        count = None if topics is None else topics.counts.get(topic, 0)
        if topics is None or (count and partition < count) or topic in topics.hidden:
            yield offset, ""
            continue
        age_s = max(cluster.clock() - cluster.topics_s, 0)
        as_of = f"in cluster {cluster.name}, as listed {age_s:.0f} s ago"
        has = f"has partitions 0 to {count - 1}" if count else "does not exist"
        yield offset, f"{topic}:{partition}: topic {topic} {has} {as_of}"


def _only(report: Report, offsets: list[tuple[str, int, int]]) -> Report:
    """The report without what was refused; then it is not complete either."""
    is_complete = report.is_complete and len(offsets) == len(report.offsets)
    return msgspec.structs.replace(report, offsets=offsets, is_complete=is_complete)
