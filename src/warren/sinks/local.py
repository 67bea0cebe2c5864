"""Sinks without a server: files of history, and a table of the worst groups on stdout."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from rich.console import Console as Terminal
from rich.markup import escape
from rich.table import Table

from warren.config import ConsoleSink, FilesSink
from warren.errors import Undelivered
from warren.history.table import reason
from warren.model.status import Status
from warren.model.tables import GROUP
from warren.sinks.store_delivery import PointBatch, StoreDelivery

PARTITIONED_BY = ("day", "cluster")


class FilesTarget:
    def __init__(self, settings: FilesSink) -> None:
        given = settings.directory
        self._directory = given if "://" in given else str(Path(given).absolute())
        self._is_delta = settings.class_name == "delta"

    def deliver(self, rows: DataFrame, batch: PointBatch, delivery: StoreDelivery) -> None:
        """Write a batch; a repeated one is not stored twice."""
        ((newest, count),) = rows.agg(F.max("moment_ms"), F.count("*")).collect()
        delivery.retry(lambda: self._write(rows, batch), count)
        delivery.outcomes["sent"] += count
        delivery.note_delivered(newest or 0)

    def _write(self, rows: DataFrame, batch: PointBatch) -> None:
        writer = rows.write.partitionBy(*PARTITIONED_BY)
        try:
            if self._is_delta:
                once = {"txnAppId": f"warren {batch.stream}", "txnVersion": str(batch.number)}
                # A table of an older version gets the columns that it lacks.
                writer = writer.options(**once, mergeSchema="true")
                writer.format("delta").mode("append").save(self._directory)
            else:
                # Readers of the whole directory get it as a column `batch`.
                folder = f"{self._directory}/batch={batch.stream}-{batch.number:08}"
                writer.mode("overwrite").parquet(folder)
        except (Py4JError, PySparkException) as error:
            raise Undelivered(f"{self._directory} cannot be written: {reason(error)}") from error

    def close(self) -> None:
        """Nothing is held."""


MOMENTS = 10  # shown per batch, at most
STYLES = {Status.OK: "green", Status.WARN: "yellow", Status.ERR: "red"}


class Console:
    def __init__(self, settings: ConsoleSink) -> None:
        self._rows = settings.rows

    def deliver(self, rows: DataFrame, batch: PointBatch, delivery: StoreDelivery) -> None:  # noqa: ARG002  showing a moment twice does no harm
        """Show only the newest moments, if the sink is behind by many."""
        groups = rows.where(rows["kind"] == GROUP)
        counts = groups.groupBy("moment_ms").count().orderBy(F.desc("moment_ms")).take(MOMENTS)
        for moment_ms, count in reversed(counts):
            of_moment = groups.where(F.col("moment_ms") == moment_ms)
            worst = of_moment.orderBy(F.desc("status"), F.desc("lag"), "group").limit(self._rows)
            text = table(worst.toArrow().to_pylist(), moment_ms, count - self._rows)
            Terminal(file=sys.stdout).print(text)
            delivery.outcomes["sent"] += count
            delivery.note_delivered(moment_ms)

    def close(self) -> None:
        """Nothing is held."""


def table(worst: list[dict[str, Any]], moment_ms: int, more: int) -> Table:
    at = datetime.fromtimestamp(moment_ms / 1000, UTC)
    left_out = f", {more} more" if more > 0 else ""
    shown = Table(title=f"{at:%Y-%m-%d %H:%M:%S} UTC{left_out}", title_justify="left")
    for name in ("cluster", "group", "status"):
        shown.add_column(name)
    for name in ("lag", "worst partition", "partitions"):
        shown.add_column(name, justify="right")
    for group in worst:
        status = Status(group["status"])
        counts = (group["lag"], group["max_lag"], group["partitions"])
        shown.add_row(
            escape(group["cluster"]),
            escape(group["group"]),
            f"[{STYLES[status]}]{status.name}",
            *(f"{count:,}" for count in counts),
        )
    return shown
