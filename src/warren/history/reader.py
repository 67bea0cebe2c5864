"""Reads history for a command: one directory, one period, perhaps one cluster.

Small periods are read from the table's files; for others Spark is started, which takes long.
"""
# ruff: noqa: PLC0415  # Spark is imported where it is needed

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warren.config import Config, Spark
from warren.history.memory_queries import Kept
from warren.history.table_files import TableFiles, small
from warren.model.period import Period

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Past:
    directory: str
    period: Period
    cluster: str = ""  # empty: all of them
    spark: Spark = field(default_factory=Spark)
    config: Config | None = None  # None: only the directory is known

    @contextmanager
    def reading(self, group: str = "", kinds: Sequence[str] = ()) -> Iterator[Kept]:
        """The rows, of some kinds if named. This does not disturb a Warren that writes them."""
        found = small(TableFiles(self.directory), self.period, self.cluster, group, kinds)
        if found is not None:
            yield found
            return
        from warren.history.table import failures

        with failures(f"history cannot be read from {self.directory}"), self.session() as spark:
            from warren.history import spark_queries

            rows = spark_queries.kept(spark, self.directory, self.period, self.cluster, group)
            with rows.cached() as kept:
                yield kept

    @contextmanager
    def session(self, name: str = "warren report") -> "Iterator[SparkSession]":
        """Start a Spark session for this command."""
        from warren.spark import jars
        from warren.spark.session import start_session, stop_session

        conf, memory = self.spark.conf, self.spark.driver_memory
        spark = start_session(self.spark.master, name, conf, memory, bundles=(jars.DELTA,))
        try:
            yield spark
        finally:
            stop_session(spark)
