"""Every `[consumer.*]` of the configuration, and up to when its commits have been read.

A `TopicConsumer` reads an offsets topic. An `OutsideConsumer` gets its commits from ZooKeeper, or
polls the brokers for them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
import pyarrow as pa
import structlog
from confluent_kafka import IsolationLevel

from warren.config import Consumer
from warren.model.arrays import Floats, Ints
from warren.model.group_events import (
    ClassicGroup,
    Epoch,
    GroupDeleted,
    GroupEvent,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    PastGeneration,
    Protocol,
    Resolved,
    Topology,
)
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.group_homes import Homes
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.threads import Trouble
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.progress import Progress, Skips
from warren.windows.precedence import groups_outside
from warren.windows.windows import Windows

log = structlog.get_logger()


@dataclass
class TopicConsumer:
    """A `[consumer.*]` that reads an offsets topic, and its progress."""

    settings: Consumer
    cluster: ClusterState
    accepts: Accepts
    progress: Progress = field(default_factory=Progress)
    skips: Skips = field(default_factory=Skips)
    live_events: "LiveEvents | None" = None  # kept while a backfill runs beside the live reader
    unread_past: set[int] | None = None  # partitions still to backfill; None: not known yet
    backfill_trouble: Trouble = field(default_factory=Trouble)
    is_backfill: bool = False  # reads the records from before the live reader started
    homes: Homes = field(default_factory=Homes)
    is_new_topic: bool = False  # it was created, or created again, while we ran: all of it is new
    read_id: UUID | None = None  # id of the topic that the positions belong to
    _held_back: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.homes.is_copy = self.settings.offsets_topic != OFFSETS_TOPIC

    def backfill(self) -> "TopicConsumer":
        """A copy that reads the old records while this one reads the new ones."""
        return replace(self, progress=Progress(), is_backfill=True)

    @property
    def lacks_topic(self) -> bool:
        """Whether the cluster has no offsets topic yet; Kafka creates it with the first commit."""
        topics = self.cluster.topics
        return topics is not None and self.settings.offsets_topic not in topics.counts

    @property
    def topic_id(self) -> UUID | None:
        """Id of the offsets topic as it is now; None before Kafka 2.8."""
        topics = self.cluster.topics
        return topics.ids.get(self.settings.offsets_topic) if topics else None

    @property
    def is_topic_replaced(self) -> bool:
        """Whether the topic was deleted and created again since it was read."""
        return None not in (self.read_id, self.topic_id) and self.read_id != self.topic_id

    @property
    def partition_count(self) -> int:
        """Partitions of the offsets topic, those without a leader included."""
        topics = self.cluster.topics
        return topics.counts.get(self.settings.offsets_topic, 0) if topics else 0

    @property
    def leaders(self) -> dict[tuple[str, int], int]:
        """The partitions of the offsets topic that have a leader, and its broker id."""
        topics = self.cluster.topics
        return topics.leaders_of(self.settings.offsets_topic) if topics else {}

    def notice_growth(self) -> None:
        """Check whether the topic gained partitions; new ones are read from offset 0."""
        if self.is_backfill:
            return  # the live reader does it
        with self.cluster.lock:
            for partition in self.homes.grow(self.cluster.windows, self.partition_count):
                self.progress.position.setdefault(partition, 0)

    def accepts_event(self, event: GroupEvent, partition: int) -> bool:
        """Whether to use a record about a group: old records do not overrule newer ones."""
        if not self.accepts(event.group):
            return False
        with self.cluster.lock:
            if not self.homes.accepts_event(self.cluster.windows, event.group, partition):
                return False
        if self.live_events is None:
            return True
        if self.is_backfill:
            return not self.live_events.overrule(event)
        self.live_events.add(event)
        return True

    def past_generation(self, event: GroupEvent) -> PastGeneration | None:
        """What still counts of an old record that a newer one overrules."""
        if not self.is_backfill or self.live_events is None or not self.accepts(event.group):
            return None
        match event:
            case ClassicGroup(group, epoch):
                past = PastGeneration(group, epoch, Protocol.CLASSIC)
            case Epoch(group, epoch, protocol):
                past = PastGeneration(group, epoch, protocol)
            case _:
                return None
        return past if self.live_events.protocol_of(past.group) is past.protocol else None

    @property
    def has_read_the_past(self) -> bool:
        """Whether all records of the topic have been read, or will have been soon."""
        settings, is_backfilled = self.settings, self.live_events is None
        starts_late = settings.start_latest and not self.is_new_topic
        return is_backfilled and (settings.backfill_earliest or not starts_late)

    def follows(self, group: str) -> bool:
        """Whether commits of this group may come from here; our own progress is a group too."""
        return self.accepts(group) or group == self.own_group

    def read_until_s(self, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group have been read; minus infinity: unknown."""
        position, read_s = self.progress.position, self.progress.read_s
        known = {each: read_s.get(each, -math.inf) for each in position}
        if self.live_events is not None:  # a backfill is not finished
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
            moments[groups.index(self.own_group)] = math.inf  # our own progress is always current
        return moments

    def expire_as_of_s(self, now: float) -> float:
        """When a commit that is read now counts as too old: as of what had been read before it.

        At first that is not known, and the past of a long topic need not be kept.
        """
        read_s = min(self.progress.read_s.values(), default=-math.inf)
        is_known = self.progress.has_caught_up and math.isfinite(read_s)
        return min(now, read_s) if is_known else now

    def read_before_ms(self, decoded: pa.Table) -> Ints:
        """For each record, up to when its partition had been read before this batch."""
        read_s = self.progress.read_s
        partition = decoded["log_partition"].to_numpy()
        last = max([int(partition.max(initial=0)), *read_s])
        by_number = np.zeros(last + 1, np.int64)
        for number, moment_s in read_s.items():
            by_number[number] = int(moment_s * 1000)
        read_before_ms: Ints = by_number[partition]
        return read_before_ms

    @property
    def partitions_to_backfill(self) -> int | None:
        """None: no backfill runs, or the topic is not known yet."""
        if self.live_events is None:
            return None
        unread = self.unread_past
        return (self.partition_count or None) if unread is None else len(unread)

    @property
    def isolation(self) -> IsolationLevel:
        reads_committed = self.settings.isolation_level == "read-committed"
        return log_ends.COMMITTED if reads_committed else log_ends.UNCOMMITTED

    @property
    def own_group(self) -> str:
        """Burrow reports its own progress as a group of this name."""
        return f"burrow-{self.settings.name}"

    @property
    def reports_itself(self) -> bool:
        """Whether our own group is stored; the consumer's lists do not apply to it."""
        return self.cluster.stores.accepts(self.own_group)

    def log_held_back(self, now: float) -> None:
        """Log each partition that a hanging transaction starts or stops holding back."""
        with self.cluster.lock:
            held = set(self.progress.held_back(now))
            ends = dict(self.progress.stable)
        logger = log.bind(coordinator="consumer", name=self.settings.name)
        for partition in sorted(held ^ self._held_back):
            at = {"partition": partition, "offset": ends.get(partition)}
            if partition in held:
                logger.warning("offsets partition is held back by a hanging transaction", **at)
            else:
                logger.info("offsets partition is free again", **at)
        self._held_back = held


