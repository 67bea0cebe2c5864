"""Watches the brokers of one cluster: topics, log ends, dead groups, how far there is to read."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property

import structlog
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from warren import pipeline
from warren.clients import kafka
from warren.clients.complaints import Complaints
from warren.cluster import Cluster, Following
from warren.config import Cluster as Settings
from warren.config import Connection
from warren.errors import Unreachable
from warren.pulse import SILENT, Pulse
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC

log = structlog.get_logger()

MIN_TIMEOUT_S = 3.0
PROGRESS_S = 2.0  # silence counts up to where reading has come: see often how far that is
REAPER_SINCE = (0, 11)  # the first Kafka that lists its groups


class Watcher:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        connection: Connection,
        followings: Sequence[Following],
        changed: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._followings = followings
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
            for following in self._followings:
                now = self._cluster.clock()
                pipeline.refresh_progress(following, self._admin, now, self._in_time_s)
                following.tell_held_back(now)

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
        pipeline.refresh_ends(self._cluster, self._admin, now, self._in_time_s)
        self._cluster.tell_no_room()
        if self._reaps and time.monotonic() - self._reaped >= self._settings.groups_reaper_refresh:
            self._reaped = time.monotonic()
            self._reap()

    def _refresh_topics(self, now: float) -> None:
        """Log, once an episode, that topics are not listed any more though they may be there."""
        cluster = self._cluster
        known = cluster.topics.counts.keys() if cluster.topics else set()
        needed = {following.settings.offsets_topic for following in self._followings}
        pipeline.refresh_topics(cluster, self._admin, now, needed or {OFFSETS_TOPIC} & known)
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
            or any(f.settings.offsets_topic not in cluster.topics.counts for f in self._followings)
        )

    def _reap(self) -> None:
        elsewhere = [*self._cluster.elsewhere.values()]
        if None in elsewhere:
            return  # whose groups these are is not known yet
        keep = {following.own_group for following in self._followings}
        keep = keep.union(*(groups for groups in elsewhere if groups))
        try:
            reaped = pipeline.reap_groups(self._cluster, self._admin, keep, self._in_time_s)
        except KafkaException as error:  # then nothing is known to be dead; next time
            self._log.warning("cannot list the brokers' groups", problem=error.args[0].str())
            return
        for group in reaped:
            self._log.info("removed a group the brokers no longer know", group=group)
