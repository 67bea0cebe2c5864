"""The Delta table of HISTORY: creates it, appends to it, reads its newest moment.

A moment is one commit of the table: all of its rows are there, or none, whatever ends the process.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from warren.errors import NotKept
from warren.model.tables import HISTORY
from warren.spark.session import SCRATCH


@contextmanager
def failures(what: str) -> Iterator[None]:
    """Turn failures inside into one of our errors: `what`, and the reason."""
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        raise NotKept(what, reason(error)) from error


def reason(error: BaseException) -> str:
    """The first line of the root cause, such as a full disk or a missing permission."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and cause.getCause() is not None:
        cause = cause.getCause()
    text = str(error) if cause is None else str(cause.toString())
    return next(iter(text.strip().splitlines()), type(error).__name__)


POOL = "history"  # of Spark's scheduler: writes take turns with reading Kafka
PARTITIONED_BY = ("day", "cluster")
AT_ONCE = 250_000  # rows of one Parquet row group

# Replaced files stay for as long as a sink may be behind, and the log a little longer.
KEPT_FILES, KEPT_LOG = "interval 7 days", "interval 8 days"
SETTINGS = {
    "spark.sql.parquet.compression.codec": "zstd",
    # Rows come in their final order; a writer for each partition keeps it without sorting.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    # Small, so that a query for one group reads little, and several tasks can share a file.
    "parquet.page.row.count.limit": "10000",
    "parquet.block.size": str(16 * 2**20),
    # Numbers as differences, which are small for offsets and times.
    "parquet.writer.version": "v2",
    # Statistics for day, cluster, moment, kind and group, to skip files.
    "spark.databricks.delta.properties.defaults.dataSkippingNumIndexedCols": "5",
    "spark.databricks.delta.properties.defaults.checkpointInterval": "60",
    "spark.databricks.delta.properties.defaults.deletedFileRetentionDuration": KEPT_FILES,
    "spark.databricks.delta.properties.defaults.logRetentionDuration": KEPT_LOG,
    # Few directories to list: one for each day of a cluster.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.databricks.delta.optimize.maxThreads": "1",
    "spark.databricks.delta.optimize.maxFileSize": str(512 * 2**20),
    "spark.databricks.delta.optimize.minFileSize": str(64 * 2**20),
}


def session(spark: SparkSession) -> SparkSession:
    """A session of the same Spark, with settings for history."""
    own = spark.newSession()
    for name, value in SETTINGS.items():
        own.conf.set(name, value)
    own.sparkContext.setLocalProperty("spark.scheduler.pool", POOL)
    return own


def make(spark: SparkSession, directory: str) -> None:
    """Create an empty table, if there is none yet."""
    nothing = spark.createDataFrame(HISTORY.empty_table())
    writer = nothing.write.format("delta").mode("ignore").partitionBy(*PARTITIONED_BY)
    writer.save(directory)


def append(spark: SparkSession, directory: str, rows: pa.Table, writer: str) -> None:
    """Add the rows of one moment. The same moment of the same writer is added once only.

    A table of an older version gets the columns that it lacks with the first moment.
    """
    with _in_spark(spark, rows) as frame:
        ordered = frame.select(*HISTORY.names).coalesce(_tasks(spark))
        appending = ordered.write.format("delta").mode("append").partitionBy(*PARTITIONED_BY)
        once = {"txnAppId": writer, "txnVersion": str(rows["moment_ms"][0])}
        appending.options(**once, mergeSchema="true").save(directory)


@contextmanager
def _in_spark(spark: SparkSession, rows: pa.Table) -> Iterator[DataFrame]:
    """The rows in Spark: read from a file, as it would keep rows passed directly in memory."""
    if not str(spark.sparkContext.master).startswith("local"):  # its executors do not see our files
        # In one chunk: PySpark drops those after an empty one.
        yield spark.createDataFrame(rows.cast(HISTORY).combine_chunks())
        return
    scratch = spark.sparkContext.getConf().get(SCRATCH)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="moment-") as folder:
        file = f"{folder}/rows.parquet"
        pq.write_table(rows, file, compression="lz4", row_group_size=AT_ONCE)
        yield spark.read.schema(from_arrow_schema(HISTORY)).parquet(f"file://{file}")


def _tasks(spark: SparkSession) -> int:
    """Half of the cores: the others go on reading Kafka."""
    return max(spark.sparkContext.defaultParallelism // 2, 1)


def newest_moment(spark: SparkSession, directory: str, until_ms: int | None = None) -> int:
    """The newest moment, not after `until_ms`; 0 if there is none."""
    rows = spark.read.format("delta").load(directory)
    if until_ms is not None:
        last_day = F.to_date(F.timestamp_millis(F.lit(until_ms)))
        rows = rows.where((F.col("day") <= last_day) & (F.col("moment_ms") <= until_ms))
    newest = rows.agg({"moment_ms": "max"}).first()
    return (newest[0] if newest else None) or 0
