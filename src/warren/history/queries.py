"""What reports, the terminal and the page ask of history, in Spark SQL.

Each function takes rows of HISTORY and gives a small table. Groups have a row of their own for
every moment, so that only heat maps and log ends need the many rows of partitions.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import reduce
from operator import and_, or_

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warren.errors import NoHistory
from warren.history.period import Period
from warren.tables import GROUP, LOG_END, PARTITION

# A moment lasts until the next one; after a longer silence than so many usual ones nobody watched.
GAP = 3
LINE = ("topic", "partition")  # what a row of a heat map is of
SAMPLES = 8  # moments at which log ends are looked at: growth needs no more

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

# A group, or, where the name is null, all groups of a cluster taken together.
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

# Moments are numbered without a break: in a run of bad ones, number and rank differ by the same.
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
        sum(CAST(status = 3 AS INT)) AS err, sum(lag) AS lag
    FROM {groups} GROUP BY cluster, moment_ms
)
SELECT cluster, step, max(ok) AS ok, max(warn) AS warn, max(err) AS err, max(lag) AS lag
FROM counted GROUP BY cluster, step
"""


def kept(
    spark: SparkSession, directory: str, period: Period, cluster: str = "", group: str = ""
) -> DataFrame:
    """All rows of a period, of one cluster or group if named."""
    try:
        rows = spark.read.format("delta").load(directory)
    except AnalysisException as error:
        raise NoHistory(directory) from error
    in_days = F.col("day").between(day(period.since_ms), day(period.until_ms))
    in_time = F.col("moment_ms").between(*period)
    rows = rows.where(in_days & in_time)
    if cluster:
        rows = rows.where(F.col("cluster") == cluster)
    return rows.where(F.col("group") == group) if group else rows


def day(moment_ms: int) -> date:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).date()


def groups(rows: DataFrame) -> DataFrame:
    return rows.where(F.col("kind") == GROUP)


def partitions(rows: DataFrame) -> DataFrame:
    return rows.where(F.col("kind") == PARTITION)


def moments(groups: DataFrame) -> DataFrame:
    """Each moment with the time it stands for, and a number that leaves one out at every gap."""
    return groups.sparkSession.sql(MOMENTS, groups=groups, gap=GAP)


def spread(groups: DataFrame, moments: DataFrame) -> DataFrame:
    """How long each group was in each status, and how its total lag was spread."""
    return groups.sparkSession.sql(GROUPS, groups=groups, moments=F.broadcast(moments))


def incidents(groups: DataFrame, moments: DataFrame) -> DataFrame:
    """Times in which a group was not OK without a break; `ended_ms` is null where it lasts."""
    return groups.sparkSession.sql(INCIDENTS, groups=groups, moments=F.broadcast(moments))


def topics(rows: DataFrame, moments: DataFrame) -> DataFrame:
    """What was written to each topic: how far its log ends moved."""
    # Each moment compared on its own: of a long list Parquet is told no more than first and last.
    each = (F.col("moment_ms") == moment_ms for moment_ms in _sampled(moments))
    is_sampled = reduce(or_, each, F.lit(False))  # noqa: FBT003  Spark's way
    ends = rows.where((F.col("kind") == LOG_END) & is_sampled)
    return rows.sparkSession.sql(TOPICS, ends=ends)


def _sampled(moments: DataFrame) -> list[int]:
    """The first, the last, and some between, of every cluster."""
    at: dict[str, list[int]] = {}
    for row in sorted(moments.select("cluster", "moment_ms").collect()):
        at.setdefault(row.cluster, []).append(row.moment_ms)
    chosen = (each for times in at.values() for each in [*times[:: _stride(times)], times[-1]])
    return sorted(set(chosen))


def _stride(times: Sequence[int]) -> int:
    return len(times) // SAMPLES + 1


def together(partitions: DataFrame) -> DataFrame:
    """Partitions of a group as if they were a group: their lag added up, at each moment."""
    return partitions.groupBy("cluster", "group", "moment_ms").agg(
        F.sum("lag").alias("lag"),
        F.max(F.coalesce("max_lag", "lag")).alias("max_lag"),
        F.max("status").alias("status"),
        F.sum("offset").alias("offset"),
    )


def lagging(partitions: DataFrame) -> DataFrame:
    """Each partition, or topic of folded ones, with the most that it lagged."""
    return partitions.groupBy(*LINE).agg(F.max("lag").alias("most"))


def most(lagging: DataFrame, lines: int) -> DataFrame:
    """Those that lagged most."""
    return lagging.orderBy(F.desc("most"), *LINE).limit(lines)


def only(partitions: DataFrame, lines: DataFrame) -> DataFrame:
    """The rows of these lines; a folded one's partition is null, which equals null."""
    return partitions.alias("all").join(
        F.broadcast(lines.alias("some")),
        reduce(and_, (F.col(f"all.{name}").eqNullSafe(F.col(f"some.{name}")) for name in LINE)),
        how="left_semi",
    )


def steps(rows: DataFrame, by: Sequence[str], since_ms: int, step_ms: int) -> pa.Table:
    """Rows thinned out to steps of time: the worst of each, and its last offset."""
    step = F.floor((F.col("moment_ms") - since_ms) / step_ms).alias("step")
    thinned = rows.groupBy(*by, step).agg(
        F.max("lag").alias("lag"),
        F.max("max_lag").alias("max_lag"),
        F.max("status").alias("status"),
        F.max_by("offset", "moment_ms").alias("offset"),
        F.count("*").alias("moments"),
    )
    return thinned.orderBy(*by, "step").toArrow()


def statuses(groups: DataFrame, since_ms: int, step_ms: int) -> pa.Table:
    """How many groups of each cluster were in each status, by step of time."""
    found = groups.sparkSession.sql(STATUSES, groups=groups, since=since_ms, step=step_ms)
    return found.orderBy("cluster", "step").toArrow()
