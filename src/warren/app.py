"""Builds the system from a configuration and runs it; knows every package.

A thread for each cluster reads its log ends, a thread for each consumer folds what Spark hands
over, and the calling thread judges. A thread that fails is started again after a while, so that
nothing that breaks on one cluster is felt on another.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import structlog
from pyspark.sql import SparkSession

from warren import pipeline
from warren.cluster import Accepts, Following, new_cluster
from warren.config import Config, Loaded
from warren.errors import SourceError
from warren.evaluate.verdicts import Settings, Verdicts
from warren.follower import Follower
from warren.process.life import log_findings, running
from warren.session import start_session, stop_session
from warren.watcher import Watcher

log = structlog.get_logger()

FIRST_RETRY_S, LAST_RETRY_S = 1.0, 30.0
STEADY_S = 60.0  # a thread that ran this long was well; its next failure is a first one again
STOP_SECONDS = 4.0
MIN_PAUSE_S = 0.2


class Troubled(Protocol):
    """What failed last, and how often something did."""

    problem: str
    restarts: int


def serve(loaded: Loaded) -> None:
    """Monitor until a signal comes."""
    with running(loaded.config) as stop:
        log_findings(loaded)
        Monitor(loaded.config).run(stop)


class Monitor:
    """All clusters of a configuration, from brokers to board."""

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
        self.verdicts: dict[str, Verdicts] = {}
        self._changed = threading.Event()

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set, then leave nothing behind."""
        spark = start_session(
            self._config.spark.master,
            "warren",
            self._config.spark.conf,
            self._config.spark.driver_memory,
            debug=self._config.logging.level == "debug",
        )
        try:
            threads = self._start_threads(spark, stop)
            self._judge_until(stop)
            for thread in threads:
                thread.join(STOP_SECONDS)
        finally:
            stop_session(spark)

    def _start_threads(self, spark: SparkSession, stop: threading.Event) -> list[threading.Thread]:
        threads = []
        for name, cluster in self.clusters.items():
            followings = [each for each in self.followings.values() if each.cluster is cluster]
            settings = self._config.clusters[name]
            connection = self._config.connection(settings)
            watcher = Watcher(cluster, settings, connection, followings, self._changed.set)
            threads.append(_surviving(f"cluster {name}", watcher.run, cluster, stop))
        for name, following in self.followings.items():
            connection = self._config.connection(following.settings)
            follower = Follower(spark, following, connection, self._changed.set)
            threads.append(_surviving(f"consumer {name}", follower.run, following.progress, stop))
        return threads

    def _judge_until(self, stop: threading.Event) -> None:
        """Publish a board soon after every change, and at least once in `expire-cache`."""
        max_age_s = max(self._config.evaluator.expire_cache, MIN_PAUSE_S)
        while not stop.is_set():
            began = time.monotonic()
            now_s = int(time.time())
            self.verdicts = {
                name: pipeline.judge_cluster(cluster, self._settings, now_s)
                for name, cluster in self.clusters.items()
            }
            took = time.monotonic() - began
            # Judging a great many partitions takes its time: leave the better part to reading.
            catching_up = not all(f.progress.is_caught_up for f in self.followings.values())
            stop.wait(max(MIN_PAUSE_S, took * (9 if catching_up else 1)))
            self._changed.wait(max_age_s)
            self._changed.clear()


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
                continue
            except SourceError as error:
                problem = str(error)
            except Exception as error:
                log.exception("unexpected failure", type="main", thread=name)
                problem = repr(error)
            if problem != state.problem:
                log.error("failed; trying again until it works", thread=name, problem=problem)
            state.problem = problem
            state.restarts += 1
            delay = FIRST_RETRY_S if time.monotonic() - began > STEADY_S else delay
            stop.wait(delay)
            delay = min(delay * 2, LAST_RETRY_S)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
