"""Saving and restoring many windows: how long each takes, and what a tick feels of it.

    PYTHONPATH=src .venv/bin/python benchmarks/snapshot.py [PARTITIONS ...]

Every partition has an owner; one member in two is of a KIP-848 group. The lock is what a tick, or a
batch that is folded, would wait for; writing goes on without it. Ticks are judged one upon the
other in a thread of their own, first alone and then beside the saving: the longest of each counts.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from measured import where, write
from tick import INTERVALS, NOW, WIDTH, Logs

from warren.config import Consumer, Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.board import StoredWindows
from warren.model.group_events import ClassicGroup, ClassicMember, Event, MemberAssigned, MemberSeen
from warren.model.window_arrays import WindowArrays
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.pipeline.snapshots import Snapshots
from warren.pipeline.steps import judge_cluster
from warren.serve.board_file.commits_file import CommitsFile
from warren.sources.log_ends import TopicListing

SIZES = (100_000, 500_000, 2_000_000)
OWNED = 10  # partitions of a member
SAVES = TICKS = 5
HEADER = """\
| partitions | members | lock s | saving s | file MB | tick s | tick s, saving | restoring s |
|---:|---:|---:|---:|---:|---:|---:|---:|"""


class Timed:
    """A lock that knows the longest it was held by whoever saves."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self.longest_s = self._began = 0.0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        held_s = time.perf_counter() - self._began
        if threading.current_thread() is threading.main_thread():
            self.longest_s = max(self.longest_s, held_s)
        self._lock.release()


class Ticking:
    """Judges again and again until asked for the longest it took."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._file = CommitsFile()
        self._stop = threading.Event()
        self._took: list[float] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            judge_cluster(self._cluster, Sources(), JudgeSettings(), NOW, self._store)
            self._took.append(time.perf_counter() - began)

    def _store(self, _: str, shown: WindowArrays) -> StoredWindows:
        return self._file.store(shown)

    def wait(self, ticks: int) -> None:
        while len(self._took) < ticks:
            time.sleep(0.01)

    def longest(self) -> float:
        self._stop.set()
        self._thread.join()
        return max(self._took[1:])  # the first writes every window to the file


def snapshots(directory: Path) -> tuple[Snapshots, ClusterState]:
    storage = Storage(name="default", intervals=INTERVALS, max_groups=0, max_partitions=0)
    cluster = new_cluster("local", storage)
    consumer = Consumer(name="local", cluster="local", servers=("127.0.0.1:1",))
    topic_consumers = {"local": TopicConsumer(consumer, cluster, Accepts())}
    return Snapshots(directory, 60, {"local": cluster}, topic_consumers, storage), cluster


def members(groups: int) -> Iterator[Event]:
    """Every group reads a topic of its own, as the commits have it."""
    for number in range(groups):
        group = f"group-{number}-of-some-service"
        shares = [tuple(range(at, at + OWNED)) for at in range(0, WIDTH, OWNED)]
        names = [f"consumer-{number}-{at}-7f9c2ba4" for at in range(len(shares))]
        if number % 2:
            topic = UUID(int=number)
            for name, share in zip(names, shares, strict=True):
                yield MemberSeen(group, name, "", f"client-{number}", "/10.0.0.1")
                yield MemberAssigned(group, name, 1, {topic: share})
        else:
            yield ClassicGroup(
                group,
                1,
                tuple(
                    ClassicMember(name, "", f"client-{number}", "/10.0.0.1", {f"topic-{number}": s})
                    for name, s in zip(names, shares, strict=True)
                ),
            )


def fill(cluster: ClusterState, partitions: int) -> None:
    logs = Logs(partitions)
    ids = {topic: UUID(int=number) for number, topic in enumerate(logs.counts)}
    cluster.windows.set_log_ends(logs.ends(NOW), logs.counts)
    cluster.topics, cluster.ends_s = TopicListing(logs.counts, {}, ids), NOW
    cluster.membership.name_topics(cluster.topics.names)
    for turn in range(INTERVALS):
        for batch in logs.commits(turn):
            cluster.windows.fold(batch, NOW)
    changes = cluster.membership.fold(members(partitions // WIDTH))
    assert sum(map(len, changes.owners.values())) == partitions
    for group, owners in changes.owners.items():
        cluster.windows.set_owners(group, owners)


def measure(partitions: int, directory: Path) -> str:
    """A line of the table."""
    saving, cluster = snapshots(directory)
    fill(cluster, partitions)
    cluster.lock = lock = Timed(cluster.lock)  # type: ignore[assignment]  # as far as it is used
    alone = Ticking(cluster)
    alone.wait(TICKS)
    alone_s = alone.longest()
    beside = Ticking(cluster)
    beside.wait(1)
    began = time.perf_counter()
    for _ in range(SAVES):
        saving.save()
    saved_s = (time.perf_counter() - began) / SAVES
    beside_s = beside.longest()
    size = sum(file.stat().st_size for file in directory.iterdir())
    restoring, restored = snapshots(directory)
    began = time.perf_counter()
    restoring.restore()
    restored_s = time.perf_counter() - began
    assert restored.windows.held() == cluster.windows.held()
    assert restored.membership.dump() == cluster.membership.dump()
    return (
        f"| {partitions:,} | {partitions // OWNED:,} | {lock.longest_s:.3f} | {saved_s:.2f} "
        f"| {size / 2**20:.0f} | {alone_s:.3f} | {beside_s:.3f} | {restored_s:.2f} |"
    )


def main(sizes: list[int]) -> None:
    about, lines = where(), []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="warren-benchmark-") as directory:
            lines.append(measure(size, Path(directory)))
    table = "\n".join([HEADER, *lines])
    write("snapshot.md", f"# Snapshots\n\n{about}; {INTERVALS} intervals.\n\n{table}\n")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [*SIZES])
