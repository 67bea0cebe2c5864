"""The back-test on Spark: verdicts by parts of the table, then incidents by groups.

Parts of the table are judged by as many tasks as there are cores, in any order. What is bad, little
of all there is, is brought together by group: a task goes through the moments of some groups.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warren.backtest.file_parts import FilePart, parts, read_part
from warren.backtest.page_times import PAGES, page_times
from warren.backtest.stance import Stance
from warren.backtest.verdict_runs import COLUMNS, RUNS, Question, find_runs
from warren.history import spark_queries
from warren.history.table_files import UNREADABLE, TableFiles
from warren.model.arrays import Ints
from warren.model.period import Period
from warren.model.tables import GROUP, PARTITION
from warren.spark.arrow_tasks import Batches, apply_in_arrow, map_in_arrow

TASKS = 100  # at most, of the first step: each reports its progress
POLL_S = 0.5
ROWS_AT_ONCE = 200_000  # of batches that Spark hands over

Progress = Callable[[str], None]


class Where(NamedTuple):
    """Which history is replayed."""

    directory: str
    period: Period
    cluster: str = ""
    group: str = ""


class Replayed(NamedTuple):
    moments: Mapping[str, Ints]  # by cluster
    pages: pa.Table  # PAGES
    replayed: int  # verdicts
    differing: int  # that replay otherwise with the settings in force
    wordless: int  # rows that cannot be replayed


def moments_of(spark: SparkSession, where: Where) -> dict[str, Ints]:
    """When there is a moment, by cluster; none if history has nothing then."""
    kept = spark_queries.kept(spark, *where)
    found = kept.rows.where(F.col("kind") == GROUP).select("cluster", "moment_ms").distinct()
    table = found.toArrow()
    return {
        cluster: np.sort(table.filter(pc.equal(table["cluster"], cluster))["moment_ms"].to_numpy())
        for cluster in sorted(table["cluster"].unique().to_pylist())
    }


def replay(
    spark: SparkSession,
    where: Where,
    moments: Mapping[str, Ints],
    stances: tuple[Stance, Stance],
    progress: Progress = lambda _: None,
) -> Replayed:
    """Judge everything again, and page; the first stance is the one in force."""
    question = Question(*stances, moments)
    runs = _runs(spark, where, question).persist()
    try:
        with _reporting(spark, "verdicts", progress):
            counted = runs.where(F.col("group").isNull()).groupBy()
            totals = counted.agg(*map(F.sum, ("replayed", "differing", "wordless"))).first()
        with _reporting(spark, "incidents", progress):
            pages = _pages(spark, runs, question).toArrow()
    finally:
        runs.unpersist()
    assert totals is not None  # noqa: S101  a sum has one row
    return Replayed(moments, pages.cast(PAGES), *(each or 0 for each in totals))


def _runs(spark: SparkSession, where: Where, question: Question) -> DataFrame:
    """From the files where we can read them; Spark reads all others."""
    found = _parts(spark, where)
    if found is None:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ROWS_AT_ONCE))
        rows = spark_queries.kept(spark, *where).rows.where(F.col("kind") == PARTITION)
        return map_in_arrow(rows.select("cluster", *COLUMNS), _judge_rows(question), RUNS)
    numbers = spark.range(len(found), numPartitions=min(max(len(found), 1), TASKS))
    return map_in_arrow(numbers, _judge_parts(found, where, question), RUNS)


def _parts(spark: SparkSession, where: Where) -> list[FilePart] | None:
    if not str(spark.sparkContext.master).startswith("local"):
        return None  # other machines may not see our files
    try:
        files = TableFiles(where.directory).holding(where.period, where.cluster)
        return [*parts(files, where.period)]
    except UNREADABLE:
        return None


def _judge_parts(
    found: list[FilePart], where: Where, question: Question
) -> Callable[[Batches], Batches]:
    def judge(numbers: Batches) -> Batches:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                part = found[number]
                rows = read_part(part, where.period, where.group)
                if part.cluster in question.moments:
                    for runs in find_runs(rows, part.cluster, question):
                        yield from runs.combine_chunks().to_batches()

    return judge


def _judge_rows(question: Question) -> Callable[[Batches], Batches]:
    def judge(batches: Batches) -> Batches:
        for batch in batches:
            rows = pa.table(batch)
            for cluster in rows["cluster"].unique().to_pylist():
                own = rows.filter(pc.equal(rows["cluster"], cluster))
                for runs in find_runs(own, cluster, question):
                    yield from runs.combine_chunks().to_batches()

    return judge


def _pages(spark: SparkSession, runs: DataFrame, question: Question) -> DataFrame:
    """Groups are spread over the tasks; those of a task go through time together."""

    def pages(own: pa.Table) -> pa.Table:
        return page_times(own, question)

    tasks = F.lit(spark.sparkContext.defaultParallelism * 2)
    bucket = F.pmod(F.hash("group"), tasks).alias("bucket")
    bad = runs.where(F.col("group").isNotNull())
    return apply_in_arrow(bad, [F.col("cluster"), bucket], pages, PAGES)


@contextmanager
def _reporting(spark: SparkSession, what: str, progress: Progress) -> Iterator[None]:
    """Tell from time to time how many tasks are done."""
    done = threading.Event()
    reporter = threading.Thread(
        target=_report, args=(spark.sparkContext, what, progress, done), daemon=True
    )
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()


def _report(context: SparkContext, what: str, progress: Progress, done: threading.Event) -> None:
    tracker: Any = context.statusTracker()
    while not done.wait(POLL_S):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks:
                progress(f"{what}: {info.numCompletedTasks} of {info.numTasks} tasks are done")
