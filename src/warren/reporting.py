"""One `[consumer.*]` whose commits do not come from the offsets topic, and how that goes."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import pyarrow as pa

from warren.cluster import Accepts, Cluster
from warren.config import Config, Consumer
from warren.sources.reported import Commit, Key, Layout
from warren.sources.skips import Skips
from warren.sources.storm import StormLayout
from warren.sources.zookeeper import ZookeeperLayout
from warren.windows.precedence import Precedence, groups_outside, held_outside, outside_order


@dataclass
class Reporting:
    settings: Consumer
    cluster: Cluster
    accepts: Accepts
    period_s: float = 0.0  # between polls
    precedence: Precedence = field(default_factory=Precedence)
    skips: Skips = field(default_factory=Skips)
    records: int = 0  # commits and removals since the start
    is_caught_up: bool = False  # or has been once
    is_behind: bool = False  # what changed while there was no connection is not read yet
    problem: str = ""
    restarts: int = 0

    def that_count(self, commits: list[Commit]) -> pa.Table:
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

    def _counts(self, commit: Commit) -> bool:
        windows, precedence = self.cluster.windows, self.precedence
        if commit.offset is None:
            return precedence.lets_go(windows, commit.key)
        order = outside_order(commit.order)
        return precedence.admits(windows, commit.key, commit.committed_ms, order)

    def groups_of_others(self) -> set[str]:
        """The groups that the cluster's other consumers outside Kafka have."""
        others = (
            groups for name, groups in self.cluster.elsewhere.items() if name != self.settings.name
        )
        return set[str]().union(*(groups for groups in others if groups))

    def held_besides(self, there: Mapping[str, AbstractSet[tuple[str, int]]]) -> list[Commit]:
        """The removal of all that windows of these groups hold from outside and is not there."""
        held, _ = held_outside(self.cluster.windows)
        return [
            Commit(Key(group, topic, partition), None, 0, 0)
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


def reportings(config: Config, clusters: Mapping[str, Cluster]) -> dict[str, Reporting]:
    """All that a configuration asks for, by name."""
    made = {
        name: Reporting(
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


def groups_by_consumer(cluster: Cluster) -> dict[str, frozenset[str]]:
    """Of whom each consumer outside Kafka tells; one that has not yet, of all that nobody claims.

    Hold the cluster's lock.
    """
    told = {name: frozenset(groups or ()) for name, groups in cluster.elsewhere.items()}
    untold = [name for name, groups in cluster.elsewhere.items() if groups is None]
    if untold:
        unclaimed = groups_outside(cluster.windows).difference(*told.values())
        told |= dict.fromkeys(untold, frozenset(unclaimed))
    return told


def forget_vanished(cluster: Cluster) -> None:
    """Drop what ended outside Kafka while nobody watched, such as between two runs."""
    with cluster.lock:
        told = [*cluster.elsewhere.values()]
        if None not in told:
            there: set[str] = set().union(*(groups for groups in told if groups))
            for group in groups_outside(cluster.windows) - there:
                cluster.windows.delete_group(group)
