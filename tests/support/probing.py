"""Rounds over the brokers of one cluster, and its probes at work."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np
import pyarrow as pa
from confluent_kafka.admin import AdminClient

from warren.config import ClientProfile, Cluster, Connection, Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.board import SharedFile, StoredWindows
from warren.model.probe_answers import Known
from warren.pipeline.cluster import ClusterState, new_cluster
from warren.pipeline.consumers import Sources
from warren.pipeline.probes import Probes
from warren.pipeline.steps import judge_cluster, refresh_edges, refresh_ends, refresh_topics
from warren.sources.log_edges import fetch_edges

PLAIN = Connection(profile=ClientProfile())
AGO_MS = 60_000  # when groups committed


@dataclass
class Watched:
    """A cluster whose brokers are asked by hand; groups commit as they are told."""

    admin: AdminClient
    cluster: ClusterState = field(default_factory=lambda: new_cluster("c", Storage(name="s")))
    orders: int = 0

    def commit(self, topic: str, *offsets: int, group: str = "g") -> None:
        """One for each partition, from 0 on."""
        count, self.orders = len(offsets), self.orders + 1
        columns = {
            "group": [group] * count,
            "topic": [topic] * count,
            "partition": pa.array(range(count), pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "committed_ms": [int(time.time() * 1000) - AGO_MS] * count,
            "order": [self.orders] * count,
        }
        with self.cluster.lock:
            self.cluster.windows.fold(pa.table(columns), int(time.time()))

    def round(self) -> Self:
        """What the cluster's thread and the judge do again and again."""
        admin, cluster = self.admin, self.cluster
        refresh_topics(cluster, admin, time.time())
        refresh_ends(cluster, admin, time.time(), 30)
        refresh_edges(cluster, partial(fetch_edges, admin, timeout_s=30))
        stored = StoredWindows(SharedFile(), 10, np.zeros(0, np.int32))
        settings = JudgeSettings()
        judge_cluster(cluster, Sources(), settings, int(time.time()), lambda *_: stored)
        return self

    def row(self, topic: str, partition: int = 0, group: str = "g") -> int:
        windows = self.cluster.windows
        pair = windows.pairs.find(group, windows.ends.topics.find(topic))
        assert pair >= 0
        return int(windows.pairs.blocks.base[pair]) + partition

    def end_row(self, topic: str, partition: int = 0) -> int:
        return int(self.cluster.windows.ends.where([topic])[0][0]) + partition

    def found(self, topic: str, partition: int = 0, group: str = "g") -> tuple[Known, int, int]:
        """What is known, and the first offsets for readers of committed, and of any data."""
        grid, row = self.cluster.windows.grid, self.row(topic, partition, group)
        known = Known(int(grid.probed[row]))
        return known & ~Known.TIMED, int(grid.readable[row]), int(grid.readable_by_any[row])

    def all_found(self, topic: str, partitions: int) -> list[tuple[Known, int, int]]:
        return [self.found(topic, partition) for partition in range(partitions)]

    def after_round(self, topic: str, partition: int = 0) -> tuple[Known, int, int]:
        return self.round().found(topic, partition)

    def edges(self, topic: str, partition: int = 0) -> tuple[int | None, int | None]:
        """The log start, and the stable end if a transaction is open."""
        rows, row = self.cluster.windows.ends.rows, self.end_row(topic, partition)
        start = int(rows.start[row]) if rows.has_start[row] else None
        return start, int(rows.stable[row]) if rows.is_held[row] else None


@contextmanager
def probing(
    watched: Watched,
    server: str,
    *,
    reads: int = 50,
    connection: Connection = PLAIN,
) -> Iterator[None]:
    """The thread at work."""
    stop = threading.Event()
    settings = Cluster(name="c", servers=(server,), record_reads=reads)
    probes = Probes(watched.cluster, settings, connection, lambda: watched.admin, lambda: None)
    thread = threading.Thread(target=probes.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
