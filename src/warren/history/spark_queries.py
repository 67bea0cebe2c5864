"""The queries that reports, the terminal and the page run on history, in Spark SQL.

Groups have a row of their own for every moment, so only heat maps and log ends read the many rows
of partitions. `memory_queries` has the same queries for small periods.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import and_, or_
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from warren.errors import NoHistory
from warren.history.memory_queries import GAP, LINE, Name, sample_moments, worst_lines
from warren.history.table_files import QUERIED
from warren.model import bounds
from warren.model.period import Period, day
from warren.model.tables import (
    GROUP,
    GROUP_NUMBERS,
    HISTORY,
    LOG_END,
    NUMBERS,
    PARTITION,
    WORDS,
)

NUMBERS_OF_GROUPS = {*NUMBERS, *GROUP_NUMBERS} - {"age_s"}  # which no query about them needs
NOT_OF_GROUPS = {"day", "topic", "owner", "client", "log_start", *WORDS} | NUMBERS_OF_GROUPS

MOMENTS = """
WITH seen AS (SELECT DISTINCT cluster, moment_ms FROM {groups}),
spaced AS (
    SELECT cluster, moment_ms,
        (lead(moment_ms) OVER in_time) - moment_ms AS to_next_ms,
        moment_ms - (lag(moment_ms) OVER in_time) AS from_last_ms
    FROM seen
    WINDOW in_time AS (PARTITION BY cluster ORDER BY moment_ms)
),
usual AS (
    SELECT cluster, coalesce(CAST(percentile(to_next_ms, 0.5) AS BIGINT), 0) AS usual_ms
    FROM spaced GROUP BY cluster
)
SELECT cluster, moment_ms, to_next_ms IS NULL AS is_last,
    CASE WHEN to_next_ms <= {gap} * usual_ms THEN to_next_ms ELSE usual_ms END AS lasted_ms,
    sum(CASE WHEN from_last_ms > {gap} * usual_ms THEN 2 ELSE 1 END) OVER (
        PARTITION BY cluster ORDER BY moment_ms
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS number
FROM spaced JOIN usual USING (cluster)
"""

# One row for each group, and one with a null name for all groups of a cluster.
GROUPS = """
SELECT cluster, `group`,
    sum(lasted_ms) AS watched_ms,
    sum(CASE WHEN status = 1 THEN lasted_ms ELSE 0 END) AS ok_ms,
    sum(CASE WHEN status = 2 THEN lasted_ms ELSE 0 END) AS warn_ms,
    sum(CASE WHEN status = 3 THEN lasted_ms ELSE 0 END) AS err_ms,
    percentile_approx(lag, array(0.5, 0.95, 0.99), 1000) AS lags,
    max(lag) AS max_lag,
    max_by(lag, moment_ms) AS last_lag,
    max_by(status, moment_ms) AS last_status
FROM {groups} JOIN {moments} USING (cluster, moment_ms)
GROUP BY GROUPING SETS ((cluster), (cluster, `group`))
"""

# Moments are numbered without a break, so number minus rank is the same in a run of bad ones.
INCIDENTS = """
WITH bad AS (
    SELECT cluster, `group`, moment_ms, status, lag, lasted_ms, is_last,
        number - row_number() OVER (PARTITION BY cluster, `group` ORDER BY moment_ms) AS run
    FROM {groups} JOIN {moments} USING (cluster, moment_ms)
    WHERE status > 1
)
SELECT cluster, `group`, min(moment_ms) AS began_ms,
    CASE WHEN max(is_last) THEN NULL ELSE max(moment_ms + lasted_ms) END AS ended_ms,
    sum(lasted_ms) AS lasted_ms, max(status) AS status, max(lag) AS max_lag
FROM bad
GROUP BY cluster, `group`, run
"""

TOPICS = """
WITH grown AS (
    SELECT cluster, topic, partition, max(offset) - min(offset) AS messages,
        max(coalesce(partitions, 1)) AS partitions,
        (max(moment_ms) - min(moment_ms)) / 1000 AS seconds
    FROM {ends} GROUP BY cluster, topic, partition
)
SELECT cluster, topic, sum(partitions) AS partitions, sum(messages) AS messages,
    round(try_divide(sum(messages), max(seconds)), 3) AS per_second
FROM grown GROUP BY cluster, topic
"""


STATUSES = """
WITH counted AS (
    SELECT cluster, moment_ms, (moment_ms - {since}) DIV {step} AS step,
        sum(CAST(status = 1 AS INT)) AS ok, sum(CAST(status = 2 AS INT)) AS warn,
        sum(CAST(status = 3 AS INT)) AS err
    FROM {groups} GROUP BY cluster, moment_ms
)
SELECT cluster, step, max(ok) AS ok, max(warn) AS warn, max(err) AS err
FROM counted GROUP BY cluster, step
"""


def kept(
    spark: SparkSession, directory: str, period: Period, cluster: str = "", group: str = ""
) -> "InSpark":
    """All rows of a period, of one cluster or group if named."""
    try:
        rows = with_all_columns(spark.read.format("delta").load(directory))
    except AnalysisException as error:
        raise NoHistory(directory) from error
    rows = _within(rows, period)
    if cluster:
        rows = rows.where(F.col("cluster") == cluster)
    return InSpark(rows.where(F.col("group") == group) if group else rows)


def _within(rows: DataFrame, period: Period) -> DataFrame:
    in_days = F.col("day").between(day(period.since_ms), day(period.until_ms))
    return rows.where(in_days & F.col("moment_ms").between(*period))


def with_all_columns(rows: DataFrame) -> DataFrame:
    """Add those that a table of an older version lacks, as nulls."""
    there = set(rows.columns)
    types = {each.name: each.dataType for each in from_arrow_schema(HISTORY)}
    lacking = {name: F.lit(None).cast(types[name]) for name in types.keys() - there}
    return rows.withColumns(lacking) if lacking else rows


class InSpark:
    """Rows of a period, in Spark; `memory_queries.Kept` explains the queries."""

    def __init__(self, rows: DataFrame) -> None:
        self.rows = rows
        self._groups = rows.where(F.col("kind") == GROUP)

    def between(self, period: Period) -> "InSpark":
        """Only a part of the time."""
        return InSpark(_within(self.rows, period))

    def group_rows(self) -> pa.Table:
        """All rows of groups, for queries in memory."""
        columns = [name for name in QUERIED if name in self._groups.columns]
        return self._groups.select(*columns).toArrow()

    @contextmanager
    def cached(self) -> Iterator["InSpark"]:
        """Read the groups once for several queries."""
        columns = [each for each in self._groups.columns if each not in NOT_OF_GROUPS]
        usual = self._groups
        self._groups = usual.select(*columns).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield self
        finally:
            self._groups.unpersist()
            self._groups = usual

    def clusters(self) -> list[str]:
        return sorted(row.cluster for row in self._groups.select("cluster").distinct().collect())

    def together(self, topic: str, partition: int | None) -> "InSpark":
        some = self._partitions.where(F.col("topic") == topic)
        if partition is not None:
            some = some.where(F.col("partition") == partition)
        added = some.groupBy("cluster", "group", "moment_ms").agg(
            _bounded("lag"),
            F.max(F.coalesce("max_lag", "lag")).alias("max_lag"),
            F.max("status").alias("status"),
            F.max("age_s").alias("age_s"),
            _bounded("offset"),
        )
        return InSpark(added.withColumn("kind", F.lit(GROUP)))

    def steps(self, since_ms: int, step_ms: int, names: Sequence[Name] | None = None) -> pa.Table:
        groups = self._groups
        if names is not None:
            some = [F.struct(F.lit(cluster), F.lit(group)) for cluster, group in names]
            groups = groups.where(F.struct("cluster", "group").isin(some))
        return _steps(groups, ["cluster", "group"], since_ms, step_ms)

    def heat(self, lines: int, since_ms: int, step_ms: int) -> tuple[int, pa.Table]:
        total, worst = worst_lines(self.greatest_lags(), lines)
        return total, self.steps_of(worst, since_ms, step_ms)

    def greatest_lags(self) -> pa.Table:
        """The greatest lag of each line."""
        return self._partitions.groupBy(*LINE).agg(F.max("lag").alias("lag")).toArrow()

    def steps_of(self, lines: pa.Table, since_ms: int, step_ms: int) -> pa.Table:
        """The steps of some lines."""
        # The partition of a folded line is null, so nulls must match.
        same = (F.col(f"all.{name}").eqNullSafe(F.col(f"some.{name}")) for name in LINE)
        chosen = self.rows.sparkSession.createDataFrame(lines).alias("some")
        some = self._partitions.alias("all").join(
            F.broadcast(chosen), reduce(and_, same), how="left_semi"
        )
        return _steps(some, LINE, since_ms, step_ms)

    def incidents(self) -> pa.Table:
        return self._run(INCIDENTS, moments=F.broadcast(self._moments))

    def spread(self) -> pa.Table:
        return self._run(GROUPS, moments=F.broadcast(self._moments))

    def topics(self) -> pa.Table:
        times = self._moments.select("cluster", "moment_ms").collect()
        # One comparison for each moment: of a long list Parquet checks only the first and last.
        each = (
            F.col("moment_ms") == at for at in sample_moments((row[0], row[1]) for row in times)
        )
        is_sampled = reduce(or_, each, F.lit(False))  # noqa: FBT003  Spark's signature
        ends = self.rows.where((F.col("kind") == LOG_END) & is_sampled)
        return self.rows.sparkSession.sql(TOPICS, ends=ends).toArrow()

    def statuses(self, since_ms: int, step_ms: int) -> pa.Table:
        found = self._run(STATUSES, since=since_ms, step=step_ms)
        return found.sort_by([("cluster", "ascending"), ("step", "ascending")])

    @property
    def _partitions(self) -> DataFrame:
        return self.rows.where(F.col("kind") == PARTITION)

    @cached_property
    def _moments(self) -> DataFrame:
        """Each moment with how long it lasted, and a number that skips one at each gap."""
        return self._groups.sparkSession.sql(MOMENTS, groups=self._groups, gap=GAP)

    def _run(self, query: str, **values: Any) -> pa.Table:
        return self._groups.sparkSession.sql(query, groups=self._groups, **values).toArrow()


def _bounded(name: str) -> Column:
    """A sum within 64 bits: clients choose the numbers, and Spark would fail on overflow."""
    exact = f"sum(CAST({name} AS DECIMAL(38, 0)))"
    within = f"CAST(greatest(least({exact}, {bounds.MOST}), {bounds.LEAST}) AS BIGINT)"
    return F.expr(within).alias(name)


def _steps(rows: DataFrame, by: Sequence[str], since_ms: int, step_ms: int) -> pa.Table:
    step = F.floor((F.col("moment_ms") - since_ms) / step_ms).alias("step")
    thinned = rows.groupBy(*by, step).agg(
        F.max("lag").alias("lag"),
        F.max("max_lag").alias("max_lag"),
        F.max("status").alias("status"),
        F.max("age_s").alias("age_s"),
        F.max_by("offset", "moment_ms").alias("offset"),
        F.count("*").alias("moments"),
    )
    return thinned.orderBy(*by, "step").toArrow()
