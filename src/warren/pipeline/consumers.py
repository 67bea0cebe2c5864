"""One `[consumer.*]` whose commits do not come from the offsets topic, and how that goes."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from warren.config import Config, Consumer
from warren.pipeline.cluster import Accepts, ClusterState, Floats, Ints, TopicConsumer
from warren.sources.outside_changes import Layout, OutsideCommit, OutsideKey
from warren.sources.progress import Skips
from warren.sources.zookeeper_layouts import StormLayout, ZookeeperLayout
from warren.windows.precedence import Precedence, groups_outside, held_outside, outside_order
from warren.windows.windows import Windows


@dataclass
class OutsideConsumer:
    settings: Consumer
    cluster: ClusterState
    accepts: Accepts
    period_s: float = 0.0  # between polls
    precedence: Precedence = field(default_factory=Precedence)
    skips: Skips = field(default_factory=Skips)
    records: int = 0  # commits and removals since the start
    is_caught_up: bool = False  # or has been once
    is_behind: bool = False  # what changed while there was no connection is not read yet
    problem: str = ""
    restarts: int = 0
    read_s: float = -math.inf  # all that was committed before this moment has been folded
    answered_s: dict[str, float] = field(default_factory=dict)  # the same of groups asked singly
    polled_s: float = -math.inf  # when the last poll of these began that came to its end

    def read_until_s(self, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group are known; minus infinity: nobody knows."""
        restored_s = self.cluster.restored_s or -math.inf
        moments = (max(self.answered_s.get(each, self.read_s), restored_s) for each in groups)
        return np.fromiter(moments, np.float64, len(groups))

    def behind_s(self, now: float) -> float | None:
        """How old what is known of its groups is; None: nothing is yet."""
        as_of = self.all_read_s
        return max(now - as_of, 0) if math.isfinite(as_of) else None

    @property
    def all_read_s(self) -> float:
        """Up to when everything is known; who cannot be asked is left out of a poll."""
        return max(self.read_s, self.polled_s)

    def read_before_ms(self, commits: pa.Table) -> Ints:
        """Up to when commits had been read before these came."""
        moments = np.maximum(self.read_until_s(commits["group"].to_pylist()), 0)
        read_before_ms: Ints = (moments * 1000).astype(np.int64)
        return read_before_ms

    def that_count(self, commits: list[OutsideCommit]) -> pa.Table:
        """Those that are to change windows, and removals that are: hold the cluster's lock."""
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
            return precedence.lets_go(windows, commit.key)
        order = outside_order(commit.order)
        return precedence.admits(windows, commit.key, commit.committed_ms, order)

    def follows(self, group: str) -> bool:
        """Whether this consumer tells of a group, or may, while that is not known."""
        told = self.cluster.elsewhere.get(self.settings.name)
        return self.accepts(group) and (told is None or group in told)

    def groups_of_others(self) -> set[str]:
        """The groups that the cluster's other consumers outside Kafka have."""
        others = (
            groups for name, groups in self.cluster.elsewhere.items() if name != self.settings.name
        )
        return set[str]().union(*(groups for groups in others if groups))

    def held_besides(
        self, there: Mapping[str, AbstractSet[tuple[str, int]]]
    ) -> list[OutsideCommit]:
        """The removal of all that windows of these groups hold from outside and is not there."""
        held, _ = held_outside(self.cluster.windows)
        return [
            OutsideCommit(OutsideKey(group, topic, partition), None, 0, 0)
            for group in there.keys() & held.keys()
            for topic, partition in sorted(held[group].keys() - there[group])
        ]

    @property
    def is_asked(self) -> bool:
        """Whether the brokers are asked for it, and not ZooKeeper."""
        return self.settings.class_name == "kafka_admin"

    @property
    def layout(self) -> Layout:
        kind = StormLayout if self.settings.class_name == "storm" else ZookeeperLayout
        return kind(self.settings.zookeeper_path, self.accepts)


@dataclass(frozen=True)
class Sources:
    """All that tell of a cluster's groups."""

    followings: Sequence[TopicConsumer] = ()
    reportings: Sequence[OutsideConsumer] = ()

    def read_until_s(self, windows: Windows, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group are read, by whoever has read most of them."""
        if not self.followings or not self.reportings:
            return _latest(self.followings or self.reportings, groups)
        outside = groups_outside(windows)
        is_outside = np.fromiter((group in outside for group in groups), np.bool_, len(groups))
        told = (_latest(each, groups) for each in (self.reportings, self.followings))
        return np.where(is_outside, *told)

    def all_read_s(self) -> float:
        """Up to when everything of everybody is read."""
        read = [each.progress.read_until_s(each.progress.position) for each in self.followings]
        read += [each.all_read_s for each in self.reportings]
        return min(read, default=math.inf)


def _latest(sources: Sequence[TopicConsumer | OutsideConsumer], groups: Sequence[str]) -> Floats:
    """By whoever has read most; groups that nobody reads are as they are now."""
    moments = np.full(len(groups), -math.inf if sources else math.inf)
    for each in sources:
        its = [at for at, group in enumerate(groups) if each.follows(group)]
        moments[its] = np.maximum(moments[its], each.read_until_s([groups[at] for at in its]))
    return moments


def outside_consumers(
    config: Config, clusters: Mapping[str, ClusterState]
) -> dict[str, OutsideConsumer]:
    """All that a configuration asks for, by name."""
    made = {
        name: OutsideConsumer(
            consumer,
            clusters[consumer.cluster],
            Accepts(consumer.groups, config.storage.groups),
            consumer.group_refresh or config.clusters[consumer.cluster].offset_refresh,
        )
        for name, consumer in config.consumers.items()
        if consumer.class_name != "kafka"
    }
    for name, reporting in made.items():
        reporting.cluster.elsewhere[name] = None
    return made


def groups_by_consumer(cluster: ClusterState) -> dict[str, frozenset[str]]:
    """Of whom each consumer outside Kafka tells; one that has not yet, of all that nobody claims.

    Hold the cluster's lock.
    """
    told = {name: frozenset(groups or ()) for name, groups in cluster.elsewhere.items()}
    untold = [name for name, groups in cluster.elsewhere.items() if groups is None]
    if untold:
        unclaimed = groups_outside(cluster.windows).difference(*told.values())
        told |= dict.fromkeys(untold, frozenset(unclaimed))
    return told


def forget_vanished(cluster: ClusterState) -> None:
    """Drop what ended outside Kafka while nobody watched, such as between two runs."""
    with cluster.lock:
        told = [*cluster.elsewhere.values()]
        if None not in told:
            there: set[str] = set().union(*(groups for groups in told if groups))
            for group in groups_outside(cluster.windows) - there:
                cluster.windows.delete_group(group)
