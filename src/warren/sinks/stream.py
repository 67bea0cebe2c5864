"""A sink: a stream over history with its own checkpoint, scheduler pool and retries.

A batch is done when the store has taken it; until then Spark does not go on. So a store that is
down loses nothing: after a restart the batch comes again, and stores keep what comes twice once.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from urllib.parse import unquote

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from warren.config import (
    Config,
    ConsoleSink,
    ElasticsearchSink,
    FilesSink,
    HttpSink,
    InfluxdbSink,
    Sink,
    Tls,
)
from warren.config import Sink as Settings
from warren.errors import SourceError, StreamEnded
from warren.history.table import failures, reason
from warren.model.health import SinkHealth
from warren.model.period import day
from warren.model.tables import HISTORY
from warren.sinks.checkpoint import Origin, SinkFolder, rejected_file
from warren.sinks.elasticsearch import Elasticsearch
from warren.sinks.influxdb import InfluxDB
from warren.sinks.local import Console, FilesTarget
from warren.sinks.store_delivery import PointBatch, Rejected, StoreDelivery
from warren.sinks.store_http import HttpTarget


class Target(Protocol):
    def deliver(self, rows: DataFrame, batch: PointBatch, delivery: StoreDelivery) -> None:
        """Deliver every row of a batch; raises only if retries cannot help."""
        ...

    def close(self) -> None: ...


def make_target(config: Config, sink: Sink) -> Target:
    match sink:
        case InfluxdbSink():
            return HttpTarget(InfluxDB(sink, _tls(config, sink)), sink.batch)
        case ElasticsearchSink():
            return HttpTarget(Elasticsearch(sink, _tls(config, sink)), sink.batch)
        case FilesSink():
            return FilesTarget(sink)
        case ConsoleSink():
            return Console(sink)
    raise AssertionError(sink.class_name)  # every class of SINKS is above


def _tls(config: Config, sink: HttpSink) -> Tls | None:
    return config.tls.get(sink.tls)


log = structlog.get_logger()

POLL_S = 0.5
TRIGGER = "2 seconds"
READING = {
    # Only appends are delivered; merged files and dropped days are not news.
    "skipChangeCommits": "true",
    # An interrupted batch is repeated from its start: it should not be hours long.
    "maxBytesPerTrigger": "64m",
}
AS_NAMED = {"__globPaths__": "false"}  # a bracket in a file name is not a pattern
# Files or log entries that the stream still needs are gone: they are kept for a week.
# A file that we may not open still exists.
_TOO_LATE = re.compile(
    r"FileNotFoundException(?!.*\((?:Permission denied|Too many open files))|FILE_NOT_EXIST"
    r"|DELTA_LOG_FILE_NOT_FOUND|DELTA_MISSING_FILES_UNEXPECTED_VERSION"
    r"|DELTA_VERSIONS_NOT_CONTIGUOUS|DELTA_TRUNCATED_TRANSACTION_LOG|VERSION_NOT_FOUND"
)


# A newer Warren has added columns; a new stream goes on where the old one stood.
_HAS_GROWN = re.compile(r"DELTA_SCHEMA_CHANGED")


def is_too_late(failure: object) -> bool:
    return bool(_TOO_LATE.search(str(failure)))


class SinkStream:
    """Runs beside the pipeline."""

    kind = "sinks"

    def __init__(self, spark: SparkSession, config: Config, settings: Settings) -> None:
        self.name = settings.name
        self.restarts = 0
        self._spark = spark
        self._config = config
        self._settings = settings
        self._delivery = StoreDelivery(
            self.name, Rejected(self.name, rejected_file(config, settings.name))
        )
        self._first_ms = 0  # the first moment to deliver; 0: not known yet
        self._state = "waiting"
        self._failure: Exception | None = None  # the one that ended the stream last
        self._log = log.bind(sink=self.name)

    @property
    def problem(self) -> str:
        return self._delivery.problem

    @problem.setter
    def problem(self, problem: str) -> None:
        self._delivery.problem = problem

    def health(self) -> SinkHealth:
        delivery = self._delivery
        until = delivery.delivered_ms
        since = until or self._first_ms
        return SinkHealth(
            self.problem,
            self.restarts,
            self._settings.class_name,
            state="retrying" if delivery.problem else self._state,
            delivered_ms=until or None,
            behind_s=round(time.time() - since / 1000, 1) if since else None,
            outcomes=dict(delivery.outcomes),
            rejected=dict(delivery.rejected.reasons),
        )

    def run(self, stop: threading.Event) -> None:
        """Deliver until `stop` is set; raises if the stream ends by itself."""
        try:
            with failures("the sink failed"):
                self._deliver(stop)
        except SourceError:
            self._delivery.outcomes["failed"] += 1
            raise

    def _deliver(self, stop: threading.Event) -> None:
        self._delivery.stop = stop
        place = SinkFolder(self._spark, self._config.history_directory, self.name)
        while not place.has_table():
            if stop.wait(POLL_S * 4):
                return
        origin = place.origin(self._settings.since)
        # Another instance may have delivered in the meantime.
        self._delivery.delivered_ms, self._first_ms = place.delivered_ms(), place.first_ms(origin)
        try:
            try:
                self._follow(place, origin, stop)
            except StreamEnded:
                if not _HAS_GROWN.search(str(self._failure)):
                    raise
                self._follow(place, origin, stop)
        except StreamEnded:
            # Another stream would write everything to files twice: a person has to decide.
            may_repeat = not isinstance(self._settings, FilesSink)
            if may_repeat and is_too_late(self._failure):
                place.restart(origin)
                self._log.warning("the sink was behind for too long; all of history is sent again")
            raise
        finally:
            self._state = "waiting"

    def _follow(self, place: SinkFolder, origin: Origin, stop: threading.Event) -> None:
        with self._query(place, origin) as query:
            self._watch(query, stop)

    def _watch(self, query: StreamingQuery, stop: threading.Event) -> None:
        self._state = "running"
        while not stop.wait(POLL_S):
            if not query.isActive:
                self._failure = self._failure or query.exception()
                raise StreamEnded(reason(self._failure) if self._failure else "no reason given")

    @contextmanager
    def _query(self, place: SinkFolder, origin: Origin) -> Iterator[StreamingQuery]:
        destination = make_target(self._config, self._settings)
        # A pool of its own: the sink's jobs take turns with the pipeline's.
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", f"sink {self.name}")
        history = self._config.history_directory
        self._failure = None

        def deliver(files: DataFrame, number: int) -> None:
            try:
                rows = rows_in(self._spark, files, history, origin)
                destination.deliver(rows, PointBatch(origin.stream, number), self._delivery)
                place.save_delivered(self._delivery.delivered_ms)
                self._delivery.note_success()
            except (Py4JError, PySparkException) as error:
                self._failure = error  # the query's own exception does not have the reason
                raise

        growing = files(self._spark, history, origin)
        writer = growing.writeStream.foreachBatch(deliver).trigger(processingTime=TRIGGER)
        query = writer.option("checkpointLocation", place.checkpoint(origin)).start()
        try:
            yield query
        finally:
            query.stop()
            destination.close()


def files(spark: SparkSession, history: str, origin: Origin) -> DataFrame:
    """The names of history's new files, repeated for each row; each batch reads the files itself.

    If the stream had the rows, Spark would read a whole batch again for each chunk of it.
    """
    source = spark.readStream.format("delta").options(**READING)
    if origin.version is not None:
        source = source.option("startingVersion", origin.version)
    of_days = source.load(history).where(F.col("day") >= day(origin.since_ms))
    return of_days.select(F.input_file_name().alias("file"))


def rows_in(spark: SparkSession, files: DataFrame, history: str, origin: Origin) -> DataFrame:
    """The rows of new files, from the origin on."""
    names = [unquote(row.file) for row in files.distinct().collect()]
    reader = spark.read.schema(from_arrow_schema(HISTORY)).options(**AS_NAMED, basePath=history)
    return reader.parquet(*names).where(F.col("moment_ms") >= origin.since_ms)
