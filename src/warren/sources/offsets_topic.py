"""`__consumer_offsets` as a stream of RECORDS; one query reads that of one cluster, or of several.

A query keeps no position of its own: the caller gives the start, each batch says how far it
goes, and the checkpoint is a scratch directory. Our position is what has been folded.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import compress, starmap
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from warren.model.tables import LOGGED_MS

Positions = Mapping[int, int]  # partition of the offsets topic -> next offset to read

# A batch holds the records that have come, at most this many: few of them when caught up.
BATCH_RECORDS = 400_000
# Below this a batch is one task and is not shortened: to start more of them, or to plan that, would
# cost more than the records.
SMALL_BATCH = 20_000
STREAM = "stream"  # column with the number of a record's topic
NOTHING_YET = "-"
TRIGGER = "1800 milliseconds"  # so that verdicts are less than two seconds old

READING = {
    "failOnDataLoss": "false",  # compaction and deletion leave gaps; that is no reason to stop
    "kafka.fetch.max.wait.ms": "10",  # an empty fetch must not hold a batch up
    # Spark keeps what it has fetched of each partition and not used yet. With more than this, most
    # of a catch-up would be Java's collector, which goes through all of it again and again.
    "kafka.max.poll.records": "4000",
    "kafka.receive.buffer.bytes": str(1 << 20),
    # A broker that dies during a task must not keep a core from other clusters for long.
    "kafkaConsumer.pollTimeoutMs": "20000",
    # Nor may a partition that has just lost its leader hold up the others for Kafka's full minute.
    "kafka.default.api.timeout.ms": "20000",
    # A client for each partition: hundreds of beans each, which nobody looks at, and reports to
    # the brokers about itself, would be most of what it takes to make one.
    "kafka.auto.include.jmx.reporter": "false",
    "kafka.enable.metrics.push": "false",
}


# Generated code pays for millions of records. For the few of a live batch it does not: Spark
# generates it again for each partition, every time.
WITHOUT_GENERATED_CODE = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


class TopicSource(NamedTuple):
    """Which topic to read, how to connect, and where to start."""

    topic: str
    options: Mapping[str, str]
    start: Positions
    until_now: bool = False  # stop where the topic ends now


class Batch(NamedTuple):
    """The records of one micro-batch, and the positions after it."""

    table: pa.Table
    until: Positions


class ReadingStopped(Exception):
    """Ends a batch that is no longer needed."""


class HandOver:
    """The queue between Spark's thread and ours: one batch is folded, one is read, no third."""

    def __init__(self) -> None:
        self._room = threading.Semaphore(2)
        self._ready: SimpleQueue[Batch] = SimpleQueue()
        self._stopped = False

    def wait_for_room(self) -> None:
        self._room.acquire()
        if self._stopped:
            raise ReadingStopped

    def give(self, batch: Batch) -> None:
        self._ready.put(batch)

    def take(self, timeout_s: float) -> Batch | None:
        try:
            return self._ready.get(timeout=timeout_s)
        except Empty:
            return None

    @property
    def holds(self) -> bool:
        """Whether a batch waits to be taken."""
        return not self._ready.empty()

    def done(self) -> None:
        """Note that the batch taken last has been folded."""
        self._room.release()

    def stop(self) -> None:
        self._stopped = True
        self._room.release(2)


class TopicStream(NamedTuple):
    """A topic that a query reads, and where its batches go."""

    source: TopicSource
    hand_over: HandOver


def read(spark: SparkSession, source: TopicSource, share: int = 1) -> DataFrame:
    """One topic; of what a batch may hold, it takes one of so many shares."""
    start = {str(partition): offset for partition, offset in source.start.items()}
    logged_ms = F.unix_millis("timestamp").alias(LOGGED_MS)
    # Only `assign` reads an internal topic without joining a group (see spark/session.py).
    return (
        spark.readStream.format("kafka")
        .options(**READING, **source.options)
        .option("maxOffsetsPerTrigger", BATCH_RECORDS // share)
        .option("assign", json.dumps({source.topic: sorted(source.start)}))
        .option("startingOffsets", json.dumps({source.topic: start}))
        .load()
        .select("key", "value", "partition", "offset", logged_ms)
    )


def read_all(spark: SparkSession, sources: Sequence[TopicSource]) -> DataFrame:
    """All topics; if there are several, each record says by number of which it is."""
    session = spark if sources[0].until_now else _interpreting(spark)
    if len(sources) == 1:
        return read(session, sources[0])
    each = [
        read(session, source, len(sources)).withColumn(STREAM, F.lit(number))
        for number, source in enumerate(sources)
    ]
    return reduce(DataFrame.unionAll, each)


def _interpreting(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for name, value in WITHOUT_GENERATED_CODE.items():
        session.conf.set(name, value)
    return session


def each_batch(
    records: DataFrame,
    streams: Sequence[TopicStream],
    scratch: Path,
    shorten: Callable[[DataFrame], DataFrame],
) -> StreamingQuery:
    """Hand every micro-batch over while the query lives, large ones shortened."""
    context = records.sparkSession.sparkContext
    positions = [dict(stream.source.start) for stream in streams]

    def give(batch: DataFrame, number: int) -> None:
        until = _read_until(scratch, number, positions)
        pairs = [*zip(positions, until, strict=True)]
        moved = [len(streams) == 1 or before != after for before, after in pairs]
        for stream in compress(streams, moved):
            stream.hand_over.wait_for_room()
        # Looked up each time: executors come and go. The first batch makes a client for each
        # partition, which takes longer than the records.
        is_small = sum(starmap(_size, pairs)) < SMALL_BATCH
        tasks = 1 if is_small and number else context.defaultParallelism
        read = batch.coalesce(tasks)
        table = (read if is_small else read.transform(shorten)).toArrow()
        positions[:] = until
        for stream, part in compress(zip(streams, _parts(table, until), strict=True), moved):
            stream.hand_over.give(part)

    writer = records.writeStream.foreachBatch(give)
    writer = writer.option("checkpointLocation", scratch.as_uri())
    if streams[0].source.until_now:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=TRIGGER).start()


def _size(before: Positions, after: Positions) -> int:
    return sum(end - max(before.get(partition, 0), 0) for partition, end in after.items())


def _parts(table: pa.Table, until: Sequence[Positions]) -> Iterator[Batch]:
    """The batch of each topic."""
    if STREAM not in table.column_names:
        yield Batch(table, until[0])
        return
    of, records = table[STREAM], table.drop_columns([STREAM])
    for number, end in enumerate(until):
        yield Batch(records.filter(pc.equal(of, number)), end)


def _read_until(
    scratch: Path, number: int, before: Sequence[dict[int, int]]
) -> list[dict[int, int]]:
    """Where a batch ends: Spark writes it to the checkpoint before it runs the batch.

    A line for each topic, in their order.
    """
    _, _, *lines = (scratch / "offsets" / str(number)).read_text().splitlines()
    return [
        {int(partition): end for partition, end in _only(json.loads(line)).items()}
        if line != NOTHING_YET
        else dict(position)
        for line, position in zip(lines, before, strict=True)
    ]


def _only(topics: Mapping[str, Mapping[str, int]]) -> Mapping[str, int]:
    (partitions,) = topics.values()
    return partitions
