"""`__consumer_offsets` as a stream of RECORDS.

The stream keeps no position of its own: the caller gives the start, each batch says how far it
goes, and the checkpoint is a scratch directory. Our position is what has been folded.
"""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

Positions = Mapping[int, int]  # partition of the offsets topic -> next offset to read

# A batch holds the records that have come, at most this many: few of them when caught up.
BATCH_RECORDS = 400_000
# Below this a batch is one task: starting more of them would cost more than the records.
SMALL_BATCH = 20_000
TRIGGER = "1800 milliseconds"  # so that verdicts are less than two seconds old

READING = {
    "failOnDataLoss": "false",  # compaction and deletion leave gaps; that is no reason to stop
    "maxOffsetsPerTrigger": str(BATCH_RECORDS),
    # An empty fetch must not hold a batch up; large fetches make catching up fast.
    "kafka.fetch.max.wait.ms": "10",
    "kafka.max.poll.records": "50000",
    "kafka.max.partition.fetch.bytes": str(16 << 20),
    "kafka.fetch.max.bytes": str(100 << 20),
    "kafka.receive.buffer.bytes": str(1 << 20),
    # A broker that dies during a task must not keep a core from other clusters for long.
    "kafkaConsumer.pollTimeoutMs": "20000",
    # Nor may a partition that has just lost its leader hold up the others for Kafka's full minute.
    "kafka.default.api.timeout.ms": "20000",
}


class TopicSource(NamedTuple):
    """Which topic to read, how to connect, and where to start."""

    topic: str
    options: Mapping[str, str]
    start: Positions
    until_now: bool = False  # stop where the topic ends now


class Batch(NamedTuple):
    """One micro-batch, decoded, and the positions after it."""

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


def read(spark: SparkSession, source: TopicSource) -> DataFrame:
    start = {str(partition): offset for partition, offset in source.start.items()}
    # Only `assign` reads an internal topic without joining a group (see spark/session.py).
    return (
        spark.readStream.format("kafka")
        .options(**READING, **source.options)
        .option("assign", json.dumps({source.topic: sorted(source.start)}))
        .option("startingOffsets", json.dumps({source.topic: start}))
        .load()
        .select("key", "value", "partition", "offset")
    )


def each_batch(
    decoded: DataFrame, source: TopicSource, hand_over: HandOver, scratch: Path
) -> StreamingQuery:
    """Hand every micro-batch over while the query lives."""
    context = decoded.sparkSession.sparkContext
    position = dict(source.start)

    def give(batch: DataFrame, number: int) -> None:
        hand_over.wait_for_room()
        until = _read_until(scratch, number)
        size = sum(end - max(position.get(p, 0), 0) for p, end in until.items())
        # Looked up each time: executors come and go.
        tasks = 1 if size < SMALL_BATCH else context.defaultParallelism
        table = batch.coalesce(tasks).toArrow()
        position.update(until)
        hand_over.give(Batch(table, until))

    writer = decoded.writeStream.foreachBatch(give)
    writer = writer.option("checkpointLocation", scratch.as_uri())
    if source.until_now:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=TRIGGER).start()


def _read_until(scratch: Path, number: int) -> dict[int, int]:
    """Where a batch ends: Spark writes it to the checkpoint before it runs the batch."""
    *_, offsets = (scratch / "offsets" / str(number)).read_text().splitlines()
    (partitions,) = json.loads(offsets).values()
    return {int(partition): offset for partition, offset in partitions.items()}
