"""Builds the system from a configuration and runs it; knows every package.

A thread for each cluster reads its log ends, a thread for each consumer folds what Spark hands
over, and one more judges. A thread that fails is started again after a while, so that nothing that
breaks on one cluster is felt on another.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import structlog
from pyspark.sql import SparkSession

from warren import health, pipeline
from warren.board import Board
from warren.cluster import Accepts, Following, new_cluster
from warren.config import Config, Loaded
from warren.errors import SourceError
from warren.evaluate.verdicts import Settings
from warren.follower import Follower
from warren.process import logs
from warren.process.life import log_findings, running
from warren.serve.listeners import bind
from warren.serve.serving import Serving
from warren.serve.serving import start as start_serving
from warren.session import start_session, stop_session
from warren.watcher import Watcher

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 30.0
STEADY_S = 60.0  # a thread that ran this long was well; its next failure is a first one again
STOP_SECONDS = 4.0
PUBLISHED_SECONDS = 5.0
MIN_PAUSE_S = 0.2
POLL_S = 0.2


def serve(loaded: Loaded) -> None:
    """Monitor until a signal comes."""
    with running(loaded.config) as stop:
        log_findings(loaded)
        with monitoring(loaded.config) as monitor, spark_session(loaded.config) as spark:
            monitor.run(spark, stop)


@contextmanager
def spark_session(config: Config) -> Iterator[SparkSession]:
    spark = start_session(
        config.spark.master,
        "warren",
        config.spark.conf,
        config.spark.driver_memory,
        debug=config.logging.level == "debug",
    )
    try:
        yield spark
    finally:
        stop_session(spark)


@contextmanager
def monitoring(config: Config) -> Iterator["Monitor"]:
    """A monitor that answers requests already, though it does not know anything yet."""
    listeners = bind(config.httpservers)
    monitor = Monitor(config)
    monitor.urls = [listener.url for listener in listeners]
    monitor.serving = start_serving(config, listeners, monitor)
    try:
        yield monitor
    finally:
        monitor.serving.stop()


class Monitor:
    """All clusters of a configuration, from brokers to board; also what requests may change."""

    serving: Serving
    urls: Sequence[str] = ()  # where it answers

    def __init__(self, config: Config) -> None:
        self._config = config
        self._settings = Settings(
            minimum_complete=config.evaluator.minimum_complete,
            allowed_lag=config.evaluator.allowed_lag,
        )
        self.clusters = {name: new_cluster(name, config.storage) for name in config.clusters}
        self.followings = {
            name: Following(
                consumer,
                self.clusters[consumer.cluster],
                Accepts(consumer.groups, config.storage.groups),
            )
            for name, consumer in config.consumers.items()
            if consumer.class_name == "kafka"
        }
        for name in config.consumers.keys() - self.followings.keys():
            log.warning("consumers of this class are not read yet", type="main", consumer=name)
        self.board = Board(0)
        self._changed = threading.Event()
        self._urgent = threading.Event()  # somebody waits for the next board
        self._ticks = threading.Condition()
        self._begun = self._published = 0

    def run(self, spark: SparkSession, stop: threading.Event) -> None:
        """Work until `stop` is set."""
        threads = [*self._watch_clusters(stop), *self._follow_consumers(spark, stop)]
        threads.append(_surviving("judge", self._judge, Trouble(), stop))
        stop.wait()
        for thread in threads:
            thread.join(STOP_SECONDS)

    def _judge(self, stop: threading.Event) -> None:
        """Publish one board after another."""
        while not stop.is_set():
            self._urgent.clear()
            self._rest(stop, self._tick())
            self._wait_for_change(stop)

    def _rest(self, stop: threading.Event, took: float) -> None:
        """Judging a great many partitions takes its time: leave the better part to reading."""
        began, longest = time.monotonic(), max(self._config.evaluator.expire_cache, MIN_PAUSE_S)
        while not stop.wait(MIN_PAUSE_S) and not self._urgent.is_set():
            is_caught_up = all(f.progress.is_caught_up for f in self.followings.values())
            enough = took if is_caught_up else min(9 * took, longest)
            if time.monotonic() - began >= enough:
                return

    def _watch_clusters(self, stop: threading.Event) -> Iterator[threading.Thread]:
        for name, cluster in self.clusters.items():
            followings = [each for each in self.followings.values() if each.cluster is cluster]
            settings = self._config.clusters[name]
            connection = self._config.connection(settings)
            watcher = Watcher(cluster, settings, connection, followings, self._changed.set)
            yield _surviving(f"cluster {name}", watcher.run, cluster, stop)

    def _follow_consumers(
        self, spark: SparkSession, stop: threading.Event
    ) -> Iterator[threading.Thread]:
        for name, following in self.followings.items():
            connection = self._config.connection(following.settings)
            follower = Follower(spark, following, connection, self._changed.set)
            yield _surviving(f"consumer {name}", follower.run, following.progress, stop)
            if following.settings.start_latest and following.settings.backfill_earliest:
                yield _surviving(f"backfill {name}", follower.backfill, Trouble(), stop)

    def _tick(self) -> float:
        """Judge everything with one `now` and publish one board; the seconds it took."""
        began, now = time.monotonic(), time.time()
        with self._ticks:
            self._begun += 1
        clusters = {
            name: pipeline.judge_cluster(cluster, self._settings, int(now), self.serving.store)
            for name, cluster in self.clusters.items()
        }
        took = time.monotonic() - began
        told = health.describe(self.clusters, self.followings, took, now)
        self.board = Board(int(now * 1000), clusters, told)
        self.serving.publish(self.board)
        with self._ticks:
            self._published = self._begun
            self._ticks.notify_all()
        return took

    def _wait_for_change(self, stop: threading.Event) -> None:
        """A board is made soon after every change, and at least once in `expire-cache`."""
        until = time.monotonic() + self._config.evaluator.expire_cache
        while not stop.is_set() and not self._changed.wait(POLL_S):
            if time.monotonic() >= until:
                return
        self._changed.clear()

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        """Forget a group, or one topic of it, and wait for a board without it."""
        if cluster not in self.clusters:
            return
        pipeline.delete_group(self.clusters[cluster], group, topic)
        with self._ticks:
            next_tick = self._begun + 1
            self._changed.set()
            self._urgent.set()
            self._ticks.wait_for(lambda: self._published >= next_tick, PUBLISHED_SECONDS)

    def get_level(self) -> str:
        return logs.get_level()

    def set_level(self, level: str) -> None:
        logs.set_level(level)


class Troubled(Protocol):
    """What failed last, and how often something did."""

    problem: str
    restarts: int


@dataclass
class Trouble:
    problem: str = ""
    restarts: int = 0


def _surviving(
    name: str, work: Callable[[threading.Event], None], state: Troubled, stop: threading.Event
) -> threading.Thread:
    """Run `work` in a thread, again and again, whatever it raises."""

    def run() -> None:
        delay = FIRST_RETRY_S
        while not stop.is_set():
            began = time.monotonic()
            try:
                work(stop)
                stop.wait(POLL_S)
                continue
            except SourceError as error:
                problem = str(error)
            except Exception as error:
                problem = repr(error)
                if problem != state.problem:
                    log.exception("unexpected failure", type="main", thread=name)
            if problem != state.problem:
                log.error("failed; tried again until it works", thread=name, problem=problem)
            state.problem = problem
            state.restarts += 1
            delay = FIRST_RETRY_S if time.monotonic() - began > STEADY_S else delay
            stop.wait(delay)
            delay = min(delay * 2, LAST_RETRY_S)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
