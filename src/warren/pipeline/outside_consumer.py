"""A `[consumer.*]` whose commits come from elsewhere: ZooKeeper, or polls of the brokers."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from warren.config import Config, Consumer
from warren.model.arrays import Floats, Ints
from warren.pipeline.cluster import Accepts, ClusterState
from warren.sources.outside_changes import Layout, OutsideCommit, OutsideKey
from warren.sources.progress import Skips
from warren.sources.zookeeper_layouts import StormLayout, ZookeeperLayout
from warren.windows.precedence import Precedence, groups_outside, held_outside, outside_order


@dataclass
class OutsideConsumer:
    """A `[consumer.*]` that watches ZooKeeper or polls the brokers, and its progress."""

    settings: Consumer
    cluster: ClusterState
    accepts: Accepts
    period_s: float = 0.0  # between polls
    precedence: Precedence = field(default_factory=Precedence)
    skips: Skips = field(default_factory=Skips)
    records: int = 0  # commits and removals since the start
    is_caught_up: bool = False  # stays true once reached
    is_behind: bool = False  # changes made while disconnected are not all read yet
    problem: str = ""
    restarts: int = 0
    read_s: float = -math.inf  # every commit before this moment has been folded
    answered_s: dict[str, float] = field(default_factory=dict)  # the same, by polled group
    polled_s: float = -math.inf  # start of the last poll that finished
    not_read: Mapping[str, str] = field(default_factory=dict)  # of files, some, and why

    def read_until_s(self, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group have been read; minus infinity: unknown."""
        restored_s = self.cluster.restored_s or -math.inf
        moments = (max(self.answered_s.get(each, self.read_s), restored_s) for each in groups)
        return np.fromiter(moments, np.float64, len(groups))

    def behind_s(self, now: float) -> float | None:
        """How old the newest complete reading is; None: there is none yet."""
        as_of = self.all_read_s
        return max(now - as_of, 0) if math.isfinite(as_of) else None

    @property
    def all_read_s(self) -> float:
        """Up to when all groups have been read; a poll leaves out groups that cannot answer."""
        return max(self.read_s, self.polled_s)

    def read_before_ms(self, commits: pa.Table) -> Ints:
        """For each commit, up to when its group had been read before."""
        moments = np.maximum(self.read_until_s(commits["group"].to_pylist()), 0)
        read_before_ms: Ints = (moments * 1000).astype(np.int64)
        return read_before_ms

    def commits_to_fold(self, commits: list[OutsideCommit]) -> pa.Table:
        """The commits and removals that may change a window; hold the cluster's lock."""
        counted = [commit for commit in commits if self._counts(commit)]
        return pa.table(
            {
                "group": pa.array([commit.key.group for commit in counted], pa.string()),
                "topic": pa.array([commit.key.topic for commit in counted], pa.string()),
                "partition": pa.array([commit.key.partition for commit in counted], pa.int32()),
                "offset": pa.array([commit.offset for commit in counted], pa.int64()),
                "committed_ms": pa.array([commit.committed_ms for commit in counted], pa.int64()),
                "order": pa.array([outside_order(commit.order) for commit in counted], pa.int64()),
            }
        )

    def _counts(self, commit: OutsideCommit) -> bool:
        windows, precedence = self.cluster.windows, self.precedence
        if commit.offset is None:
            return precedence.admits_removal(windows, commit.key)
        order = outside_order(commit.order)
        return precedence.admits(windows, commit.key, commit.committed_ms, order)

    def follows(self, group: str) -> bool:
        """Whether commits of this group come from here, or may, until all groups are known."""
        known = self.cluster.outside_groups.get(self.settings.name)
        return self.accepts(group) and (known is None or group in known)

    def groups_of_others(self) -> set[str]:
        """The groups of the cluster's other outside consumers."""
        others = (
            groups
            for name, groups in self.cluster.outside_groups.items()
            if name != self.settings.name
        )
        return set[str]().union(*(groups for groups in others if groups))

    def removals_of_absent(
        self, there: Mapping[str, AbstractSet[tuple[str, int]]]
    ) -> list[OutsideCommit]:
        """Removals for the partitions that these groups' windows hold but are no longer there."""
        held, _ = held_outside(self.cluster.windows)
        return [
            OutsideCommit(OutsideKey(group, topic, partition), None, 0, 0)
            for group in there.keys() & held.keys()
            for topic, partition in sorted(held[group].keys() - there[group])
        ]

    @property
    def is_polled(self) -> bool:
        """Whether it polls the brokers; otherwise it watches ZooKeeper."""
        return self.settings.class_name == "kafka_admin"

    @property
    def layout(self) -> Layout:
        kind = StormLayout if self.settings.class_name == "storm" else ZookeeperLayout
        return kind(self.settings.zookeeper_path, self.accepts)


def outside_consumers(
    config: Config, clusters: Mapping[str, ClusterState]
) -> dict[str, OutsideConsumer]:
    """The outside consumers of a configuration, by name."""
    consumers = {
        name: OutsideConsumer(
            consumer,
            clusters[consumer.cluster],
            Accepts(consumer.groups, config.storage.groups),
            consumer.group_refresh or config.clusters[consumer.cluster].offset_refresh,
        )
        for name, consumer in config.consumers.items()
        if consumer.class_name not in {"kafka", "http"}
    }
    for name, outside_consumer in consumers.items():
        outside_consumer.cluster.outside_groups[name] = None
    return consumers


def groups_by_consumer(cluster: ClusterState) -> dict[str, frozenset[str]]:
    """The groups of each outside consumer; one that has read none yet gets all unclaimed groups.

    Hold the cluster's lock.
    """
    by_consumer = {name: frozenset(groups or ()) for name, groups in cluster.outside_groups.items()}
    unread = [name for name, groups in cluster.outside_groups.items() if groups is None]
    if unread:
        unclaimed = groups_outside(cluster.windows).difference(*by_consumer.values())
        by_consumer |= dict.fromkeys(unread, frozenset(unclaimed))
    return by_consumer


def forget_vanished(cluster: ClusterState) -> None:
    """Delete outside groups that ended while we did not watch, such as between two runs."""
    with cluster.lock:
        known = [*cluster.outside_groups.values()]
        if None not in known:
            there: set[str] = set().union(*(groups for groups in known if groups))
            for group in groups_outside(cluster.windows) - there:
                cluster.windows.delete_group(group)