Subject = tuple[str, Protocol, str, str]  # group, its protocol, member, kind of record
SEEN, ASSIGNED, RESOLVED, TOPOLOGY = "seen", "assigned", "resolved", "topology"


class LiveEvents:
    """What the live reader saw of groups and members: a backfill adds only what is not here."""

    def __init__(self) -> None:
        self._subjects: set[Subject] = set()
        self._protocol: dict[str, Protocol | None] = {}  # by group; None: it was deleted

    def add(self, event: GroupEvent) -> None:
        for subject in _subjects(event):
            group, protocol, *_ = subject
            self._subjects.add(subject)
            self._protocol[group] = None if isinstance(event, GroupDeleted) else protocol

    def protocol_of(self, group: str) -> Protocol | None:
        """The protocol of its newest record; None: there is none, or it was deleted."""
        return self._protocol.get(group)

    def overrule(self, event: GroupEvent) -> bool:
        """Whether an old record is outdated: a newer one replaces it, or changes the protocol."""
        return any(
            subject in self._subjects or self._protocol.get(subject[0], subject[1]) != subject[1]
            for subject in _subjects(event)
        )


def _subjects(event: GroupEvent) -> list[Subject]:
    """What a record is about; a later record about the same replaces it."""
    match event:
        case ClassicGroup(group):
            kinds = [(Protocol.CLASSIC, "", "")]
        case GroupDeleted(group, protocol) | Epoch(group, _, protocol):
            kinds = [(protocol, "", "")]
        case MemberSeen(group, member):
            kinds = [(event.protocol, member, SEEN)]
        case MemberAssigned(group, member):
            kinds = [(Protocol.CONSUMER, member, ASSIGNED)]
        case MemberGone(group, member, protocol):
            kinds = [(protocol, member, SEEN), (protocol, member, ASSIGNED)]
        case Resolved(group, expression):
            kinds = [(Protocol.CONSUMER, expression, RESOLVED)]
        case Topology(group):
            kinds = [(Protocol.STREAMS, "", TOPOLOGY)]
        case _:  # topic names and unused records replace nothing
            return []
    return [(group, *kind) for kind in kinds]


