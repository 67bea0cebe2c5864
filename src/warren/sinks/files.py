"""History elsewhere: Parquet files or a Delta table, in each of which a batch is once."""

from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warren.config import FilesSink
from warren.errors import Undelivered
from warren.history.failures import reason
from warren.sinks.delivery import Batch, Delivery

PARTITIONED_BY = ("day", "cluster")


class Files:
    def __init__(self, settings: FilesSink) -> None:
        given = settings.directory
        self._directory = given if "://" in given else str(Path(given).absolute())
        self._is_delta = settings.class_name == "delta"

    def deliver(self, rows: DataFrame, batch: Batch, delivery: Delivery) -> None:
        """Write a batch, again in the same place if it was written before."""
        ((newest, count),) = rows.agg(F.max("moment_ms"), F.count("*")).collect()
        delivery.patiently(lambda: self._write(rows, batch), count)
        delivery.outcomes["sent"] += count
        delivery.reached(newest or 0)

    def _write(self, rows: DataFrame, batch: Batch) -> None:
        writer = rows.write.partitionBy(*PARTITIONED_BY)
        try:
            if self._is_delta:
                once = {"txnAppId": f"warren {batch.stream}", "txnVersion": str(batch.number)}
                writer.format("delta").mode("append").options(**once).save(self._directory)
            else:
                # A column `batch` to who reads all of it.
                folder = f"{self._directory}/batch={batch.stream}-{batch.number:08}"
                writer.mode("overwrite").parquet(folder)
        except (Py4JError, PySparkException) as error:
            raise Undelivered(f"{self._directory} cannot be written: {reason(error)}") from error

    def close(self) -> None:
        """Nothing is held."""
