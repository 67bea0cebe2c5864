"""Follows one offsets topic: Spark reads and decodes, this thread folds."""

import math
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import structlog
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from warren import pipeline, positions
from warren.clients import kafka
from warren.cluster import Following, Heard
from warren.config import Connection
from warren.errors import OffsetsTopicMissing, StreamEnded, Unreachable
from warren.session import SCRATCH
from warren.sources import log_ends
from warren.sources.causes import root_cause
from warren.sources.offsets_topic import BATCH_RECORDS, HandOver, Positions, Source

log = structlog.get_logger()

POLL_S = 0.5
TELL_EVERY_S = 5.0
ANSWER_S = 5.0  # that reading waits, at its beginning, for a leader that may be frozen
UNANSWERED_S = 30.0  # after which partitions whose leader did not answer are tried again


class Follower:
    def __init__(
        self,
        spark: SparkSession,
        following: Following,
        connection: Connection,
        changed: Callable[[], None],
    ) -> None:
        settings = following.settings
        self._spark = spark
        self._following = following
        self._connection = connection
        self._changed = changed
        is_begun = bool(following.progress.position)  # by the snapshot it goes on from
        if settings.start_latest and settings.backfill_earliest and not is_begun:
            following.heard = Heard()
        self._told = time.monotonic()
        self._is_caught_up = False
        self._log = log.bind(
            type="module", coordinator="consumer", class_="kafka", name=settings.name
        )

    @cached_property
    def _admin(self) -> AdminClient:
        return kafka.admin_client(self._following.settings.servers, self._connection)

    def run(self, stop: threading.Event) -> None:
        """Follow from where the windows stand; returns when asked to, or to begin anew."""
        if not self._wait_for_topic(stop):
            return
        self._notice_anew()
        self._renew_leaders()
        assigned = self._assigned()
        stood = dict(self._following.progress.position)
        start = positions.starting_positions(self._following, self._admin, ANSWER_S)
        self._tell_lost(stood, start)
        if not start:
            raise StreamEnded("no partition of the offsets topic answers")
        progress = self._following.progress
        progress.unanswered = sorted(assigned - start.keys())
        again_at = time.monotonic() + UNANSWERED_S if progress.unanswered else math.inf
        with self._following.cluster.lock:
            progress.begin(start, self._now())
        pipeline.refresh_progress(self._following, self._admin, self._now(), ANSWER_S)
        if progress.remaining > BATCH_RECORDS:
            self._read_to_end(self._following, start, stop)
            start = {partition: progress.position[partition] for partition in start}
        if stop.is_set():
            return
        with self._query(start) as (query, hand_over):
            while self._assigned() == assigned and time.monotonic() < again_at:
                # One that did not answer just now is looked at when it is tried again.
                is_shortened = bool(progress.shortened & start.keys())
                if stop.is_set() or self._following.is_made_anew or is_shortened:
                    return
                self._fold_next(self._following, hand_over)
                self._tell_progress()
                if not query.isActive and not hand_over.holds:
                    raise StreamEnded(_reason(query.exception()))

    def backfill(self, stop: threading.Event) -> None:
        """Read what the topic held before the live reading began, once, beside it.

        Until all of it is read no snapshot is made: a start after this one does it anew.
        """
        while not self._following.progress.position:
            if stop.wait(POLL_S):
                return
        if self._following.unread_past is None:
            self._following.unread_past = {*range(self._following.partition_count)}
        past, left = self._following.backfill(), self._following.unread_past
        self._read_past(past, left, stop)
        if left and not self._following.is_new_topic:
            self._log.warning(
                "backfill interrupted; the next start begins it anew", records=past.progress.records
            )
            return
        self._log.info("backfill done", records=past.progress.records)
        self._following.heard = None
        stop.wait()

    def _read_past(self, past: Following, left: set[int], stop: threading.Event) -> None:
        """Read every partition when it has a leader; of a topic made anew there is no past."""
        told: set[int] = set()
        while left and not self._following.is_new_topic:
            start = self._past_positions(past, left)
            if start and not self._read_to_end(past, start, stop):
                return
            left.difference_update(start)
            if left and left != told:
                told = {*left}
                self._log.warning(
                    "partitions without a leader are back-filled when they have one",
                    partitions=sorted(left),
                )
            if left and stop.wait(POLL_S):
                return

    def _past_positions(self, past: Following, left: set[int]) -> Positions:
        """Where to begin: with what the live reading has begun on, so that nothing lies between."""
        begun = left & self._following.progress.position.keys() & self._assigned()
        first = positions.earliest_positions(past, self._admin, ANSWER_S) if begun else {}
        return {partition: at for partition, at in first.items() if partition in begun}

    def _read_to_end(self, following: Following, start: Positions, stop: threading.Event) -> bool:
        """Read what is there now, one batch upon the other; the live query has its pauses.

        Whether it was all read: a stop may come before.
        """
        with self._query(start, until_now=True) as (query, hand_over):
            while is_reading := query.isActive or hand_over.holds:
                if stop.is_set():
                    break
                self._fold_next(following, hand_over)
                self._tell_progress()
            if failure := query.exception():
                raise StreamEnded(_reason(failure))
            return not is_reading

    def _notice_anew(self) -> None:
        """In a topic that was deleted and made again the old positions say nothing."""
        following = self._following
        if following.is_made_anew:
            self._log.warning("the offsets topic was made anew; it is read from its earliest")
            positions.begin_anew(following)
        following.read_id = following.topic_id or following.read_id

    def _renew_leaders(self) -> None:
        try:
            log_ends.renew_leaders(self._admin)
        except KafkaException as error:
            raise Unreachable(error.args[0].str()) from error

    def _now(self) -> float:
        return self._following.cluster.clock()

    def _tell_lost(self, stood: Positions, start: Positions) -> None:
        """Retention may have taken what was to be read next, or the topic be another."""
        lost = {each: at for each, at in stood.items() if start.get(each, at) != at}
        if lost:
            self._log.warning(
                "the offsets topic no longer holds where reading stood; begun at its earliest",
                partitions=sorted(lost),
            )

    def _wait_for_topic(self, stop: threading.Event) -> bool:
        """A commit counts against the log end of its partition: these come first."""
        following = self._following
        while not following.cluster.ends_s or not self._assigned():
            if following.lacks_topic and not following.is_new_topic:
                following.is_new_topic = True
                raise OffsetsTopicMissing(following.settings.offsets_topic, following.cluster.name)
            if stop.wait(POLL_S):
                return False
        return True

    def _assigned(self) -> set[int]:
        """Partitions that have a leader: one without would hold up all others."""
        return {number for _, number in self._following.leaders}

    @contextmanager
    def _query(
        self, start: Positions, *, until_now: bool = False
    ) -> Iterator[tuple[StreamingQuery, HandOver]]:
        settings = self._following.settings
        hand_over = HandOver()
        # A pool of its own lets small batches pass another cluster's catching up.
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", settings.name)
        source = Source(settings.offsets_topic, self._options(start), start, until_now)
        with tempfile.TemporaryDirectory(
            prefix="warren-stream-", dir=self._spark.conf.get(SCRATCH), ignore_cleanup_errors=True
        ) as scratch:
            query = pipeline.follow(self._spark, source, hand_over, Path(scratch))
            try:
                yield query, hand_over
            finally:
                hand_over.stop()
                query.stop()

    def _options(self, start: Positions) -> dict[str, str]:
        """How Spark logs in; keys and certificates as they are now, as they may be renewed."""
        settings, leaders = self._following.settings, self._following.leaders
        topics = self._following.cluster.topics or log_ends.Topics({}, {}, {})
        answering = {broker for (_, number), broker in leaders.items() if number in start}
        group = positions.reader_group(topics, answering)
        try:
            login = kafka.spark(settings.servers, self._connection, group)
        except OSError as error:
            raise StreamEnded(f"there is nothing to log in with: {error}") from error
        return login | {"kafka.isolation.level": settings.isolation_level.replace("-", "_")}

    def _fold_next(self, following: Following, hand_over: HandOver) -> None:
        if batch := hand_over.take(POLL_S):
            pipeline.fold(following, batch, self._now())
            hand_over.done()
            self._changed()

    def _tell_progress(self) -> None:
        progress, now = self._following.progress, self._now()
        was_caught_up, self._is_caught_up = self._is_caught_up, progress.is_caught_up
        if progress.is_caught_up:
            if not was_caught_up:
                self._log.info("caught up", records=progress.records)
        elif time.monotonic() - self._told >= TELL_EVERY_S:
            self._told = time.monotonic()
            left = progress.seconds_left(now)
            self._log.info(
                "catching up",
                records=progress.records,
                remaining=progress.remaining,
                records_per_second=round(progress.rate(now)),
                seconds_left=None if left is None else round(left),
            )


def _reason(error: StreamingQueryException | None) -> str:
    return (root_cause(str(error)) if error else "") or "no reason given"
