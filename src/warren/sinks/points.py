"""History as points: measurement, tags and fields as Telegraf's burrow input has them.

One shape for every store of time series, so that what was built upon Telegraf goes on working.
A null is a tag or a field that the point does not have.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.model import Status
from warren.tables import GROUP, LOG_END, PARTITION

MEASUREMENTS = {GROUP: "burrow_group", PARTITION: "burrow_partition", LOG_END: "burrow_topic"}
TAGS = ("cluster", "group", "owner", "partition", "topic")  # sorted, as Telegraf writes them
COUNTS = ("lag", "offset", "partition_count", "timestamp", "total_lag")  # whole numbers
# Telegraf's numbers are not Burrow's; it has none for REWIND, which it writes as 0.
STATUS_CODES = {
    Status.OK: 1,
    Status.NOTFOUND: 2,
    Status.WARN: 3,
    Status.ERR: 4,
    Status.STOP: 5,
    Status.STALL: 6,
    Status.REWIND: 0,
}


def points(history: DataFrame) -> DataFrame:
    """Turn each row of history into a point."""
    is_group, is_end = F.col("kind") == GROUP, F.col("kind") == LOG_END
    return history.select(
        "moment_ms",
        _translated("kind", MEASUREMENTS).alias("measurement"),
        *("cluster", "group", "topic", "owner"),
        F.col("partition").cast("string").alias("partition"),
        F.when(is_group, F.col("max_lag")).when(~is_end, F.col("lag")).alias("lag"),
        _known("offset").alias("offset"),
        F.when(is_group, F.col("partitions").cast("long")).alias("partition_count"),
        F.when(~is_end, _known("committed_ms")).alias("timestamp"),
        F.when(is_group, F.col("lag")).alias("total_lag"),
        _translated("status", {status: status.name for status in Status}).alias("status"),
        _translated("status", STATUS_CODES).alias("status_code"),
    )


def _known(column: str) -> Column:
    """What is not known, as of a partition that was never committed to, Telegraf writes as 0."""
    return F.coalesce(column, F.lit(0).cast("long"))


def _translated(column: str, words: Mapping[Any, str | int]) -> Column:
    (first, value), *rest = words.items()
    chosen = F.when(F.col(column) == first, value)
    for word, value in rest:
        chosen = chosen.when(F.col(column) == word, value)
    return chosen