@dataclass(frozen=True)
class Sources:
    """All consumers of one cluster."""

    topic_consumers: Sequence[TopicConsumer] = ()
    outside_consumers: Sequence[OutsideConsumer] = ()

    @property
    def are_current_for_verdicts(self) -> bool:
        """Whether verdicts can be of now, and need not be of a snapshot any more."""
        return all(each.progress.is_caught_up for each in self.topic_consumers) and all(
            # A ZooKeeper that is away must not keep the brokers' groups as they were.
            each.is_caught_up or (each.problem and not each.is_polled)
            for each in self.outside_consumers
        )

    @property
    def are_members_known(self) -> bool:
        """Whether a group without records about it has none."""
        return all(each.has_read_the_past for each in self.topic_consumers)

    def read_until_s(self, windows: Windows, groups: Sequence[str]) -> Floats:
        """Up to when the commits of each group have been read, by the consumer that is furthest."""
        if not self.topic_consumers or not self.outside_consumers:
            return _latest(self.topic_consumers or self.outside_consumers, groups)
        outside = groups_outside(windows)
        is_outside = np.fromiter((group in outside for group in groups), np.bool_, len(groups))
        latest = (_latest(each, groups) for each in (self.outside_consumers, self.topic_consumers))
        return np.where(is_outside, *latest)

    def expire_as_of_s(self, windows: Windows, groups: Sequence[str]) -> Floats:
        """The same, and now for groups that nobody reads any more."""
        consumers: list[TopicConsumer | OutsideConsumer] = [
            *self.topic_consumers,
            *self.outside_consumers,
        ]
        is_read = [any(each.follows(group) for each in consumers) for group in groups]
        return np.where(is_read, self.read_until_s(windows, groups), math.inf)

    def all_read_s(self) -> float:
        """Up to when all consumers have read everything."""
        read = [each.progress.read_until_s(each.progress.position) for each in self.topic_consumers]
        read += [each.all_read_s for each in self.outside_consumers]
        return min(read, default=math.inf)


def _latest(sources: Sequence[TopicConsumer | OutsideConsumer], groups: Sequence[str]) -> Floats:
    """By the consumer that is furthest; a cluster without consumers is always current."""
    moments = np.full(len(groups), -math.inf if sources else math.inf)
    for each in sources:
        its = [at for at, group in enumerate(groups) if each.follows(group)]
        moments[its] = np.maximum(moments[its], each.read_until_s([groups[at] for at in its]))
    return moments
