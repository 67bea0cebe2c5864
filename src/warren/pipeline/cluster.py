"""The state of one cluster between batches. Several threads change it: hold `lock` to do so."""

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

MAX_REMEMBERED = 1_000_000  # groups; a flood of invented names must not fill the memory


@dataclass
class ClusterState:
    name: str
    windows: Windows
    stores: GroupFilter = field(default_factory=GroupFilter)  # the groups that are stored
    membership: Membership = field(default_factory=Membership)
    topics: TopicListing | None = None  # None: no broker has answered yet
    topics_s: float = 0.0  # when they were listed
    topics_before_s: float = 0.0  # and the time before: one listing proves nothing
    ends_s: float = 0.0  # when the log ends were read last
    missing: Mapping[tuple[str, int], str] = field(default_factory=dict)  # log ends, and why
    restored_s: float = 0.0  # time of the restored snapshot; 0 once the cluster has caught up
    # The groups whose commits come from outside Kafka's topic, by consumer; None: not read yet.
    outside_groups: dict[str, set[str] | None] = field(default_factory=dict)
    restored_outside_groups: dict[str, set[str]] = field(default_factory=dict)  # of the last run
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
