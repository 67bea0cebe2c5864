"""Watches the offsets that consumers keep in ZooKeeper."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import structlog
from kazoo.client import KazooClient

from warren.clients import zookeeper
from warren.pipeline import steps
from warren.pipeline.outside_consumer import OutsideConsumer, forget_vanished
from warren.sources.outside_changes import ChangeCollector, OutsideChanges
from warren.sources.zookeeper_tree import Tree

log = structlog.get_logger()

WAIT_S = 0.5
PATIENCE_S = 5.0  # without a connection, before it is reported as a problem


class ZookeeperWatcher:
    """Keeps its copy of the tree after a failure, so that it notices nodes removed meanwhile."""

    def __init__(self, outside_consumer: OutsideConsumer, changed: Callable[[], None]) -> None:
        settings, layout = outside_consumer.settings, outside_consumer.layout
        self._outside_consumer = outside_consumer
        self._changed = changed
        self._tree = Tree(layout.base, layout.kind)
        self._collector = ChangeCollector(layout)
        self._base = layout.base
        self._connected_at = time.monotonic()
        self._was_there = True
        self._has_compared = False  # the restored commits with the nodes there are
        self._request: Any = None  # sent, and not answered yet
        self._requested_s = 0.0  # when it was sent
        self._answered_s = 0.0  # when the answered request before it was sent
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
                self._fold_changes()
                self._update_state(client)
        finally:
            zookeeper.close(client)

    def _fold_changes(self) -> None:
        changes = self._collector.take(self._tree.refresh(WAIT_S))
        if changes.commits or changes.owners or changes.skipped:
            steps.fold_outside_changes(self._outside_consumer, changes, time.time())
            self._changed()

    def _update_state(self, client: KazooClient) -> None:
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
            self._set_problem(f"no ZooKeeper server answers: {servers}")
        self._note_read(client)
        if is_current:
            self._note_caught_up()

    def _note_read(self, client: KazooClient) -> None:
        """Find out up to when all changes have been read.

        ZooKeeper answers in order: watches report every change before a request ahead of its reply.
        """
        if self._answered_s and self._tree.is_mark_read:
            self._outside_consumer.read_s, self._answered_s = self._answered_s, 0.0
        if self._request and self._request.ready():
            if self._request.successful():
                self._answered_s = self._requested_s
                self._tree.mark()
            self._request = None
        if client.connected and not self._request and not self._answered_s:
            self._requested_s = self._outside_consumer.cluster.clock()
            self._request = client.exists_async(self._base)

    def _note_caught_up(self) -> None:
        cluster, name = self._outside_consumer.cluster, self._outside_consumer.settings.name
        with cluster.lock:
            cluster.outside_groups[name] = self._collector.groups | self._tree.unread
        if not self._tree.is_there and self._was_there:
            self._log.warning("ZooKeeper has no such path yet", path=self._base)
        self._was_there = self._tree.is_there
        if not self._outside_consumer.is_caught_up:
            self._outside_consumer.is_caught_up = True
            forget_vanished(cluster)
            self._log.info("caught up", records=self._outside_consumer.records)
            self._changed()
        if not self._has_compared and None not in cluster.outside_groups.values():
            self._has_compared = True
            self._remove_absent()

    def _remove_absent(self) -> None:
        """Remove commits of an earlier run whose nodes were deleted while we did not watch."""
        outside_consumer = self._outside_consumer
        with outside_consumer.cluster.lock:
            others = outside_consumer.groups_of_others()
            there = self._collector.understood
            ours = there.keys() - others - self._tree.unread
            removals = outside_consumer.removals_of_absent({group: there[group] for group in ours})
        if removals:
            steps.fold_outside_changes(
                outside_consumer, OutsideChanges(removals, {}, Counter()), time.time()
            )
            self._changed()

    def _set_problem(self, problem: str) -> None:
        if problem == self._outside_consumer.problem:
            return
        if problem:
            self._log.error("failed; retrying until it works", problem=problem)
        else:
            self._log.info("ZooKeeper answers again")
        self._outside_consumer.problem = problem
        self._changed()
