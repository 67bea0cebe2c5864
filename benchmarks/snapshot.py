"""Saving and restoring many windows: how long each takes, and how long a tick may wait for it.

    PYTHONPATH=src .venv/bin/python benchmarks/snapshot.py [PARTITIONS ...]

The lock is what a tick, or a batch that is folded, would wait for; writing goes on without it.
"""

import sys
import tempfile
import time
from pathlib import Path

from measured import where, write
from tick import INTERVALS, NOW, WIDTH, commits, log_ends

from warren.cluster import Accepts, Cluster, Following, new_cluster
from warren.config import Consumer, Storage
from warren.snapshots import Snapshots
from warren.sources.log_ends import Topics

SIZES = (100_000, 500_000, 2_000_000)
HEADER = """\
| partitions | lock s | saving s | file MB | restoring s |
|---:|---:|---:|---:|---:|"""


class Timed:
    """A lock that knows the longest it was held."""

    def __init__(self) -> None:
        self.longest_s = self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.longest_s = max(self.longest_s, time.perf_counter() - self._began)


def snapshots(directory: Path) -> tuple[Snapshots, Cluster]:
    storage = Storage(name="default", intervals=INTERVALS)
    cluster = new_cluster("local", storage)
    consumer = Consumer(name="local", cluster="local", servers=("127.0.0.1:1",))
    followings = {"local": Following(consumer, cluster, Accepts())}
    return Snapshots(directory, 60, {"local": cluster}, followings, storage), cluster


def measure(partitions: int, directory: Path) -> str:
    """A line of the table."""
    saving, cluster = snapshots(directory)
    counts = {f"topic-{n}": WIDTH for n in range(partitions // WIDTH)}
    cluster.windows.set_log_ends(log_ends(partitions), counts)
    cluster.topics, cluster.ends_s = Topics(counts, {}, {}), NOW
    for turn in range(INTERVALS):
        for batch in commits(partitions, turn):
            cluster.windows.fold(batch, NOW)
    cluster.lock = lock = Timed()  # type: ignore[assignment]  # nobody else wants it here
    began = time.perf_counter()
    saving.save()
    saved_s = time.perf_counter() - began
    size = sum(file.stat().st_size for file in directory.iterdir())
    restoring, restored = snapshots(directory)
    began = time.perf_counter()
    restoring.restore()
    restored_s = time.perf_counter() - began
    assert restored.windows.held() == cluster.windows.held()
    return (
        f"| {partitions:,} | {lock.longest_s:.3f} | {saved_s:.2f} | {size / 2**20:.0f} "
        f"| {restored_s:.2f} |"
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
