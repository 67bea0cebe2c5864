"""What it costs to look at 2,000 checkpoints of Spark's on a local disk.

    PYTHONPATH=src:benchmarks:tests .venv/bin/python benchmarks/checkpoints.py DIRECTORY

Each has the hundred batches that Spark keeps, of a topic with eight partitions, with the checksum
files that Hadoop adds. They are made in DIRECTORY, which takes minutes, unless it is there already.
Prints the rows of `results/checkpoints.md`.
"""

import math
import os
import sys
import time
import zlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from support.checkpoint_files import CheckpointFiles

from warren.config.modules import CheckpointConsumer
from warren.pipeline import steps
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.sources import checkpoints
from warren.sources.checkpoint_groups import CheckpointGroups
from warren.sources.checkpoints import Checkpoints
from warren.spark.hadoop_files import HadoopFiles
from warren.spark.session import start_session, stop_session
from warren.windows.windows import Windows

CHECKPOINTS, KEPT, PARTITIONS, HISTORY = 2_000, 100, 8, 10
SOME = 200  # checkpoints to list
FIRST = 90_000_000  # number of the first batch that is kept: they are a second apart
NEW = (1, 1, 10, 10)  # batches of each checkpoint between two looks


def commit(query: CheckpointFiles, number: int) -> None:
    query.commit(number, {"orders": {str(n): number * 10 for n in range(PARTITIONS)}})
    for log in ("offsets", "commits"):
        (query.directory / log / f".{number}.crc").write_bytes(
            _checksum((query.directory / log / str(number)).read_bytes())
        )


def _checksum(data: bytes) -> bytes:
    """As Hadoop writes it: of every 512 bytes."""
    pieces = (data[at : at + 512] for at in range(0, len(data), 512))
    sums = b"".join(zlib.crc32(piece).to_bytes(4, "big") for piece in pieces)
    return b"crc\0" + (512).to_bytes(4, "big") + sums


def make(place: Path) -> None:
    for n in range(CHECKPOINTS):
        query = CheckpointFiles(place / f"query-{n:04}", f"id-{n}")
        for number in range(FIRST, FIRST + KEPT):
            commit(query, number)


def advance(place: Path, start: int, batches: int) -> None:
    for n in range(CHECKPOINTS):
        query = CheckpointFiles.resume(place / f"query-{n:04}")
        for number in range(start, start + batches):
            commit(query, number)


class Clock:
    """CPU of this process and of Spark's Java, and what the clock on the wall says."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._java = context._gateway.proc.pid  # noqa: SLF001  nothing else knows

    def read(self) -> tuple[float, float, float]:
        ours = os.times()
        theirs = Path(f"/proc/{self._java}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        java = (int(theirs[11]) + int(theirs[12])) / ticks
        return ours.user + ours.system, java, time.monotonic()

    def row(self, what: str, work: Callable[[], int]) -> None:
        before = self.read()
        commits = work()
        python, java, wall = (b - a for a, b in zip(before, self.read(), strict=True))
        print(
            f"| {what} | {commits:,} | {python + java:.1f} s | {python:.1f} s | {java:.1f} s "
            f"| {wall:.1f} s |"
        )


def main(place: Path) -> None:
    if not place.exists():
        make(place)
    spark = start_session("local[2]", "checkpoints", {}, "1g", bundles=())
    clock = Clock(spark)
    checkpoints.PATIENCE_S = math.inf  # to the end of each look
    looks = Looks(spark, place)
    print(f"load {os.getloadavg()[0]:.1f} before the run\n")
    print("| look | commits | CPU | of it Python | of it Java | wall clock |")
    print("|---|---|---|---|---|---|")
    for number in count(1):
        clock.row(f"start, look {number}", looks.look)
        if looks.is_complete:
            break
    for _ in range(3):
        clock.row("nothing new", looks.look)
    start = FIRST + KEPT
    for batches in NEW:
        advance(place, start, batches)
        start += batches
        clock.row(f"{batches} new of each", looks.look)
    compare(clock, spark, place)
    stop_session(spark)
    for n in range(CHECKPOINTS):  # as before, for the next run
        for log in ("offsets", "commits"):
            for number in range(FIRST + KEPT, FIRST + KEPT + sum(NEW)):
                (place / f"query-{n:04}" / log / str(number)).unlink(missing_ok=True)


def compare(clock: Clock, spark: SparkSession, place: Path) -> None:
    """The same files through Hadoop's API, as Warren reads them, and by a Spark job."""
    files, session = HadoopFiles(spark), spark.newSession()
    session.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "4")
    session.conf.set("spark.sql.files.openCostInBytes", "65536")
    queries = [f"file:{place}/query-{n:04}" for n in range(CHECKPOINTS)]
    logs = [f"{query}/offsets/{FIRST}" for query in queries]
    some = [f"{query}/commits" for query in queries[:SOME]]

    def by_job(paths: list[str], *columns: str) -> int:
        read = session.read.format("binaryFile").load(paths)
        rows: int = read.select("path", *columns).toArrow().num_rows
        return rows

    print("\n| the same files | files | CPU | of it Python | of it Java | wall clock |")
    print("|---|---|---|---|---|---|")
    for _ in range(2):  # the second time all is warm
        clock.row("listed, Hadoop's API", lambda: sum(len(files.names(each)) for each in some))
        clock.row("listed, a Spark job", lambda: by_job(some, "modificationTime"))
        clock.row("read, Hadoop's API", lambda: len([files.read(each) for each in logs]))
        clock.row("read, a Spark job", lambda: by_job(logs, "content"))


class Looks:
    """As `CheckpointWatcher` does them, folding included."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        settings = CheckpointConsumer(cluster="c", locations=(str(place),))
        windows = Windows(expire_group_s=10**9)
        self._consumer = OutsideConsumer(settings, ClusterState("c", windows), Accepts())
        self._checkpoints = Checkpoints(HadoopFiles(spark), settings.locations, HISTORY)
        self._groups = CheckpointGroups(settings.group, lambda _: True)

    @property
    def is_complete(self) -> bool:
        known = self._checkpoints
        return len(known.known) == CHECKPOINTS and known.is_complete

    def look(self) -> int:
        now = time.time()
        self._checkpoints.look(now, lambda: False)
        changes = self._groups.take(self._checkpoints.known.values(), int(now * 1000))
        steps.fold_outside_changes(self._consumer, changes, now)
        return len(changes.commits)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
