"""Watches the brokers of one cluster: topics, log ends, dead groups, and whether they answer."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property, partial
from typing import Any

import structlog
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.clients import kafka
from warren.clients.kafka import Complaints
from warren.config import Cluster as Settings
from warren.config import Connection
from warren.errors import Unreachable
from warren.pipeline import steps
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.probes import Probes
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.log_edges import fetch_edges
from warren.sources.log_ends import LATEST, Partition, TopicListing

log = structlog.get_logger()

PULSE_S = 2.0
ANSWER_S = 4.0  # a broker that does not answer in this time, twice, is silent
SILENT = "no answer in time"


class Pulse:
    """Checks every few seconds which brokers answer."""

    def __init__(
        self,
        cluster: ClusterState,
        admin: Callable[[], AdminClient],
        complaints: Complaints,
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._admin = admin
        self._complaints = complaints
        self._changed = changed
        self._problem = ""  # as we reported it
        self._topics: TopicListing | None = None  # the listing that `_one_of_each` is made from
        self._one_of_each: Mapping[int, Partition] = {}  # a partition by its leader
        self._log = log.bind(
            type="module", coordinator="cluster", class_="kafka", name=cluster.name
        )

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(PULSE_S):
            self._check()

    def _check(self) -> None:
        """Send each leader a request; a second one if it is silent, as we may have been busy."""
        leaders = self._leaders()
        if not leaders:
            return
        silent = self._silent(leaders)
        silent = self._silent({broker: leaders[broker] for broker in silent}) if silent else silent
        if len(silent) == len(leaders):
            self._report_silence()
            return
        if self._problem:
            self._report_answer()
        self._report_some(silent, leaders.keys() - silent)

    def _leaders(self) -> Mapping[int, Partition]:
        """A partition of each broker that leads one; found anew when the topics are listed."""
        topics = self._cluster.topics
        if topics is not self._topics:
            self._topics = topics
            leaders = topics.leaders if topics else {}
            self._one_of_each = {broker: where for where, broker in leaders.items()}
        return self._one_of_each

    def _silent(self, leaders: Mapping[int, Partition]) -> set[int]:
        admin = self._admin()
        answers = {
            broker: admin.list_offsets({TopicPartition(*where): LATEST}, request_timeout=ANSWER_S)
            for broker, where in leaders.items()
        }
        return {
            broker for broker, each in answers.items() if not any(map(_is_answer, each.values()))
        }

    def _report_silence(self) -> None:
        if self._cluster.problem:
            return
        self._admin().poll(0)  # delivers the reason, such as a refused connection
        self._problem = str(Unreachable(self._complaints.last or SILENT))
        self._cluster.problem = self._problem
        self._log.error("brokers do not answer", problem=self._problem)
        self._changed()

    def _report_answer(self) -> None:
        if self._cluster.problem == self._problem:
            self._cluster.problem = ""
            self._log.info("brokers answer again")
            self._changed()
        self._problem = ""

    def _report_some(self, silent: set[int], answering: set[int]) -> None:
        """Report brokers that are silent while others answer; those without a partition are not."""
        before = set(self._cluster.silent_brokers)
        if silent == before:
            return
        if new := sorted(silent - before):
            self._log.warning("some brokers do not answer", brokers=new)
        if back := sorted(before & answering):
            self._log.info("these brokers answer again", brokers=back)
        self._cluster.silent_brokers = sorted(silent)
        self._changed()


def _is_answer(reply: Future[Any]) -> bool:
    """An error is an answer too; librdkafka's own errors, and a missing offset, are negative."""
    try:
        offset: int = reply.result(2 * ANSWER_S).offset
    except KafkaException as error:
        code: int = error.args[0].code()
        return code >= 0
    except TimeoutError:
        return False
    return offset >= 0


MIN_TIMEOUT_S = 3.0
PROGRESS_S = 2.0  # groups are judged as of when they were read: this must be fresh
REAPER_SINCE = (0, 11)  # the first Kafka that lists its groups


