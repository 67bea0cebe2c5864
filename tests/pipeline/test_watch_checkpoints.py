"""Following checkpoints into windows: over a restart, and while a place cannot be read."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from support.checkpoint_files import CheckpointFiles
from support.waiting import eventually

from warren.config.modules import CheckpointConsumer
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.watch_checkpoints import CheckpointWatcher
from warren.windows.precedence import held_outside
from warren.windows.windows import Windows


def new_cluster() -> ClusterState:
    windows = Windows(expire_group_s=10**9)
    columns = {"topic": ["orders"] * 2, "partition": [0, 1], "offset": [100, 100]}
    windows.set_log_ends(pa.table(columns), {"orders": 2})
    return ClusterState("c", windows)


@contextmanager
def followed(
    spark: SparkSession, cluster: ClusterState, *locations: Path
) -> Iterator[OutsideConsumer]:
    settings = CheckpointConsumer(
        name="jobs",
        class_name="spark_checkpoint",
        cluster="c",
        locations=tuple(map(str, locations)),
    )
    cluster.restored_outside_groups = {
        name: groups or set() for name, groups in cluster.outside_groups.items()
    }
    cluster.outside_groups["jobs"] = None
    consumer = OutsideConsumer(settings, cluster, Accepts(), 0.1)
    stop = threading.Event()
    watcher = CheckpointWatcher(consumer, spark, lambda: None)
    thread = threading.Thread(target=watcher.run, args=(stop,))
    thread.start()
    try:
        yield consumer
    finally:
        stop.set()
        thread.join()


def held(cluster: ClusterState) -> dict[str, dict[tuple[str, int], int]]:
    with cluster.lock:
        return held_outside(cluster.windows)[0]


def commits(cluster: ClusterState) -> int:
    """All commits of all windows."""
    with cluster.lock:
        return int(cluster.windows.grid.filled.sum())


def test_after_a_restart_known_batches_are_no_new_commits_and_what_went_is_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    cluster = new_cluster()
    for name in ("stays", "goes", "shrinks", "breaks"):
        query = CheckpointFiles(tmp_path / "here" / name)
        query.commit(7, {"orders": {"0": 10, "1": 10}})
    CheckpointFiles(tmp_path / "there" / "away").commit(7, {"orders": {"0": 10}})
    with followed(spark, cluster, tmp_path / "here", tmp_path / "there"):
        eventually(lambda: sum(map(len, held(cluster).values())), 9)
    before = commits(cluster)
    shutil.rmtree(tmp_path / "here" / "goes")
    (tmp_path / "there").rename(tmp_path / "elsewhere")
    CheckpointFiles.resume(tmp_path / "here" / "shrinks").commit(8, {"orders": {"0": 20}})
    (tmp_path / "here" / "breaks" / "offsets" / "7").write_text("v1")

    with followed(spark, cluster, tmp_path / "here", tmp_path / "there/*") as consumer:
        eventually(lambda: consumer.is_caught_up)
        after = held(cluster)

    # Each location that is listed is believed: the one that is gone held nothing in this run.
    assert after == {
        "stays": {("orders", 0): 10, ("orders", 1): 10},
        "shrinks": {("orders", 0): 20},
        "breaks": {("orders", 0): 10, ("orders", 1): 10},
    }
    assert commits(cluster) == before - 2 - 1 - 1 + 1


def test_while_a_place_cannot_be_read_its_groups_stay_as_they_were(
    spark: SparkSession, tmp_path: Path
) -> None:
    cluster = new_cluster()
    place = tmp_path / "disk"
    query = CheckpointFiles(place / "query")
    query.commit(7, {"orders": {"0": 10}})
    with followed(spark, cluster, place) as consumer:
        eventually(lambda: consumer.is_caught_up and consumer.answered_s)
        place.rename(tmp_path / "elsewhere")
        eventually(lambda: consumer.problem)
        problem, read_s = consumer.problem, consumer.answered_s["query"]
        (tmp_path / "elsewhere").rename(place)
        eventually(lambda: consumer.problem, "")
        eventually(lambda: consumer.answered_s["query"] > read_s)

    assert problem == f"{place} cannot be listed: nothing is there any more"
    assert held(cluster) == {"query": {("orders", 0): 10}}
