"""What is kept of one cluster between batches. Several threads change it: hold `lock` to do so."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from warren.config import GroupFilter, Storage
from warren.sources.log_ends import TopicListing
from warren.windows.group_members import Membership
from warren.windows.limits import NO_ROOM, Limits
from warren.windows.windows import Windows

log = structlog.get_logger()

REMEMBERED = 1_000_000  # names; a flood of invented groups must not fill the memory


@dataclass
class ClusterState:
    name: str
    windows: Windows
    stores: GroupFilter = field(default_factory=GroupFilter)  # which groups
    membership: Membership = field(default_factory=Membership)
    topics: TopicListing | None = None  # None: no broker has answered yet
    topics_s: float = 0.0  # when they were listed
    topics_before_s: float = 0.0  # and the time before: one listing proves nothing
    ends_s: float = 0.0  # when the log ends were read last
    missing: Mapping[tuple[str, int], str] = field(default_factory=dict)  # ends not had, and why
    restored_s: float = 0.0  # when the snapshot was made that it goes on from, until it is current
    # Groups that are kept outside Kafka, by consumer; None: not read yet.
    elsewhere: dict[str, set[str] | None] = field(default_factory=dict)
    elsewhere_before: dict[str, set[str]] = field(default_factory=dict)  # as the last run knew it
    problem: str = ""  # why the brokers do not answer, if so
    silent_brokers: list[int] = field(default_factory=list)  # while others answer
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


def new_cluster(name: str, storage: Storage) -> ClusterState:
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
    return ClusterState(name, windows, storage.groups, Membership(limits))
