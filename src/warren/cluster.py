"""What is kept of one cluster between batches. Several threads change it: hold `lock` to do so."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog
from confluent_kafka import IsolationLevel

from warren.config import Consumer, GroupFilter, Storage
from warren.sources import log_ends
from warren.sources.log_ends import Topics
from warren.sources.progress import Progress
from warren.sources.skips import Skips
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
    problem: str = ""  # why the brokers do not answer, if so
    restarts: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

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
    windows = Windows(
        intervals=storage.intervals,
        min_distance_s=storage.min_distance,
        expire_group_s=storage.expire_group,
    )
    return Cluster(name, windows, storage.groups)
