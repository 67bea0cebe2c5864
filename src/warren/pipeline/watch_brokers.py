"""Watches the brokers of one cluster: topics, log ends, dead groups, and whether they answer."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
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
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.log_ends import LATEST, Partition, TopicListing

log = structlog.get_logger()

PULSE_S = 2.0
ANSWER_S = 4.0  # who gives none in this time, twice, is silent
SILENT = "nothing came in time"


class Pulse:
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
        self._told = ""  # the problem, in our words
        self._topics: TopicListing | None = None  # of which these are
        self._one_of_each: Mapping[int, Partition] = {}
        self._log = log.bind(
            type="module", coordinator="cluster", class_="kafka", name=cluster.name
        )

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(PULSE_S):
            self._feel()

    def _feel(self) -> None:
        """Ask every leader; those that are silent once more, as we may have been busy ourselves."""
        asked = self._leaders()
        if not asked:
            return
        silent = self._silent(asked)
        silent = self._silent({broker: asked[broker] for broker in silent}) if silent else silent
        if len(silent) == len(asked):
            self._tell_silence()
            return
        if self._told:
            self._tell_answer()
        self._tell_some(silent, asked.keys() - silent)

    def _leaders(self) -> Mapping[int, Partition]:
        """A partition of each broker that leads any; looked for once in each listing of topics."""
        topics = self._cluster.topics
        if topics is not self._topics:
            self._topics = topics
            leaders = topics.leaders if topics else {}
            self._one_of_each = {broker: where for where, broker in leaders.items()}
        return self._one_of_each

    def _silent(self, asked: Mapping[int, Partition]) -> set[int]:
        admin = self._admin()
        answers = {
            broker: admin.list_offsets({TopicPartition(*where): LATEST}, request_timeout=ANSWER_S)
            for broker, where in asked.items()
        }
        return {
            broker for broker, each in answers.items() if not any(map(_is_answer, each.values()))
        }

    def _tell_silence(self) -> None:
        if self._cluster.problem:
            return
        self._admin().poll(0)  # brings the reason, such as a connection that is refused
        self._told = str(Unreachable(self._complaints.last or SILENT))
        self._cluster.problem = self._told
        self._log.error("brokers do not answer", problem=self._told)
        self._changed()

    def _tell_answer(self) -> None:
        if self._cluster.problem == self._told:
            self._cluster.problem = ""
            self._log.info("brokers answer again")
            self._changed()
        self._told = ""

    def _tell_some(self, silent: set[int], answering: set[int]) -> None:
        """Of brokers that are silent while others answer; one that leads nothing is not asked."""
        before = set(self._cluster.silent_brokers)
        if silent == before:
            return
        if new := sorted(silent - before):
            self._log.warning("some brokers do not answer", brokers=new)
        if back := sorted(before & answering):
            self._log.info("these brokers answer again", brokers=back)
        self._cluster.silent_brokers = sorted(silent)
        self._changed()


def _is_answer(asked: Future[Any]) -> bool:
    """Whatever it says: librdkafka's own errors are below 0, and so is an offset nobody gave."""
    try:
        offset: int = asked.result(2 * ANSWER_S).offset
    except KafkaException as error:
        code: int = error.args[0].code()
        return code >= 0
    except TimeoutError:
        return False
    return offset >= 0


MIN_TIMEOUT_S = 3.0
PROGRESS_S = 2.0  # silence counts up to where reading has come: see often how far that is
REAPER_SINCE = (0, 11)  # the first Kafka that lists its groups


class Watcher:
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
        # A broker that is frozen must not delay what the others tell by more than this.
        self._in_time_s = min(log_ends.TIMEOUT_S, max(MIN_TIMEOUT_S, settings.offset_refresh / 2))
        self._reaped = time.monotonic()
        self._reaps = settings.groups_reaper_refresh > 0
        if self._reaps and connection.profile.kafka_release < REAPER_SINCE:
            self._log.warning("groups reaper disabled, it needs kafka-version 0.11.0 or newer")
            self._reaps = False
        self._connection = connection
        self._are_topics_hidden = False

    @cached_property
    def _admin(self) -> AdminClient:
        """Made when it is needed: who cannot log in must not keep the others from starting."""
        return kafka.admin_client(self._settings.servers, self._connection, self._complaints)

    def run(self, stop: threading.Event) -> None:
        """One round every `offset-refresh`; raises when no broker answers."""
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
        """See how far the offsets topics go, however long a round over all topics takes."""
        while not stop.wait(PROGRESS_S):
            for topic_consumer in self._topic_consumers:
                now = self._cluster.clock()
                steps.refresh_progress(topic_consumer, self._admin, now, self._in_time_s)
                topic_consumer.tell_held_back(now)

    def _all_missing(self) -> str:
        """Why no partition at all has a log end, if so."""
        topics, missing = self._cluster.topics, self._cluster.missing
        if topics is None or not missing or topics.leaders.keys() - missing.keys():
            return ""
        return next(iter(missing.values()))

    def _reason(self, problem: str) -> str:
        """What the client tells beside; that it waited in vain is no reason, but all there is."""
        self._admin.poll(0)  # brings the reason, such as a wrong password, to light
        return self._complaints.last or (SILENT if log_ends.is_silence(problem) else problem)

    def _round(self, now: float) -> None:
        if self._wants_topics(now):
            self._refresh_topics(now)
        steps.refresh_ends(self._cluster, self._admin, now, self._in_time_s)
        self._cluster.tell_no_room()
        if self._reaps and time.monotonic() - self._reaped >= self._settings.groups_reaper_refresh:
            self._reaped = time.monotonic()
            self._reap()

    def _refresh_topics(self, now: float) -> None:
        """Log, once an episode, that topics are not listed any more though they may be there."""
        cluster = self._cluster
        known = cluster.topics.counts.keys() if cluster.topics else set()
        needed = {topic_consumer.settings.offsets_topic for topic_consumer in self._topic_consumers}
        steps.refresh_topics(cluster, self._admin, now, needed or {OFFSETS_TOPIC} & known)
        hidden = cluster.topics.hidden if cluster.topics else {}
        if hidden and not self._are_topics_hidden:
            name = min(hidden)
            self._log.warning(
                "topics are no longer listed; what is known of them stays",
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
            or not 0 <= now - cluster.topics_s < self._settings.topic_refresh  # it may be set back
            or bool(cluster.missing)
            or bool(cluster.topics.unknown)  # they are gone if the next listing lacks them too
            or cluster.waits_for_topics
            or any(
                f.settings.offsets_topic not in cluster.topics.counts for f in self._topic_consumers
            )
        )

    def _reap(self) -> None:
        elsewhere = [*self._cluster.elsewhere.values()]
        if None in elsewhere:
            return  # whose groups these are is not known yet
        keep = {topic_consumer.own_group for topic_consumer in self._topic_consumers}
        keep = keep.union(*(groups for groups in elsewhere if groups))
        try:
            reaped = steps.reap_groups(self._cluster, self._admin, keep, self._in_time_s)
        except KafkaException as error:  # then nothing is known to be dead; next time
            self._log.warning("cannot list the brokers' groups", problem=error.args[0].str())
            return
        for group in reaped:
            self._log.info("removed a group the brokers no longer know", group=group)
