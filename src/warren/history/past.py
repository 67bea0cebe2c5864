"""Which part of which history a command is about, and a Spark to read it with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from warren import jars
from warren.config import Spark
from warren.history import queries
from warren.history.period import Period
from warren.session import start_session, stop_session


@dataclass(frozen=True)
class Past:
    directory: str
    period: Period
    cluster: str = ""  # all of them
    spark: Spark = field(default_factory=Spark)

    @contextmanager
    def reading(self, group: str = "") -> Iterator[DataFrame]:
        """The rows, while a Spark of our own runs; a Warren that writes them is not disturbed."""
        conf: Mapping[str, str] = self.spark.conf
        master, memory = self.spark.master, self.spark.driver_memory
        spark = start_session(master, "warren report", conf, memory, bundles=(jars.DELTA,))
        try:
            yield self.rows(spark, group)
        finally:
            stop_session(spark)

    def rows(self, spark: SparkSession, group: str = "") -> DataFrame:
        return queries.kept(spark, self.directory, self.period, self.cluster, group)
