"""Follows one offsets topic: Spark reads, this thread decodes and folds the batches."""

import ctypes
import math
import threading
import time
from collections.abc import Callable
from functools import cached_property

import pyarrow as pa
import structlog
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from warren.clients import kafka
from warren.config import Connection
from warren.errors import OffsetsTopicMissing, StreamEnded, Unreachable
from warren.pipeline import steps
from warren.pipeline.consumers import LiveEvents, TopicConsumer
from warren.pipeline.shared_query import SharedQuery, Turn
from warren.pipeline.starting_positions import (
    earliest_positions,
    forget_topic,
    reader_group,
    starting_positions,
)
from warren.sources import log_ends
from warren.sources.offsets_topic import (
    BATCH_RECORDS,
    HandOver,
    Positions,
    TopicSource,
    TopicStream,
)

log = structlog.get_logger()

FIRST_POLL_S, POLL_S = 0.02, 0.5
LOG_EVERY_S = 5.0
ANSWER_S = 5.0  # how long to wait at the start for a leader that may be frozen
ALONE_S, ALONE_AT_MOST_S = 60.0, 600.0
RETRY_S = 30.0  # between attempts to read partitions whose leader did not answer


class TopicReader:
    def __init__(
        self,
        spark: SparkSession,
        topic_consumer: TopicConsumer,
        connection: Connection,
        changed: Callable[[], None],
        shared: SharedQuery | None = None,
    ) -> None:
        settings = topic_consumer.settings
        self._spark = spark
        self._topic_consumer = topic_consumer
        self._connection = connection
        self._changed = changed
        self._own = SharedQuery(spark)
        self._shared = shared or self._own
        self._alone_until, self._alone_s = -math.inf, ALONE_S
        self._clients: tuple[dict[str, str], set[int]] | None = None  # who reads for Spark
        self._group = ""
        is_restored = bool(topic_consumer.progress.position)
        if settings.start_latest and settings.backfill_earliest and not is_restored:
            topic_consumer.live_events = LiveEvents()
        self._logged_at = time.monotonic()
        self._is_caught_up = False
        self._log = log.bind(
            type="module", coordinator="consumer", class_="kafka", name=settings.name
        )

    @cached_property
    def _admin(self) -> AdminClient:
        return kafka.admin_client(self._topic_consumer.settings.servers, self._connection)

    def run(self, stop: threading.Event) -> None:
        """Follow the topic from our position; return on `stop`, or when reading must start over."""
        if not self._wait_for_topic(stop):
            return
        self._notice_replaced_topic()
        self._renew_leaders()
        assigned = self._assigned()
        before = dict(self._topic_consumer.progress.position)
        start = starting_positions(self._topic_consumer, self._admin, ANSWER_S)
        self._log_lost(before, start)
        if not start:
            raise StreamEnded("no partition of the offsets topic answers")
        progress = self._topic_consumer.progress
        progress.unanswered = sorted(assigned - start.keys())
        retry_at = time.monotonic() + RETRY_S if progress.unanswered else math.inf
        with self._topic_consumer.cluster.lock:
            progress.begin(start, self._now())
        steps.refresh_progress(self._topic_consumer, self._admin, self._now(), ANSWER_S)
        if progress.remaining > BATCH_RECORDS:
            self._read_to_end(self._topic_consumer, start, stop)
            start = {partition: progress.position[partition] for partition in start}
        if stop.is_set():
            return
        self._follow(start, retry_at, stop)

    def _follow(self, start: Positions, until: float, stop: threading.Event) -> None:
        """Fold what comes, until something asks for another start."""
        stream, query = self._stream(start), self._shared
        if not self._may_share():
            query, until = self._own, min(until, self._alone_until)
        starts_over = self._starts_over(start)
        with query.reading(stream, stop) as turn:
            while not stop.is_set():
                # Others must not wait for brokers that do not answer.
                disturbs = turn.is_shared and not self._is_sound
                if disturbs or starts_over() or time.monotonic() >= until:
                    if turn.is_shared:
                        self._stay_alone()
                    return
                self._fold_next(self._topic_consumer, stream.hand_over)
                self._log_progress()
                if not turn.is_reading and not stream.hand_over.holds:
                    self._note_end(turn)
                    return

    def _starts_over(self, start: Positions) -> Callable[[], bool]:
        """Whether reading must start over, because the topic is not what it was."""
        topic_consumer = self._topic_consumer
        assigned = {*start} | {*topic_consumer.progress.unanswered}
        return lambda: bool(
            self._assigned() != assigned
            or topic_consumer.is_topic_replaced
            # A partition that did not answer is checked with its retry.
            or topic_consumer.progress.shortened & start.keys()
        )

    @property
    def _is_sound(self) -> bool:
        cluster = self._topic_consumer.cluster
        unanswered = self._topic_consumer.progress.unanswered
        return not (cluster.problem or cluster.silent_brokers or unanswered)

    def _may_share(self) -> bool:
        if self._shared is self._own:
            return True
        if not self._is_sound:
            self._stay_alone()
        return time.monotonic() >= self._alone_until

    def _stay_alone(self) -> None:
        """Read alone for a while, longer each time: who comes and goes disturbs all others."""
        now = time.monotonic()
        is_again = now < self._alone_until + ALONE_AT_MOST_S
        self._alone_s = min(2 * self._alone_s, ALONE_AT_MOST_S) if is_again else ALONE_S
        self._alone_until = now + self._alone_s

    def _note_end(self, turn: Turn) -> None:
        """Read alone for a while after a failure of a shared query: it shows whose it is."""
        if turn.failure:
            self._clients = None  # they may be what failed
        if self._shared is not self._own and (turn.failure or not turn.is_shared):
            self._stay_alone()
        if not turn.is_shared:
            raise StreamEnded(turn.failure or "no reason given")

    def backfill(self, stop: threading.Event) -> None:
        """Read once, beside the live reader, the records from before it started.

        No snapshot is saved until all are read: a restart before that starts the backfill again.
        """
        while not self._topic_consumer.progress.position:
            if stop.wait(POLL_S):
                return
        if self._topic_consumer.unread_past is None:
            self._topic_consumer.unread_past = {*range(self._topic_consumer.partition_count)}
        past, left = self._topic_consumer.backfill(), self._topic_consumer.unread_past
        self._read_past(past, left, stop)
        if left and not self._topic_consumer.is_new_topic:
            self._log.warning(
                "backfill interrupted; it starts again at the next start",
                records=past.progress.records,
            )
            return
        self._log.info("backfill done", records=past.progress.records)
        self._topic_consumer.live_events = None
        self._topic_consumer.backfill_trouble.problem = ""
        stop.wait()

    def _read_past(self, past: TopicConsumer, left: set[int], stop: threading.Event) -> None:
        """Read every partition as soon as it has a leader; a new topic has no past."""
        logged: set[int] = set()
        while left and not self._topic_consumer.is_new_topic:
            start = self._past_positions(past, left)
            if start and not self._read_to_end(past, start, stop):
                return
            left.difference_update(start)
            if left and left != logged:
                logged = {*left}
                self._log.warning(
                    "partitions without a leader are back-filled once they have one",
                    partitions=sorted(left),
                )
            if left and stop.wait(POLL_S):
                return

    def _past_positions(self, past: TopicConsumer, left: set[int]) -> Positions:
        """Where to start; only partitions that are also read live, so that no record is missed."""
        begun = left & self._topic_consumer.progress.position.keys() & self._assigned()
        first = earliest_positions(past, self._admin, ANSWER_S) if begun else {}
        return {partition: at for partition, at in first.items() if partition in begun}

    def _read_to_end(
        self, topic_consumer: TopicConsumer, start: Positions, stop: threading.Event
    ) -> bool:
        """Read all records there are now, without the live query's pauses between batches.

        False if `stop` came before the end.
        """
        stream = self._stream(start, until_now=True)
        with SharedQuery(self._spark).reading(stream, stop) as turn:
            while is_reading := turn.is_reading or stream.hand_over.holds:
                if stop.is_set():
                    break
                self._fold_next(topic_consumer, stream.hand_over)
                self._log_progress()
            if turn.failure:
                raise StreamEnded(turn.failure)
            return not is_reading

    def _notice_replaced_topic(self) -> None:
        """Start over if the topic was deleted and created again."""
        topic_consumer = self._topic_consumer
        if topic_consumer.is_topic_replaced:
            self._log.warning(
                "the offsets topic was deleted and created again; reading from its start"
            )
            forget_topic(topic_consumer)
        topic_consumer.read_id = topic_consumer.topic_id or topic_consumer.read_id

    def _renew_leaders(self) -> None:
        try:
            log_ends.renew_leaders(self._admin)
        except KafkaException as error:
            raise Unreachable(error.args[0].str()) from error

    def _now(self) -> float:
        return self._topic_consumer.cluster.clock()

    def _log_lost(self, before: Positions, start: Positions) -> None:
        """Warn of positions that are no longer in the topic, such as after retention."""
        lost = {each: at for each, at in before.items() if start.get(each, at) != at}
        if lost:
            self._log.warning(
                "the offsets topic no longer holds our position; reading from its earliest record",
                partitions=sorted(lost),
            )

    def _wait_for_topic(self, stop: threading.Event) -> bool:
        """Wait until the topic and the log ends are known; a commit's lag needs its log end."""
        topic_consumer, pause_s = self._topic_consumer, FIRST_POLL_S
        while not topic_consumer.cluster.ends_s or not self._assigned():
            if topic_consumer.lacks_topic and not topic_consumer.is_new_topic:
                topic_consumer.is_new_topic = True
                raise OffsetsTopicMissing(
                    topic_consumer.settings.offsets_topic, topic_consumer.cluster.name
                )
            if stop.wait(pause_s):
                return False
            pause_s = min(2 * pause_s, POLL_S)
        return True

    def _assigned(self) -> set[int]:
        """The partitions that have a leader; one without would hold up all others."""
        return {number for _, number in self._topic_consumer.leaders}

    def _stream(self, start: Positions, *, until_now: bool = False) -> TopicStream:
        topic = self._topic_consumer.settings.offsets_topic
        return TopicStream(TopicSource(topic, self._options(start), start, until_now), HandOver())

    def _options(self, start: Positions) -> dict[str, str]:
        """How Spark logs in; reads keys and certificates again, as they may have been renewed.

        Spark keeps its clients by group. As long as all else is the same, the next query goes on
        with those of the last one: to make one for each partition takes a second or more.
        """
        settings, leaders = self._topic_consumer.settings, self._topic_consumer.leaders
        topics = self._topic_consumer.cluster.topics or log_ends.TopicListing({}, {}, {})
        answering = {broker for (_, number), broker in leaders.items() if number in start}
        try:
            login = kafka.spark(settings.servers, self._connection, group="")
        except OSError as error:
            raise StreamEnded(f"cannot read the credentials: {error}") from error
        login["kafka.isolation.level"] = settings.isolation_level.replace("-", "_")
        if self._clients != (login, answering):
            self._clients, self._group = (login, answering), reader_group(topics, answering)
        return login | {"kafka.group.id": self._group}

    def _fold_next(self, topic_consumer: TopicConsumer, hand_over: HandOver) -> None:
        if batch := hand_over.take(POLL_S):
            steps.fold(topic_consumer, steps.decoded(batch), self._now())
            hand_over.done()
            if topic_consumer.is_backfill:
                topic_consumer.backfill_trouble.problem = ""
            self._changed()

    def _log_progress(self) -> None:
        progress, now = self._topic_consumer.progress, self._now()
        was_caught_up, self._is_caught_up = self._is_caught_up, progress.is_caught_up
        if progress.is_caught_up:
            if not was_caught_up:
                self._log.info("caught up", records=progress.records)
                _give_memory_back()
        elif time.monotonic() - self._logged_at >= LOG_EVERY_S:
            self._logged_at = time.monotonic()
            left = progress.seconds_left(now)
            self._log.info(
                "catching up",
                records=progress.records,
                remaining=progress.remaining,
                records_per_second=round(progress.rate(now)),
                seconds_left=None if left is None else round(left),
            )


def _give_memory_back() -> None:
    """Return to the system what batches took and nobody holds: Arrow and the C library keep it."""
    pa.default_memory_pool().release_unused()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # other C libraries lack it
        trim(0)
