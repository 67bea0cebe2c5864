"""Every `[consumer.*]`, and how far its commits have been read.

A `TopicConsumer` reads an offsets topic. The commits of an `OutsideConsumer` come from elsewhere:
from ZooKeeper, or from polling the brokers.
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
import pyarrow as pa
import structlog
from confluent_kafka import IsolationLevel

from warren.config import Config, Consumer
from warren.model.arrays import Floats, Ints
from warren.model.group_events import (
    ClassicGroup,
    Epoch,
    GroupDeleted,
    GroupEvent,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    Protocol,
)
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.group_homes import Homes
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.outside_changes import Layout, OutsideCommit, OutsideKey
from warren.sources.progress import Progress, Skips
from warren.sources.zookeeper_layouts import StormLayout, ZookeeperLayout
from warren.windows.precedence import Precedence, groups_outside, held_outside, outside_order
from warren.windows.windows import Windows

log = structlog.get_logger()


@dataclass
class TopicConsumer:
    """One `[consumer.*]` of a cluster and how far its reading has come."""

    settings: Consumer
    cluster: ClusterState
    accepts: Accepts
    progress: Progress = field(default_factory=Progress)
    skips: Skips = field(default_factory=Skips)
    heard: "Heard | None" = None  # what is read live, while the past is read beside it
    unread_past: set[int] | None = None  # partitions to be back-filled, when they are known
    is_backfill: bool = False  # reads what was there before the live reading began
    homes: Homes = field(default_factory=Homes)
    is_new_topic: bool = False  # the topic was missing once: nothing in it is from before our time
    read_id: UUID | None = None  # of the topic that the positions are of
    _held_back: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.homes.is_copy = self.settings.offsets_topic != OFFSETS_TOPIC

    def backfill(self) -> "TopicConsumer":
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
    def partition_count(self) -> int:
        """Of the offsets topic, partitions without a leader included."""
        topics = self.cluster.topics
        return topics.counts.get(self.settings.offsets_topic, 0) if topics else 0

    @property
    def leaders(self) -> dict[tuple[str, int], int]:
        """The partitions of the offsets topic that can be read, and who has them."""
        topics = self.cluster.topics
        return topics.leaders_of(self.settings.offsets_topic) if topics else {}

    def notice_growth(self) -> None:
        """See how many partitions the topic has; of what was added nothing is from before us."""
        if self.is_backfill:
            return  # the live reading sees to it
        with self.cluster.lock:
            for partition in self.homes.grow(self.cluster.windows, self.partition_count):
                self.progress.position.setdefault(partition, 0)

    def hears(self, event: GroupEvent, partition: int) -> bool:
        """Whether a record about a group counts: the past does not overrule the present."""
        if not self.accepts(event.group):
            return False
        with self.cluster.lock:
            if not self.homes.hears(self.cluster.windows, event.group, partition):
                return False
        if self.heard is None:
            return True
        if self.is_backfill:
            return not self.heard.overrules(event)
        self.heard.add(event)
        return True

    def follows(self, group: str) -> bool:
        """Whether this consumer may have told of a group; its own reading is one as well."""
        return self.accepts(group) or group == self.own_group

    def read_until_s(self, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group are read; minus infinity: nobody knows."""
        position, read_s = self.progress.position, self.progress.read_s
        known = {each: read_s.get(each, -math.inf) for each in position}
        if self.heard is not None:  # the past is still to be read
            known |= dict.fromkeys(
                known if self.unread_past is None else self.unread_past, -math.inf
            )
        of_all, homes = min(known.values(), default=-math.inf), self.homes

        def of(group: str) -> float:
            places = homes.places(group)
            return min((known.get(each, -math.inf) for each in places), default=of_all)

        each = (known.get(homes.of(group), -math.inf) for group in groups)
        moments = np.fromiter(each if homes.are_settled else map(of, groups), float, len(groups))
        if self.own_group in groups:
            moments[groups.index(self.own_group)] = math.inf  # our own reading is as it is now
        return moments

    def read_before_ms(self, decoded: pa.Table) -> Ints:
        """Up to when the partition of each record had been read before the record came."""
        read_s = self.progress.read_s
        partition = decoded["log_partition"].to_numpy()
        last = max([int(partition.max(initial=0)), *read_s])
        by_number = np.zeros(last + 1, np.int64)
        for number, moment_s in read_s.items():
            by_number[number] = int(moment_s * 1000)
        read_before_ms: Ints = by_number[partition]
        return read_before_ms

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


Subject = tuple[str, Protocol, str, str]  # group, of which protocol, member, which of its records


class Heard:
    """What was read live about groups and members: the past, read beside it, adds what is not."""

    def __init__(self) -> None:
        self._subjects: set[Subject] = set()
        self._protocol: dict[str, Protocol | None] = {}  # of each group; None: it was deleted

    def add(self, event: GroupEvent) -> None:
        for subject in _subjects(event):
            group, protocol, *_ = subject
            self._subjects.add(subject)
            self._protocol[group] = None if isinstance(event, GroupDeleted) else protocol

    def overrules(self, event: GroupEvent) -> bool:
        """Whether a record of the past is outdated, by one on the same or by another protocol."""
        return any(
            subject in self._subjects or self._protocol.get(subject[0], subject[1]) != subject[1]
            for subject in _subjects(event)
        )


def _subjects(event: GroupEvent) -> list[Subject]:
    """What a record speaks of, so that a later one on the same replaces it."""
    seen, assigned = "seen", "assigned"
    match event:
        case ClassicGroup(group) | GroupDeleted(group, Protocol.CLASSIC):
            return [(group, Protocol.CLASSIC, "", "")]
        case Epoch(group) | GroupDeleted(group):
            return [(group, Protocol.CONSUMER, "", "")]
        case MemberSeen(group, member):
            return [(group, Protocol.CONSUMER, member, seen)]
        case MemberAssigned(group, member):
            return [(group, Protocol.CONSUMER, member, assigned)]
        case MemberGone(group, member):
            return [(group, Protocol.CONSUMER, member, each) for each in (seen, assigned)]
    return []  # names of topics, and what is not used, contradict nothing


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

    topic_consumers: Sequence[TopicConsumer] = ()
    outside_consumers: Sequence[OutsideConsumer] = ()

    @property
    def are_current_for_verdicts(self) -> bool:
        """Whether verdicts can be of now, and need not be of a snapshot any more."""
        return all(each.progress.is_caught_up for each in self.topic_consumers) and all(
            # A ZooKeeper that is away must not keep the brokers' groups as they were.
            each.is_caught_up or (each.problem and not each.is_asked)
            for each in self.outside_consumers
        )

    def read_until_s(self, windows: Windows, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group are read, by whoever has read most of them."""
        if not self.topic_consumers or not self.outside_consumers:
            return _latest(self.topic_consumers or self.outside_consumers, groups)
        outside = groups_outside(windows)
        is_outside = np.fromiter((group in outside for group in groups), np.bool_, len(groups))
        told = (_latest(each, groups) for each in (self.outside_consumers, self.topic_consumers))
        return np.where(is_outside, *told)

    def all_read_s(self) -> float:
        """Up to when everything of everybody is read."""
        read = [each.progress.read_until_s(each.progress.position) for each in self.topic_consumers]
        read += [each.all_read_s for each in self.outside_consumers]
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
    for name, outside_consumer in made.items():
        outside_consumer.cluster.elsewhere[name] = None
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
