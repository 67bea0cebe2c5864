"""Polls the brokers for the offsets of groups, for clusters whose offsets topic is off limits."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

import structlog
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from warren.clients import kafka
from warren.clients.kafka import Complaints
from warren.config import Connection
from warren.errors import GroupsHidden, Unreachable
from warren.pipeline import steps
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished
from warren.sources.group_offsets import (
    REFUSED,
    GroupOffsets,
    Listed,
    list_groups,
    with_coordinator,
)
from warren.sources.offset_changes import PolledOffsets
from warren.sources.outside_changes import OutsideChanges
from warren.windows.limits import NO_ROOM
from warren.windows.precedence import held_outside

log = structlog.get_logger()

MIN_TIMEOUT_S, MAX_TIMEOUT_S = 3.0, 10.0
MIN_PAUSE_S = 0.2


class GroupPoller:
    """Keeps what it has seen when a poll fails, so that a known offset is not a new commit."""

    def __init__(
        self,
        outside_consumer: OutsideConsumer,
        connection: Connection,
        changed: Callable[[], None],
    ) -> None:
        settings = outside_consumer.settings
        self._outside_consumer = outside_consumer
        self._changed = changed
        self._complaints = Complaints()
        self._connection = connection
        # A broker that does not answer must not delay the next poll.
        self._timeout_s = min(MAX_TIMEOUT_S, max(MIN_TIMEOUT_S, outside_consumer.period_s / 2))
        held, last_order = held_outside(outside_consumer.cluster.windows)
        ours = outside_consumer.cluster.restored_outside_groups.get(settings.name, held.keys())
        self._polled = PolledOffsets(
            {group: held[group] for group in held.keys() & ours}, last_order
        )
        self._logged: set[str] = set()  # the reasons for missing answers
        self._log = log.bind(
            type="module", coordinator="consumer", class_="kafka_admin", name=settings.name
        )

    @cached_property
    def _admin(self) -> AdminClient:
        servers = self._outside_consumer.settings.servers
        return kafka.admin_client(servers, self._connection, self._complaints)

    @cached_property
    def _group_offsets(self) -> GroupOffsets:
        return GroupOffsets(self._admin, self._timeout_s)

    def run(self, stop: threading.Event) -> None:
        """Poll every period; raises when no broker answers."""
        while not stop.is_set():
            began = time.monotonic()
            try:
                self._poll(stop)
            except KafkaException as error:
                self._admin.poll(0)  # delivers the reason, such as a wrong password
                raise Unreachable(self._complaints.reason(error)) from error
            self._complaints.forget()
            stop.wait(max(began + self._outside_consumer.period_s - time.monotonic(), MIN_PAUSE_S))

    def _poll(self, stop: threading.Event) -> None:
        listed = list_groups(self._admin, self._timeout_s)
        wanted = self._wanted(listed.groups | self._polled.groups)
        polled = wanted & listed.groups | self._unlisted(wanted - listed.groups, listed)
        began_s = self._outside_consumer.cluster.clock()
        self._polled.begin(int(began_s * 1000))
        reasons: Counter[str] = Counter()
        for answers in self._group_offsets.fetch(listed, polled, self._polled.known):
            if stop.is_set():
                return
            self._fold(self._polled.take(answers))
            self._note_answered([each.group for each in answers if not each.problem], began_s)
            reasons.update(answer.problem for answer in answers if answer.problem)
        self._group_offsets.forget(wanted)
        if not listed.groups and reasons[REFUSED]:
            # Without the right to see any group the list is empty; it is not an error.
            raise GroupsHidden(len(self._polled.groups))
        self._log_unanswered(reasons, listed)
        if reasons.total() and reasons.total() == len(polled):
            raise Unreachable(reasons.most_common(1)[0][0])
        self._outside_consumer.polled_s = began_s
        self._end(None if listed.problem else wanted)

    def _note_answered(self, groups: Iterable[str], began_s: float) -> None:
        """Note that these groups have been read up to the start of the poll."""
        with self._outside_consumer.cluster.lock:
            self._outside_consumer.answered_s |= dict.fromkeys(groups, began_s)

    def _unlisted(self, groups: frozenset[str], listed: Listed) -> frozenset[str]:
        """Groups to poll by name: they may exist though a complete list lacks them."""
        if listed.problem or not groups:
            return frozenset()
        return frozenset(with_coordinator(self._admin, groups, self._timeout_s))

    def _wanted(self, groups: frozenset[str]) -> frozenset[str]:
        """The groups that pass the lists; if there are too many, the known ones and some others."""
        wanted = frozenset(group for group in groups if self._outside_consumer.accepts(group))
        cluster, known = self._outside_consumer.cluster, self._polled.groups
        room = max(cluster.windows.limits.groups - len(wanted & known), 0)
        if len(new := sorted(wanted - known)) <= room:
            return wanted
        too_many = new[int(room) :]
        with cluster.lock:
            cluster.windows.dropped[NO_ROOM] += len(too_many)
        return wanted.difference(too_many)

    def _end(self, wanted: frozenset[str] | None) -> None:
        outside_consumer = self._outside_consumer
        self._fold(self._polled.end(wanted))
        if outside_consumer.problem:
            self._log.info("brokers answer again")
            outside_consumer.problem = ""
            self._changed()
        if wanted is None:
            return
        with outside_consumer.cluster.lock:
            name = outside_consumer.settings.name
            outside_consumer.cluster.outside_groups[name] = self._polled.groups
            for group in outside_consumer.answered_s.keys() - wanted:
                del outside_consumer.answered_s[group]
        if self._polled.is_settled and not outside_consumer.is_caught_up:
            outside_consumer.is_caught_up = True
            forget_vanished(outside_consumer.cluster)
            self._log.info("caught up", records=outside_consumer.records)
            self._changed()

    def _fold(self, changes: OutsideChanges) -> None:
        if changes.commits or changes.owners:
            steps.fold_outside_changes(
                self._outside_consumer, changes, self._outside_consumer.cluster.clock()
            )
            self._changed()

    def _log_unanswered(self, reasons: Counter[str], listed: Listed) -> None:
        """Log each new reason. Groups without an answer stay as they were."""
        if listed.problem:
            reasons[f"not listed: {listed.problem}"] += 1
        for reason in sorted(reasons.keys() - self._logged):
            self._log.warning("groups could not be polled", problem=reason, groups=reasons[reason])
        self._logged = set(reasons)
