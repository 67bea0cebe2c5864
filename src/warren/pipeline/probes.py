"""Finds out what commits and log ends do not tell: markers, how old records are, and retention.

One thread for each cluster, so that nothing waits for it. Each pass is short: some topics'
configurations, some reads of single records, one search of times. What to look at is chosen
by the tick, once for every round of log ends; what is found goes into the windows.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable

import structlog
from confluent_kafka.admin import AdminClient

from warren.clients import kafka
from warren.config import Cluster as Settings
from warren.config import Connection
from warren.model.probe_answers import Answer, Known, Targets
from warren.pipeline.cluster import ClusterState
from warren.pipeline.retention import RetentionReader
from warren.sources import log_ends, record_times
from warren.sources.log_ends import Partition
from warren.sources.record_times import Times
from warren.sources.tail_reader import Tail, TailReader
from warren.windows import probed

log = structlog.get_logger()

PASS_S = 1.0
READ_S = 2.0  # for the first record of one partition
AGAIN_S = 60.0  # between two searches for the times of groups that move on
REFUSED_S = FAILED_S = 300.0  # until what did not work is tried again
SILENT_S = 30.0  # for which a broker is left alone after so many reads without an answer
SILENT_AFTER = 3
IDLE_S = 60.0  # without reads the clients end
MOST_FAILED = 10_000

Line = tuple[str, int]  # a group, and its commit


class Until:
    """Things that are to be left alone for a while; forgets them all if they are too many."""

    def __init__(self) -> None:
        self._until: dict[Hashable, float] = {}

    def add(self, thing: Hashable, seconds: float) -> None:
        if len(self._until) >= MOST_FAILED:
            self._until.clear()
        self._until[thing] = time.monotonic() + seconds

    def __contains__(self, thing: Hashable) -> bool:
        return time.monotonic() < self._until.get(thing, 0)

    def now(self) -> list[Hashable]:
        return [each for each in self._until if each in self]


class Places:
    """The lines of targets by the place to look at: groups with the same commit share one."""

    def __init__(self, targets: Targets) -> None:
        self.lines: dict[tuple[Partition, int], list[Line]] = {}
        self.is_again: set[tuple[Partition, int]] = set()
        columns = zip(*(each.tolist() for each in targets[2:]), strict=True)
        for group, topic, partition, commit, first, is_again in columns:
            place = (targets.topics[topic], partition), first
            self.lines.setdefault(place, []).append((targets.groups[group], commit))
            if is_again:
                self.is_again.add(place)


class Probes:
    def __init__(
        self,
        cluster: ClusterState,
        settings: Settings,
        connection: Connection,
        admin: Callable[[], AdminClient],
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._admin = admin
        self._changed = changed
        self._log = log.bind(
            type="module", coordinator="cluster", class_="kafka", name=cluster.name
        )
        self._reads_a_pass = settings.record_reads
        client = kafka.reader_settings(settings.servers, connection)
        self._committed = TailReader(client, "read_committed")
        self._uncommitted = TailReader(client, "read_uncommitted")
        self._read_s = 0.0  # when a record was read last
        self._tails: list[tuple[Partition, int, list[Line]]] = []  # still to read
        self._refused = Until()  # topics whose records may not be read
        self._failed = Until()  # places
        self._silent = Until()  # brokers
        self._unanswered: Counter[int | None] = Counter()  # reads in a row, by broker
        self._searched_again_s = 0.0
        self._retention = RetentionReader(cluster, self._log)

    def run(self, stop: threading.Event) -> None:
        try:
            while not stop.wait(PASS_S):
                if self._cluster.topics is None:
                    continue
                self._retention.refresh(self._admin())
                self._read_tails(stop)
                self._find_times()
        finally:
            self._close()

    def _close(self) -> None:
        self._committed.close()
        self._uncommitted.close()

    def _read_tails(self, stop: threading.Event) -> None:
        targets, self._cluster.targets.tails = self._cluster.targets.tails, None
        if targets is not None and self._reads_a_pass:
            lines = Places(targets).lines
            self._tails = [(*place, groups) for place, groups in lines.items()]
        budget = self._reads_a_pass
        while self._tails and budget > 0 and not stop.is_set():
            partition, first, lines_there = self._tails.pop()
            if self._is_worth(partition, first):
                budget -= 1
                self._read_s = time.monotonic()
                self._read_tail(partition, first, lines_there)
        if time.monotonic() - self._read_s > IDLE_S:
            self._close()

    def _is_worth(self, partition: Partition, first: int) -> bool:
        leader = self._leader(partition)
        return (
            leader is not None
            and leader not in self._silent
            and partition[0] not in self._refused
            and (partition, first) not in self._failed
        )

    def _leader(self, partition: Partition) -> int | None:
        topics = self._cluster.topics
        return topics.leaders.get(partition) if topics else None

    def _read_tail(self, partition: Partition, first: int, lines: list[Line]) -> None:
        tail = self._committed.read(partition, first, READ_S)
        if tail.is_refused:
            self._refuse(partition, first, tail.problem, lines)
            return
        if tail.problem:
            self._failed.add((partition, first), FAILED_S)
            self._count_silence(partition, is_silent=tail.problem == log_ends.NO_ANSWER)
            return
        self._count_silence(partition, is_silent=False)
        for_any = first
        if tail.offset > first:  # only then are there records that just some readers get
            other = self._uncommitted.read(partition, first, READ_S)
            for_any = first if other.problem else min(other.offset, tail.offset)
        self._note(partition, lines, found_in(tail, for_any, self._now_ms()))

    def _count_silence(self, partition: Partition, *, is_silent: bool) -> None:
        leader = self._leader(partition)
        self._unanswered[leader] = self._unanswered[leader] + 1 if is_silent else 0
        if self._unanswered[leader] >= SILENT_AFTER:
            self._unanswered[leader] = 0
            self._silent.add(leader, SILENT_S)

    def _refuse(self, partition: Partition, first: int, problem: str, lines: list[Line]) -> None:
        if not self._refused.now():
            self._log.warning(
                "records may not be read: transaction markers count as lag",
                topic=partition[0],
                problem=problem,
            )
        self._refused.add(partition[0], REFUSED_S)
        self._cluster.targets.refused = frozenset(map(str, self._refused.now()))
        self._note(partition, lines, Answer(Known.REFUSED, first, first, first))

    def _find_times(self) -> None:
        targets, self._cluster.targets.times = self._cluster.targets.times, None
        topics = self._cluster.topics
        if targets is None or topics is None:
            return
        places, is_turn = Places(targets), time.monotonic() - self._searched_again_s >= AGAIN_S
        offsets: dict[Partition, int] = {}
        for place in places.lines:
            partition, first = place
            is_due = place not in places.is_again or is_turn
            if is_due and partition not in offsets and ("time", place) not in self._failed:
                offsets[partition] = first
        if is_turn:
            self._searched_again_s = time.monotonic()
        times = record_times.fetch_times(
            self._admin(), topics.leaders, offsets, self._now_ms(), log_ends.TIMEOUT_S
        )
        for partition, first in offsets.items():
            if (found := times.get(partition)) is None:
                self._failed.add(("time", (partition, first)), FAILED_S)
                continue
            nothing_read = Answer(Known.NOTHING, first, first, first)
            self._note(partition, places.lines[partition, first], _with(nothing_read, found))

    def _note(self, partition: Partition, lines: list[Line], answer: Answer) -> None:
        """The answer is about the commit of each line: nothing is between it and the first."""
        with self._cluster.lock:
            for group, commit in lines:
                of_line = answer._replace(offset=commit)
                probed.note(self._cluster.windows, group, *partition, of_line)
        self._changed()

    def _now_ms(self) -> int:
        return int(self._cluster.clock() * 1000)


def found_in(tail: Tail, for_any: int, now_ms: int) -> Answer:
    known = Known.READ | (Known.RECORD if tail.is_record else Known.NOTHING)
    answer = Answer(known, tail.offset, tail.offset, for_any)
    if not tail.is_record or tail.timestamp_ms < 0:
        return answer
    return _with(answer, record_times.credible(Times(*2 * (tail.timestamp_ms,)), now_ms))


def _with(answer: Answer, times: Times) -> Answer:
    known = answer.known | Known.TIMED
    return answer._replace(known=known, earliest_ms=times.earliest_ms, latest_ms=times.latest_ms)
