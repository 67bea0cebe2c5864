"""What is kept of one cluster between batches. Several threads change it: hold `lock` to do so."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog
from confluent_kafka import IsolationLevel

from warren.config import Consumer, GroupFilter, Storage
from warren.sources import log_ends
from warren.sources.log_ends import Topics
from warren.sources.progress import Progress
from warren.sources.skips import Skips
from warren.windows.limits import NO_ROOM, Limits
from warren.windows.membership import Membership
from warren.windows.windows import Windows

log = structlog.get_logger()

REMEMBERED = 1_000_000  # names; a flood of invented groups must not fill the memory


@dataclass
class Cluster:
    name: str
    windows: Windows
    stores: GroupFilter = field(default_factory=GroupFilter)  # which groups
    membership: Membership = field(default_factory=Membership)
    topics: Topics | None = None  # None: no broker has answered yet
    topics_s: float = 0.0  # when they were listed
    ends_s: float = 0.0  # when the log ends were read last
    missing: Mapping[tuple[str, int], str] = field(default_factory=dict)  # ends not had, and why
    restored_s: float = 0.0  # when the snapshot was made that it goes on from, until it is current
    # Groups that are kept outside Kafka, by consumer; None: not read yet.
    elsewhere: dict[str, set[str] | None] = field(default_factory=dict)
    elsewhere_before: dict[str, set[str]] = field(default_factory=dict)  # as the last run knew it
    problem: str = ""  # why the brokers do not answer, if so
    restarts: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    clock: Callable[[], float] = time.time
    _told_no_room: int = 0

    def tell_no_room(self) -> None:
        """Log, once an episode, that a limit keeps something out."""
        dropped = self.windows.dropped[NO_ROOM]
        if dropped > self._told_no_room:
            log.warning(
                "a limit is reached: what is new is left out until groups go",
                cluster=self.name,
                dropped_commits=dropped,
                **self.windows.held(),
            )
        self._told_no_room = dropped

    def told_elsewhere(self) -> dict[str, set[str]]:
        """Groups outside Kafka, of this run, or of the last one if they are not read yet."""
        now = {name: groups for name, groups in self.elsewhere.items() if groups is not None}
        return self.elsewhere_before | now

    @property
    def waits_for_topics(self) -> bool:
        """Whether commits or owners are held until a topic is known."""
        return bool(len(self.windows.waiting)) or self.membership.waits_for_topics


@dataclass
class Following:
    """One `[consumer.*]` of a cluster and how far its reading has come."""

    settings: Consumer
    cluster: Cluster
    accepts: "Accepts"
    progress: Progress = field(default_factory=Progress)
    skips: Skips = field(default_factory=Skips)
    heard: set[str] | None = None  # groups read about live, while the past is read beside it
    is_backfill: bool = False  # reads what was there before the live reading began
    is_new_topic: bool = False  # the topic was missing once: nothing in it is from before our time
    read_id: UUID | None = None  # of the topic that the positions are of
    _held_back: set[int] = field(default_factory=set)

    def backfill(self) -> "Following":
        """The same, for reading the past beside the present."""
        return replace(self, progress=Progress(), is_backfill=True)

    @property
    def lacks_topic(self) -> bool:
        """Whether the cluster has no offsets topic; Kafka makes it with the first commit."""
        topics = self.cluster.topics
        return topics is not None and self.settings.offsets_topic not in topics.counts

    @property
    def topic_id(self) -> UUID | None:
        """Of the offsets topic there is now; brokers before Kafka 2.8 have none."""
        topics = self.cluster.topics
        return topics.ids.get(self.settings.offsets_topic) if topics else None

    @property
    def is_made_anew(self) -> bool:
        """Whether the topic is another than the one that was read."""
        return None not in (self.read_id, self.topic_id) and self.read_id != self.topic_id

    @property
    def leaders(self) -> dict[tuple[str, int], int]:
        """The partitions of the offsets topic that can be read, and who has them."""
        topics = self.cluster.topics
        return topics.leaders_of(self.settings.offsets_topic) if topics else {}

    def hears(self, group: str) -> bool:
        """Whether a record about this group counts: the past does not overrule the present."""
        if not self.accepts(group):
            return False
        if self.heard is None:
            return True
        if self.is_backfill:
            return group not in self.heard
        self.heard.add(group)
        return True

    def follows(self, group: str) -> bool:
        """Whether this consumer may have told of a group; its own reading is one as well."""
        return self.accepts(group) or group == self.own_group

    @property
    def isolation(self) -> IsolationLevel:
        reads_committed = self.settings.isolation_level == "read-committed"
        return log_ends.COMMITTED if reads_committed else log_ends.UNCOMMITTED

    @property
    def own_group(self) -> str:
        """Burrow reports its own reading as a group of this name."""
        return f"burrow-{self.settings.name}"

    @property
    def reports_itself(self) -> bool:
        """Whether the storage takes that group; the consumer's own lists are about others."""
        return self.cluster.stores.accepts(self.own_group)

    def tell_held_back(self, now: float) -> None:
        """Log each partition that a hanging transaction begins, or ceases, to hold back."""
        with self.cluster.lock:
            held = set(self.progress.held_back(now))
            ends = dict(self.progress.stable)
        told = log.bind(coordinator="consumer", name=self.settings.name)
        for partition in sorted(held ^ self._held_back):
            at = {"partition": partition, "offset": ends.get(partition)}
            if partition in held:
                told.warning("offsets partition is held back by a hanging transaction", **at)
            else:
                told.info("offsets partition is free again", **at)
        self._held_back = held


class Accepts:
    """Whether a group passes the lists of its consumer and of the storage."""

    def __init__(self, *filters: GroupFilter) -> None:
        self._filters = [each for each in filters if each != GroupFilter()]
        self._known: dict[str, bool] = {}

    @property
    def everything(self) -> bool:
        return not self._filters

    def __call__(self, group: str) -> bool:
        known = self._known.get(group)
        if known is None:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            known = self._known[group] = all(each.accepts(group) for each in self._filters)
        return known


def new_cluster(name: str, storage: Storage) -> Cluster:
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
    return Cluster(name, windows, storage.groups, Membership(limits))
