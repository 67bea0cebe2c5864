"""Following checkpoints into windows: over a restart, and while a place cannot be read."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from support.checkpoint_files import CheckpointFiles
from support.reported import Clock, news, report
from support.waiting import eventually

from warren.config.modules import CheckpointConsumer, HttpConsumer
from warren.model.query_facts import PATIENCE_MS
from warren.pipeline import watch_checkpoints
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.reported_offsets import ReportCheck, ReportedConsumer
from warren.pipeline.watch_checkpoints import REPORTED, CheckpointWatcher
from warren.windows.precedence import held_outside
from warren.windows.window_reader import detail
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
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        after, not_read = held(cluster), dict(consumer.not_read)
    monkeypatch.setattr(watch_checkpoints, "KEPT_S", 0)
    failing = tmp_path / "broken/["  # may hold what is below tmp_path / "broken", and no other
    with followed(spark, cluster, tmp_path / "here", tmp_path / "there/*", failing) as consumer:
        eventually(lambda: consumer.is_caught_up)
        late = held(cluster)

    # Each location that is listed is believed; where nothing is at all a disk may be missing.
    assert after == {
        "away": {("orders", 0): 10},
        "stays": {("orders", 0): 10, ("orders", 1): 10},
        "shrinks": {("orders", 0): 20},
        "breaks": {("orders", 0): 10, ("orders", 1): 10},
    }
    assert late.keys() == after.keys() - {"away"}
    assert not_read[str(tmp_path / "there/*")] == "nothing is there any more"
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


def test_a_query_that_is_reported_and_has_a_checkpoint_has_one_window(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The reports count; some time after they have ended, the checkpoint does."""
    cluster, clock = new_cluster(), Clock()
    cluster.clock = clock
    reports = ReportedConsumer(HttpConsumer(name="http", cluster="c"), cluster, Accepts())
    cluster.outside_groups["http"] = None
    reports.begin()
    living = msgspec.structs.replace(news(), every_s=30.0)
    written_ms, silent = CheckpointFiles.committed_ms, 10 + 2 * PATIENCE_MS // 1000

    def tell(number: int) -> None:
        """A report comes a moment after the batch."""
        said = report(("orders", 0, 10 * number), at_ms=written_ms(number) + 5, query=living)
        ReportCheck([reports]).take([msgspec.structs.replace(said, is_complete=True)])
        reports.fold(reports.collect())

    def write(query: CheckpointFiles, number: int) -> None:
        """A batch is looked at."""
        query.commit(number, {"orders": {"0": 10 * number, "1": 10 * number}})
        clock.now_s = written_ms(number) / 1000 + 2
        eventually(lambda: consumer.answered_s.get("job", 0) >= clock.now_s)

    with followed(spark, cluster, tmp_path) as consumer:
        clock.now_s = written_ms(0) / 1000 + 2
        tell(0)
        query = CheckpointFiles(tmp_path / "job", "i")  # the id that is reported
        for number in range(1, 6):
            write(query, number - number % 2)  # some are between two looks
            tell(number)
        shutil.rmtree(query.directory)
        eventually(lambda: consumer.answered_s, {})
        reported = window(cluster)
        write(query := CheckpointFiles(tmp_path / "job", "i"), 6)
        why = eventually(lambda: consumer.not_read.get(f"file:{tmp_path}/job"))
        write(query, silent)
        taken_over = eventually(lambda: window(cluster)[-1], (10 * silent, written_ms(silent)))

    assert reported == [(10 * number, written_ms(number) + 5) for number in range(6)]
    assert why == REPORTED
    assert held(cluster) == {"job": {("orders", n): taken_over[0] for n in (0, 1)}}
    assert cluster.queries["job"].origin == "checkpoint"


def window(cluster: ClusterState) -> list[tuple[int, int]]:
    """Offset and time of each commit to the first partition."""
    with cluster.lock:
        of_topic = detail(cluster.windows, "job")["orders"]
        return [(each.offset, each.committed_ms) for each in of_topic[0].commits]
