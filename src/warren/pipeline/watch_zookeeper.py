"""Follows the offsets that one kind of consumer keeps in ZooKeeper."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import structlog
from kazoo.client import KazooClient

from warren.clients import zookeeper
from warren.pipeline import steps
from warren.pipeline.consumers import OutsideConsumer, forget_vanished
from warren.sources.outside_changes import ChangeCollector, OutsideChanges
from warren.sources.zookeeper_tree import Tree

log = structlog.get_logger()

WAIT_S = 0.5
PATIENCE_S = 5.0  # without a connection, before it is called a problem


class ZookeeperWatcher:
    """What it knows of the tree outlives a failure, so that what is gone by then is noticed."""

    def __init__(self, outside_consumer: OutsideConsumer, changed: Callable[[], None]) -> None:
        settings, layout = outside_consumer.settings, outside_consumer.layout
        self._outside_consumer = outside_consumer
        self._changed = changed
        self._tree = Tree(layout.base, layout.kind)
        self._reports = ChangeCollector(layout)
        self._base = layout.base
        self._connected_at = time.monotonic()
        self._was_there = True
        self._has_compared = False  # what was restored with what is there
        self._question: Any = None  # that is not answered yet
        self._asked_s = self._answered_s = 0.0  # when it was asked; when the one before was
        self._log = log.bind(
            type="module", coordinator="consumer", class_=settings.class_name, name=settings.name
        )

    def run(self, stop: threading.Event) -> None:
        settings = self._outside_consumer.settings
        client = zookeeper.client(settings.servers, settings.zookeeper_timeout)
        self._tree.begin(client)
        client.start_async()
        try:
            while not stop.is_set():
                self._turn()
                self._tell(client)
        finally:
            zookeeper.close(client)

    def _turn(self) -> None:
        reported = self._reports.take(self._tree.refresh(WAIT_S))
        if reported.commits or reported.owners or reported.skipped:
            steps.fold_outside_changes(self._outside_consumer, reported, time.time())
            self._changed()

    def _tell(self, client: KazooClient) -> None:
        outside_consumer, now = self._outside_consumer, time.monotonic()
        is_current = client.connected and self._tree.is_complete
        if outside_consumer.is_behind != (not is_current):
            outside_consumer.is_behind = not is_current
            self._changed()
        if client.connected:
            self._connected_at = now
            self._set_problem("")
        elif now - self._connected_at > PATIENCE_S:
            servers = ", ".join(outside_consumer.settings.servers)
            self._set_problem(f"no ZooKeeper server answers of {servers}")
        self._note_read(client)
        if is_current:
            self._tell_caught_up()

    def _note_read(self, client: KazooClient) -> None:
        """ZooKeeper answers in order: what changed before a question is told before its answer.

        So when a question is answered, what watches have told by then is all that changed before.
        """
        if self._answered_s and self._tree.is_mark_read:
            self._outside_consumer.read_s, self._answered_s = self._answered_s, 0.0
        if self._question and self._question.ready():
            if self._question.successful():
                self._answered_s = self._asked_s
                self._tree.mark()
            self._question = None
        if client.connected and not self._question and not self._answered_s:
            self._asked_s = self._outside_consumer.cluster.clock()
            self._question = client.exists_async(self._base)

    def _tell_caught_up(self) -> None:
        cluster, name = self._outside_consumer.cluster, self._outside_consumer.settings.name
        with cluster.lock:
            cluster.elsewhere[name] = self._reports.groups | self._tree.unread
        if not self._tree.is_there and self._was_there:
            self._log.warning("ZooKeeper has no such path yet", path=self._base)
        self._was_there = self._tree.is_there
        if not self._outside_consumer.is_caught_up:
            self._outside_consumer.is_caught_up = True
            forget_vanished(cluster)
            self._log.info("caught up", records=self._outside_consumer.records)
            self._changed()
        if not self._has_compared and None not in cluster.elsewhere.values():
            self._has_compared = True
            self._forget_what_ended()

    def _forget_what_ended(self) -> None:
        """Drop commits of an earlier run whose nodes went while nobody watched."""
        outside_consumer = self._outside_consumer
        with outside_consumer.cluster.lock:
            others = outside_consumer.groups_of_others()
            there = self._reports.clear
            ours = there.keys() - others - self._tree.unread
            ended = outside_consumer.held_besides({group: there[group] for group in ours})
        if ended:
            steps.fold_outside_changes(
                outside_consumer, OutsideChanges(ended, {}, Counter()), time.time()
            )
            self._changed()

    def _set_problem(self, problem: str) -> None:
        if problem == self._outside_consumer.problem:
            return
        if problem:
            self._log.error("failed; tried again until it works", problem=problem)
        else:
            self._log.info("ZooKeeper answers again")
        self._outside_consumer.problem = problem
        self._changed()
