"""Watches the brokers of one cluster: topics, log ends, dead groups, how far there is to read."""

import threading
import time
from collections.abc import Callable, Sequence

import structlog
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren import pipeline
from warren.cluster import Cluster, Following
from warren.config import Cluster as Settings
from warren.config import Connection
from warren.errors import Unreachable
from warren.sources import clients, log_ends

log = structlog.get_logger()

MIN_TIMEOUT_S = 3.0
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
        self._last_error = ""
        self._reaped = time.monotonic()
        self._reaps = settings.groups_reaper_refresh > 0
        if self._reaps and connection.profile.kafka_release < REAPER_SINCE:
            self._log.warning("groups reaper disabled, it needs kafka-version 0.11.0 or newer")
            self._reaps = False
        self.admin = AdminClient(
            clients.librdkafka(settings.servers, connection) | {"error_cb": self._remember}
        )

    def run(self, stop: threading.Event) -> None:
        """One round every `offset-refresh`; raises when no broker answers."""
        while not stop.is_set():
            began = time.monotonic()
            try:
                self._round(time.time())
            except KafkaException as error:
                self.admin.poll(0)  # brings the reason, such as a wrong password, to `_remember`
                raise Unreachable(self._last_error or error.args[0].str()) from error
            self._last_error = ""
            if self._cluster.problem:
                self._log.info("brokers answer again")
                self._cluster.problem = ""
            self._changed()
            stop.wait(self._settings.offset_refresh - (time.monotonic() - began))

    def _round(self, now: float) -> None:
        if self._wants_topics(now):
            pipeline.refresh_topics(self._cluster, self.admin, now)
        # A broker that is frozen must not delay what the others tell by more than this.
        in_time_s = min(log_ends.TIMEOUT_S, max(MIN_TIMEOUT_S, self._settings.offset_refresh / 2))
        pipeline.refresh_ends(self._cluster, self.admin, now, in_time_s)
        for following in self._followings:
            pipeline.refresh_progress(following, self.admin, now)
            following.tell_held_back(now)
        if self._reaps and time.monotonic() - self._reaped >= self._settings.groups_reaper_refresh:
            self._reaped = time.monotonic()
            self._reap()

    def _wants_topics(self, now: float) -> bool:
        """Every `topic-refresh`, and sooner when something waits for a topic to be known."""
        cluster = self._cluster
        return (
            cluster.topics is None
            or now - cluster.topics_s >= self._settings.topic_refresh
            or bool(cluster.missing)
            or cluster.waits_for_topics
            or any(f.settings.offsets_topic not in cluster.topics.counts for f in self._followings)
        )

    def _reap(self) -> None:
        keep = {following.own_group for following in self._followings}
        for group in pipeline.reap_groups(self._cluster, self.admin, keep):
            self._log.info("removed a group the brokers no longer know", group=group)

    def _remember(self, error: KafkaError) -> None:
        # That all brokers are down follows from what was told before, and gives no reason.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  # librdkafka's own codes
            # Without "(after 3ms in state CONNECT)": the same failure should read the same.
            self._last_error = error.str().partition(" (after ")[0]