class Watcher:
    """Reads the topics and log ends of one cluster, and removes dead groups."""

    def __init__(
        self,
        cluster: ClusterState,
        settings: Settings,
        connection: Connection,
        topic_consumers: Sequence[TopicConsumer],
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._topic_consumers = topic_consumers
        self._changed = changed
        self._log = log.bind(
            type="module", coordinator="cluster", class_="kafka", name=cluster.name
        )
        self._complaints = Complaints()
        self.pulse = Pulse(cluster, lambda: self._admin, self._complaints, changed)
        # A frozen broker must not delay the answers of the others by more than this.
        self._in_time_s = min(log_ends.TIMEOUT_S, max(MIN_TIMEOUT_S, settings.offset_refresh / 2))
        self.probes = Probes(cluster, settings, connection, lambda: self._admin, changed)
        self._reaped = time.monotonic()
        self._reaps = settings.groups_reaper_refresh > 0
        if self._reaps and connection.profile.kafka_release < REAPER_SINCE:
            self._log.warning("groups reaper disabled, it needs kafka-version 0.11.0 or newer")
            self._reaps = False
        self._connection = connection
        self._are_topics_hidden = False

    @cached_property
    def _admin(self) -> AdminClient:
        """Made on first use: a cluster we cannot log in to must not keep others from starting."""
        return kafka.admin_client(self._settings.servers, self._connection, self._complaints)

    def run(self, stop: threading.Event) -> None:
        """Run a round every `offset-refresh`; raises when no broker answers."""
        while not stop.is_set():
            began = time.monotonic()
            try:
                self._round(self._cluster.clock())
            except KafkaException as error:
                raise Unreachable(self._reason(error.args[0].str())) from error
            if missing := self._all_missing():
                raise Unreachable(self._reason(missing))
            self._complaints.forget()
            if self._cluster.problem:
                self._log.info("brokers answer again")
                self._cluster.problem = ""
            self._changed()
            stop.wait(max(began + self._settings.offset_refresh - time.monotonic(), 0))

    def watch_progress(self, stop: threading.Event) -> None:
        """Read where the offsets topics end, however long a round over all topics takes."""
        while not stop.wait(PROGRESS_S):
            for topic_consumer in self._topic_consumers:
                now, progress = self._cluster.clock(), topic_consumer.progress
                was_behind = not progress.has_caught_up
                steps.refresh_progress(topic_consumer, self._admin, now, self._in_time_s)
                topic_consumer.log_held_back(now)
                if was_behind and progress.has_caught_up:
                    self._changed()

    def _all_missing(self) -> str:
        """Why no partition has a log end; empty if any has."""
        topics, missing = self._cluster.topics, self._cluster.missing
        if topics is None or not missing or topics.leaders.keys() - missing.keys():
            return ""
        return next(iter(missing.values()))

    def _reason(self, problem: str) -> str:
        """The client's own complaint if it has one; a timeout alone says little."""
        self._admin.poll(0)  # delivers the reason, such as a wrong password
        return self._complaints.last or (SILENT if log_ends.is_silence(problem) else problem)

    def _round(self, now: float) -> None:
        if self._wants_topics(now):
            self._refresh_topics(now)
        steps.refresh_ends(self._cluster, self._admin, now, self._in_time_s)
        fetch = partial(fetch_edges, self._admin, timeout_s=self._in_time_s)
        steps.refresh_edges(self._cluster, fetch)
        self._cluster.log_no_room()
        if self._reaps and time.monotonic() - self._reaped >= self._settings.groups_reaper_refresh:
            self._reaped = time.monotonic()
            self._reap()

    def _refresh_topics(self, now: float) -> None:
        """List the topics; warn once while some are no longer listed though they may exist."""
        cluster = self._cluster
        known = cluster.topics.counts.keys() if cluster.topics else set()
        needed = {topic_consumer.settings.offsets_topic for topic_consumer in self._topic_consumers}
        steps.refresh_topics(cluster, self._admin, now, needed or {OFFSETS_TOPIC} & known)
        hidden = cluster.topics.hidden if cluster.topics else {}
        if hidden and not self._are_topics_hidden:
            name = min(hidden)
            self._log.warning(
                "topics are no longer listed; their last known state stays",
                topics=len(hidden),
                topic=name,
                problem=hidden[name],
            )
        self._are_topics_hidden = bool(hidden)

    def _wants_topics(self, now: float) -> bool:
        """Every `topic-refresh`, and sooner when something waits for a topic to be known."""
        cluster = self._cluster
        return (
            cluster.topics is None
            or not cluster.ends_s
            or not 0
            <= now - cluster.topics_s
            < self._settings.topic_refresh  # the clock may go back
            or bool(cluster.missing)
            or bool(cluster.topics.unknown)  # deleted, if the next listing lacks them too
            or cluster.waits_for_topics
            or any(
                f.settings.offsets_topic not in cluster.topics.counts for f in self._topic_consumers
            )
        )

    def _reap(self) -> None:
        outside = [*self._cluster.outside_groups.values()]
        if None in outside:
            return  # some of our groups may turn out to be outside groups
        keep = {topic_consumer.own_group for topic_consumer in self._topic_consumers}
        keep = keep.union(*(groups for groups in outside if groups))
        try:
            reaped = steps.reap_groups(self._cluster, self._admin, keep, self._in_time_s)
        except KafkaException as error:  # it is tried again next time
            self._log.warning("cannot list the brokers' groups", problem=error.args[0].str())
            return
        for group in reaped:
            self._log.info("removed a group the brokers no longer know", group=group)
