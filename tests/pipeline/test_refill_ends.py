"""After a restart without a snapshot, history says how old a backlog is."""

import threading
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from structlog.testing import capture_logs
from support.batches import Record, batch, log_ends
from support.waiting import eventually

from warren.config import HistorySettings, Storage
from warren.evaluate.judge import JudgeSettings
from warren.history import table
from warren.history.board_rows import row_granularity, rows
from warren.history.table_files import TableFiles
from warren.model.board import Board, ClusterBoard, StoredWindows
from warren.model.numbers import Lack, Method
from warren.model.window_arrays import WindowArrays
from warren.pipeline.cluster import ClusterState, new_cluster
from warren.pipeline.consumers import Sources
from warren.pipeline.refill_ends import EndsRefill
from warren.pipeline.steps import judge_cluster
from warren.serve.board_file.commits_file import CommitsFile
from warren.sources.log_ends import TopicListing

RESTART_S = 2_000_000_000  # NOW of the batches
HOURS = 5
STEP_S = 240
COMMITTED = 5_000
SHUT_DOWN_S = 1800  # before the restart


def end(moment_s: float) -> int:
    """A record each two seconds; the log began long before."""
    return int(moment_s - (RESTART_S - 20_000)) // 2


def written_s(offset: int) -> float:
    return RESTART_S - 20_000 + 2 * offset


def empty_cluster(name: str = "local") -> ClusterState:
    cluster = new_cluster(name, Storage(name="default"))
    cluster.topics = TopicListing({"t": 1}, {("t", 0): 1}, {"t": UUID(int=1)})
    return cluster


def read(cluster: ClusterState, asked_s: float) -> None:
    cluster.windows.ends.rows.begin_round(asked_s)
    cluster.windows.set_log_ends(
        log_ends(end(asked_s)), {"t": 1}, now_s=asked_s + 1, asked_s=asked_s
    )
    cluster.ends_s = asked_s + 1


def fold(cluster: ClusterState) -> None:
    committed_ms = int((written_s(COMMITTED) - RESTART_S) * 1000)
    commits = batch(Record(1, COMMITTED - 9, committed_ms - 9), Record(2, COMMITTED, committed_ms))
    cluster.windows.fold(commits, RESTART_S)


def judged(cluster: ClusterState, now_s: float) -> ClusterBoard:
    return judge_cluster(cluster, Sources(), JudgeSettings(), int(now_s), store)


def store(_cluster: str, view: WindowArrays) -> StoredWindows:
    return CommitsFile().store(view)


def past_of(spark: SparkSession, directory: Path) -> None:
    """What a Warren wrote that watched for hours, and ended long before the restart."""
    cluster, granularity, moments = empty_cluster(), row_granularity(HistorySettings()), []
    fold(cluster)
    for now_s in range(RESTART_S - HOURS * 3600, RESTART_S - SHUT_DOWN_S, STEP_S):
        read(cluster, now_s - 7)
        board = Board(now_s * 1000, {"local": judged(cluster, now_s)})
        moments.append(rows(board, {"local"}, granularity))
    own = table.session(spark)
    table.make(own, str(directory))
    table.append(own, str(directory), pa.concat_tables(moments).unify_dictionaries(), "warren")


def refill(spark: SparkSession, directory: Path, *clusters: ClusterState) -> EndsRefill:
    files = TableFiles(str(directory))
    return EndsRefill(files, spark, clusters, lambda _: Sources(), RESTART_S)


def test_the_age_of_an_old_backlog_has_bounds_at_once(spark: SparkSession, tmp_path: Path) -> None:
    past_of(spark, tmp_path)
    cluster = empty_cluster()
    fold(cluster)
    read(cluster, RESTART_S + 1)
    read(cluster, RESTART_S + 11)
    now_s = RESTART_S + 15
    before = judged(cluster, now_s).numbers.partitions
    stop = threading.Event()
    service = refill(spark, tmp_path, cluster)
    thread = threading.Thread(target=service.run, args=(stop,))

    with capture_logs() as logged:
        thread.start()
        eventually(lambda: [each for each in logged if "rounds" in each])
        stop.set()
        thread.join()

    after = judged(cluster, now_s).numbers.partitions
    low, high, truth = after.age_low_s[0], after.age_high_s[0], now_s - written_s(COMMITTED)
    assert before.lack[0] & Lack.NO_HISTORY
    assert not after.lack[0] & Lack.NO_HISTORY
    assert after.age_method[0] == Method.BY_ENDS
    assert 0.7 * truth < low <= truth <= high < 1.3 * truth
    assert before.lag[0] == after.lag[0]
    assert after.lag_low[0] <= end(RESTART_S + 11) - COMMITTED <= after.lag_high[0]


def test_a_table_that_cannot_be_read_is_one_warning(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    (log / f"{0:020}.json").write_text("not json")
    cluster = empty_cluster()
    fold(cluster)
    read(cluster, RESTART_S + 1)
    columns = [*cluster.windows.ends.rows.past.columns]
    stop = threading.Event()
    thread = threading.Thread(target=refill(spark, tmp_path, cluster).run, args=(stop,))

    with capture_logs() as logged:
        thread.start()
        eventually(lambda: logged)
        stop.set()
        thread.join()

    assert [each["event"] for each in logged] == ["log ends of the past are not known"]
    assert logged[0]["log_level"] == "warning"
    assert cluster.windows.ends.rows.past.columns == columns


@pytest.mark.parametrize(("away_s", "is_filled"), [(300, False), (7200, True)])
def test_a_fresh_snapshot_needs_no_history(
    spark: SparkSession, tmp_path: Path, away_s: int, *, is_filled: bool
) -> None:
    cluster, rested = empty_cluster(), empty_cluster("other")
    read(cluster, RESTART_S - away_s)  # as a snapshot has it
    read(cluster, RESTART_S + 1)
    service, stop = refill(spark, tmp_path, cluster, rested), threading.Event()

    assert service._was_away(cluster) is is_filled  # noqa: SLF001
    assert not service._is_current(rested)  # noqa: SLF001  no round yet
    stop.set()
    service.run(stop)
