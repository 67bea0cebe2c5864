"""Builds the system from a configuration and runs it; knows every package.

One thread per cluster reads its log ends, one per consumer folds the batches that Spark has read,
and one more judges. A thread that fails is retried, so that a failure of one cluster does not
affect another.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import structlog
from msgspec.structs import replace
from pyspark.sql import SparkSession

from warren.config import Config, Loaded
from warren.evaluate.judge import JudgeSettings
from warren.history.service import HistoryService
from warren.model.board import Board, ClusterBoard
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.offset_reports import Report
from warren.notify.silence_book import SilenceBook
from warren.pipeline import health_report, steps
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.pipeline.outside_consumer import OutsideConsumer, outside_consumers
from warren.pipeline.readers import Readers
from warren.pipeline.refill_ends import EndsRefill
from warren.pipeline.reported_offsets import ReportCheck, reported_consumers
from warren.pipeline.snapshots import snapshots_of
from warren.pipeline.threads import Trouble, join_all, keep_running
from warren.process import logs
from warren.process.life import log_findings, running
from warren.serve.http.channel import AddSilence, EndSilence, ListSilences, OfSilences
from warren.serve.http.listeners import bind
from warren.serve.http.workers import Serving
from warren.serve.http.workers import start as start_serving
from warren.services import Services, not_begun
from warren.spark import java_process
from warren.spark.class_archive import made_later
from warren.spark.java_process import JavaProcess
from warren.spark.session import recordings, start_session, stop_session, wait_while_alive

log = structlog.get_logger()

PUBLISH_TIMEOUT_S = 5.0
MIN_PAUSE_S = 0.2
POLL_S = 0.2


def serve(loaded: Loaded, master: str | None = None, java: JavaProcess | None = None) -> None:
    """Monitor until a signal arrives; `master`, from the command line, says where Spark runs.

    `java` is Spark's Java, if it was started before this module was loaded.
    """
    config = loaded.config
    with running(config) as stop:
        log_findings(loaded)
        with (
            starting_spark(config, master, java) as starting,
            monitoring(config) as monitor,
            monitor.watching(stop),
        ):
            spark = starting.result()
            with made_later(recordings(spark), lambda: bool(monitor.board.health.ready)):
                monitor.run(spark, stop)


@contextmanager
def spark_session(config: Config, master: str | None = None) -> Iterator[SparkSession]:
    with starting_spark(config, master) as starting:
        yield starting.result()


@contextmanager
def starting_spark(
    config: Config, master: str | None = None, java: JavaProcess | None = None
) -> Iterator[Future[SparkSession]]:
    """Start Spark in a thread: Java takes seconds, in which the block can do something else."""
    with ThreadPoolExecutor(1, "spark") as thread:
        starting = thread.submit(
            start_session,
            master or config.spark.master,
            "warren",
            config.spark.conf,
            config.spark.driver_memory,
            bundles=java_process.bundles(config),
            debug=config.logging.level == "debug",
            java=java,
        )
        try:
            yield starting
        finally:
            if starting.exception() is None:
                stop_session(starting.result())


@contextmanager
def monitoring(config: Config) -> Iterator["Monitor"]:
    """A monitor that already answers requests, from its snapshots or without any data."""
    listeners = bind(config.httpservers)
    monitor = Monitor(config)
    monitor.urls = [listener.url for listener in listeners]
    monitor.serving = start_serving(config, listeners, monitor)
    try:
        monitor.restore()
        yield monitor
    finally:
        monitor.serving.stop()


class Monitor:
    """All clusters of a configuration, from brokers to board; requests may delete groups."""

    serving: Serving
    urls: Sequence[str] = ()  # of the HTTP listeners
    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(self, config: Config) -> None:
        self._config = config
        self._began_s = self.clock()
        self._settings = JudgeSettings(
            minimum_complete=config.evaluator.minimum_complete,
            allowed_lag=config.evaluator.allowed_lag,
            says_words=config.evaluator.says_words,
        )
        policies = config.group_policies()
        self.clusters = {
            name: new_cluster(name, config.storage, policies) for name in config.clusters
        }
        self.topic_consumers = {
            name: TopicConsumer(
                consumer,
                self.clusters[consumer.cluster],
                Accepts(consumer.groups, config.storage.groups),
            )
            for name, consumer in config.consumers.items()
            if consumer.class_name == "kafka"
        }
        reported = reported_consumers(config, self.clusters)
        self.outside_consumers: dict[str, OutsideConsumer] = {
            **outside_consumers(config, self.clusters),
            **reported,
        }
        self._reports = ReportCheck([*reported.values()])
        self.board = Board(0)
        self._silences = SilenceBook(config)
        self._services: Services | None = None
        self._history = HistoryService(config.history_directory)
        self._snapshots = snapshots_of(config, self.clusters, self.topic_consumers)
        self._changed = threading.Event()
        self._urgent = threading.Event()  # a request waits for the next board
        self._ticks = threading.Condition()
        self._ticks_begun = self._ticks_published = 0
        self._one_tick = threading.Lock()
        self._is_judging = False  # true once Spark has started
        self._watchers: list[threading.Thread] = []

    def restore(self) -> None:
        """Restore the snapshots, if there are any, and publish a board from them."""
        if self._snapshots is not None:
            self._snapshots.restore()
        if any(cluster.restored_s for cluster in self.clusters.values()):
            self._tick()
        else:
            self.serving.publish(Board(0, health=not_begun(self._config)))

    @contextmanager
    def watching(self, stop: threading.Event) -> Iterator[None]:
        """Ask the brokers while Spark still starts; `run` alone asks them once it has started."""
        self._watchers = self._watch(stop)
        try:
            yield
        finally:
            stop.set()
            join_all(self._watchers)

    def _watch(self, stop: threading.Event) -> list[threading.Thread]:
        readers = Readers(self._config, self._changed.set, stop)
        return [*readers.watch(self.clusters, self.topic_consumers)]

    def run(self, spark: SparkSession, stop: threading.Event) -> None:
        """Work until `stop` is set; it is also set when Spark dies."""
        self._history.begin(spark)
        self._services = Services(
            self._config, spark, lambda: self.board, self._history, self._silences
        )
        readers = Readers(self._config, self._changed.set, stop)
        threads = [
            *(self._watchers or self._watch(stop)),
            *readers.follow(self.topic_consumers, spark),
            *readers.follow_outside(self.outside_consumers, spark),
        ]
        threads.append(keep_running("judge", self._judge, Trouble(), stop))
        threads += self._services.start(stop, self._snapshots)
        if self._config.history:
            refill = EndsRefill(
                self._history.files, spark, self.clusters.values(), self._sources, self._began_s
            )
            threads.append(keep_running("past ends", refill.run, refill, stop))
        try:
            wait_while_alive(spark, stop)
        finally:
            stop.set()
            join_all(threads)
            if self._snapshots is not None:
                self._snapshots.save_last()

    def _judge(self, stop: threading.Event) -> None:
        """Publish one board after another."""
        self._is_judging = True
        while not stop.is_set():
            self._urgent.clear()
            self._rest(stop, self._tick())
            self._wait_for_change(stop)

    def _rest(self, stop: threading.Event, took: float) -> None:
        """Pause after judging: with many partitions it takes long, and readers need the CPU too."""
        began, longest = time.monotonic(), max(self._config.evaluator.expire_cache, MIN_PAUSE_S)
        while not stop.wait(MIN_PAUSE_S) and not self._urgent.is_set():
            is_busy = any(map(health_report.is_catching_up, self.topic_consumers.values()))
            enough = min(9 * took, longest) if is_busy else took
            if time.monotonic() - began >= enough:
                return

    def _tick(self) -> float:
        """Judge everything as of one `now` and publish a board; returns the seconds it took."""
        with self._one_tick:
            return self._judge_all(self.clock())

    def _judge_all(self, now: float) -> float:
        began = time.monotonic()
        with self._ticks:
            self._ticks_begun += 1
        ready = health_report.is_ready(self.topic_consumers, self.outside_consumers)
        clusters = {
            name: self._judge_cluster(cluster, int(now)) for name, cluster in self.clusters.items()
        }
        took = time.monotonic() - began
        health = replace(
            health_report.describe(
                self.clusters,
                self.topic_consumers,
                self.outside_consumers,
                clusters,
                now,
                ready=ready,
            ),
            tick_seconds=round(took, 4),
        )
        services = self._services
        health = services.add_to(health) if services else not_begun(self._config, health)
        self.board = Board(int(now * 1000), clusters, health)
        self.serving.publish(self.board)
        with self._ticks:
            self._ticks_published = self._ticks_begun
            self._ticks.notify_all()
        return took

    def _judge_cluster(self, cluster: ClusterState, now_s: int) -> ClusterBoard:
        sources = self._sources(cluster)
        if cluster.ends_s and sources.are_current_for_verdicts:
            cluster.restored_s = 0
        return steps.judge_cluster(cluster, sources, self._settings, now_s, self.serving.store)

    def _sources(self, cluster: ClusterState) -> Sources:
        topic_consumers = [
            each for each in self.topic_consumers.values() if each.cluster is cluster
        ]
        others = [each for each in self.outside_consumers.values() if each.cluster is cluster]
        return Sources(topic_consumers, others)

    def _wait_for_change(self, stop: threading.Event) -> None:
        """Wait for a change, but at most `expire-cache` seconds: then publish anyway."""
        until = time.monotonic() + self._config.evaluator.expire_cache
        while not stop.is_set() and not self._changed.wait(POLL_S):
            if time.monotonic() >= until:
                return
        self._changed.clear()

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        """Forget a group, or one topic of it, and wait for a board without it."""
        if cluster not in self.clusters:
            return
        steps.delete_group(self.clusters[cluster], group, topic)
        if not self._is_judging:
            self._tick()
            return
        with self._ticks:
            next_tick = self._ticks_begun + 1
            self._changed.set()
            self._urgent.set()
            self._ticks.wait_for(lambda: self._ticks_published >= next_tick, PUBLISH_TIMEOUT_S)

    def get_level(self) -> str:
        return logs.get_level()

    def set_level(self, level: str) -> None:
        logs.set_level(level)

    def silences(self, action: OfSilences) -> str:
        match action:
            case AddSilence(body, by):
                return self._silences.add(body, by.address, by.token).encoded()
            case EndSilence(number, by):
                return self._silences.end(number, by.address, by.token).encoded()
            case ListSilences(cluster, group):
                return self._silences.listed(cluster, group).encoded()

    def report_offsets(self, reports: list[Report]) -> str:
        return msgspec.json.encode(self._reports.take(reports)).decode()

    def recent_history(self, question: HistoryQuestion) -> str:
        return self._history.from_memory(self._with_known(question))

    def group_history(self, question: HistoryQuestion) -> str:
        return self._history.from_table(self._with_known(question))

    def history_progress(self, ticket: str) -> Progress | None:
        return self._history.progress(ticket)

    def history_report(self, question: ReportQuestion) -> str:
        return self._history.report(question)

    def _with_known(self, question: HistoryQuestion) -> HistoryQuestion:
        judged = self.board.clusters.get(question.cluster)
        is_known = judged is not None and question.group in judged.verdicts.names
        return question._replace(is_known=is_known)
