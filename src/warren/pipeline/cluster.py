"""The state of one cluster between batches. Several threads change it: hold `lock` to do so."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from warren.config import GroupFilter, Storage
from warren.evaluate.outlook import Retention
from warren.model.arrays import Mask
from warren.model.numbers import Lack, Method, PartitionNumbers
from warren.model.policies import Policy
from warren.model.probe_answers import Targets
from warren.model.query_facts import QueryFacts, followed_by, gone_groups
from warren.model.topic_facts import ClusterFacts, TopicFacts
from warren.model.window_arrays import WindowArrays
from warren.sources.log_edges import EdgeTurns
from warren.sources.log_ends import TopicListing
from warren.windows import probed
from warren.windows.group_lives import GroupLives
from warren.windows.group_members import Membership
from warren.windows.limits import NO_ROOM, Limits
from warren.windows.policy_lines import NO_POLICIES, PolicyBook
from warren.windows.windows import Windows

log = structlog.get_logger()

MS = 1000


class TopicRetention:
    """How long topics keep records, by their number; found anew when the configurations change."""

    def __init__(self) -> None:
        self._known: tuple[ClusterFacts, tuple[str, ...]] | None = None
        self._of_topics = Retention(np.zeros(0), *np.zeros((2, 0), np.bool_))

    def of_lines(self, facts: ClusterFacts, view: WindowArrays) -> Retention:
        known = self._known
        if known is None or known[0] is not facts or known[1] is not view.topics:
            self._known = facts, view.topics
            each = [facts.topics.get(topic) for topic in view.topics]
            self._of_topics = Retention(
                np.array([_seconds(topic) for topic in each], np.float64),
                np.array([bool(topic and topic.is_compacted) for topic in each], np.bool_),
                np.array([bool(topic and topic.is_deleted_by_size) for topic in each], np.bool_),
            )
        return self._of_topics.of(np.repeat(view.pair_topic, view.pair_count))


def _seconds(topic: TopicFacts | None) -> float:
    """Infinite: records do not get too old; NaN: nobody knows."""
    if topic is None:
        return math.nan
    return (topic.retention_ms or 0) / MS if topic.is_deleted_by_time else math.inf


MAX_REMEMBERED = 1_000_000  # groups; a flood of invented names must not fill the memory


@dataclass
class ChosenTargets:
    """Partitions of groups whose records may say more than commits and log ends."""

    tails: Targets | None = None  # maybe there are only markers; None: taken
    times: Targets | None = None  # too old for our own clock
    refused: frozenset[str] = frozenset()  # topics whose records may not be read
    _ends_s: float = 0.0  # of the round of log ends that they were chosen in
    _random: np.random.Generator = field(default_factory=np.random.default_rng)

    def choose(
        self, windows: Windows, view: WindowArrays, lines: PartitionNumbers, ends_s: float
    ) -> None:
        """Choose once for every round of log ends, which was at `ends_s`."""
        if self._ends_s == ends_s:
            return
        self._ends_s = ends_s
        is_old = (lines.lack & np.uint8(Lack.NO_HISTORY)) > 0
        is_old |= lines.age_method == np.uint8(Method.BY_CLOCK)
        self.tails = probed.tails(windows, view, self.refused, self._random)
        self.times = probed.times(windows, view, is_old & (lines.lag > 0), self._random)


@dataclass
class ClusterState:
    name: str
    windows: Windows
    stores: GroupFilter = field(default_factory=GroupFilter)  # the groups that are stored
    membership: Membership = field(default_factory=Membership)
    lives: GroupLives = field(default_factory=GroupLives)
    policies: PolicyBook = NO_POLICIES
    topics: TopicListing | None = None  # None: no broker has answered yet
    topics_s: float = 0.0  # when they were listed
    topics_before_s: float = 0.0  # and the time before: one listing proves nothing
    ends_s: float = 0.0  # when the log ends were read last
    missing: Mapping[tuple[str, int], str] = field(default_factory=dict)  # log ends, and why
    edge_turns: EdgeTurns = field(default_factory=EdgeTurns)  # of log starts and stable ends
    random: np.random.Generator = field(default_factory=np.random.default_rng)
    facts: ClusterFacts = field(default_factory=ClusterFacts)  # as configured
    retention: TopicRetention = field(default_factory=TopicRetention)
    targets: ChosenTargets = field(default_factory=ChosenTargets)
    restored_s: float = 0.0  # time of the restored snapshot; 0 once the cluster has caught up
    # The groups whose commits come from outside Kafka's topic, by consumer; None: not read yet.
    outside_groups: dict[str, set[str] | None] = field(default_factory=dict)
    restored_outside_groups: dict[str, set[str]] = field(default_factory=dict)  # of the last run
    queries: dict[str, QueryFacts] = field(default_factory=dict)  # of groups that have one
    away_ms: tuple[int, int] | None = None  # from when to when no query could report
    problem: str = ""  # why no broker answers; empty: they do
    silent_brokers: list[int] = field(default_factory=list)  # those that do not answer
    restarts: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    clock: Callable[[], float] = time.time
    _logged_no_room: int = 0

    def log_no_room(self) -> None:
        """Warn when a limit has dropped commits since the last call."""
        dropped = self.windows.dropped[NO_ROOM]
        if dropped > self._logged_no_room:
            log.warning(
                "a limit is reached: anything new is dropped until groups expire",
                cluster=self.name,
                dropped_commits=dropped,
                **self.windows.held(),
            )
        self._logged_no_room = dropped

    def known_outside_groups(self) -> dict[str, set[str]]:
        """Outside groups by consumer: as read in this run, or else as restored from the last."""
        read = {name: groups for name, groups in self.outside_groups.items() if groups is not None}
        return self.restored_outside_groups | read

    def note_queries(self, news: Mapping[str, QueryFacts]) -> None:
        """Take in what was learned of queries, by group; hold the lock."""
        for group, facts in news.items():
            if group in self.queries or len(self.queries) < self.windows.limits.groups:
                self.queries[group] = followed_by(self.queries.get(group), facts)

    def reported_groups(
        self, groups: Iterable[str], news: Mapping[str, QueryFacts]
    ) -> dict[str, QueryFacts]:
        """Those whose reports count, and not the news from their checkpoints; hold the lock."""
        now_ms = int(self.clock() * MS)
        moments = {group: news[group].seen_ms if group in news else now_ms for group in groups}
        known = ((group, self.queries.get(group)) for group in groups)
        return {group: each for group, each in known if each and each.overrules(moments[group])}

    def living(self, groups: Sequence[str], now_s: int) -> Mask:
        """By group, whether it has a query that has promised to report, and does; hold the lock."""
        ends_ms = (
            each.gone_ms if (each := self.queries.get(group)) and each.every_s else None
            for group in groups
        )
        now_ms = now_s * MS
        return np.array([end_ms is not None and end_ms > now_ms for end_ms in ends_ms], np.bool_)

    def gone_groups(self, groups: Sequence[str], now_s: int) -> Mask | None:
        """By group, whether its query is gone; None: none is. Forgets queries that expire.

        Hold the lock.
        """
        as_of_s = int(self.restored_s) or now_s
        self._forget_old_queries(as_of_s)
        return gone_groups(self.queries, groups, as_of_s * MS, self.away_ms)

    def _forget_old_queries(self, now_s: int) -> None:
        oldest_ms = (now_s - self.windows.expire_group_s) * MS
        self.forget_queries([n for n, each in self.queries.items() if each.heard_ms < oldest_ms])

    def forget_queries(self, groups: Iterable[str]) -> None:
        """Forget those of groups that are gone; hold the lock."""
        for group in groups:
            self.queries.pop(group, None)

    @property
    def waits_for_topics(self) -> bool:
        """Whether commits or owners wait for their topic to be listed."""
        return bool(len(self.windows.waiting)) or self.membership.waits_for_topics


class Accepts:
    """Tells whether a group passes the allow and deny lists of its consumer and of the storage."""

    def __init__(self, *filters: GroupFilter) -> None:
        self._filters = [each for each in filters if each != GroupFilter()]
        self._known: dict[str, bool] = {}

    @property
    def everything(self) -> bool:
        return not self._filters

    def __call__(self, group: str) -> bool:
        known = self._known.get(group)
        if known is None:
            if len(self._known) > MAX_REMEMBERED:
                self._known.clear()
            known = self._known[group] = all(each.accepts(group) for each in self._filters)
        return known


def new_cluster(name: str, storage: Storage, policies: Iterable[Policy] = ()) -> ClusterState:
    limits = Limits(
        groups=storage.max_groups or math.inf,
        topics=storage.max_topics or math.inf,
        partitions=storage.max_partitions or math.inf,
    )
    windows = Windows(
        intervals=storage.intervals,
        min_distance_s=storage.min_distance,
        expire_group_s=storage.expire_group,
        limits=limits,
    )
    book = PolicyBook(policies, name)
    return ClusterState(name, windows, storage.groups, Membership(limits), policies=book)
