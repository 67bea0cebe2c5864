"""What is kept of one cluster between batches. Several threads change it: hold `lock` to do so."""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import structlog
from confluent_kafka import IsolationLevel

from warren.config import Consumer, GroupFilter, Storage
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
from warren.pipeline.group_homes import Homes
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.log_ends import TopicListing
from warren.sources.progress import Progress, Skips
from warren.windows.group_members import Membership
from warren.windows.limits import NO_ROOM, Limits
from warren.windows.windows import Windows

log = structlog.get_logger()

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

REMEMBERED = 1_000_000  # names; a flood of invented groups must not fill the memory


@dataclass
class ClusterState:
    name: str
    windows: Windows
    stores: GroupFilter = field(default_factory=GroupFilter)  # which groups
    membership: Membership = field(default_factory=Membership)
    topics: TopicListing | None = None  # None: no broker has answered yet
    topics_s: float = 0.0  # when they were listed
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


@dataclass
class TopicConsumer:
    """One `[consumer.*]` of a cluster and how far its reading has come."""

    settings: Consumer
    cluster: ClusterState
    accepts: "Accepts"
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
