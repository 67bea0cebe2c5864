"""Two streaming queries of Spark's, which keep their offsets in checkpoints and commit nothing.

They run in the Spark that Warren has anyway, in a session of their own: another Java would take
half a gigabyte. They start once the page is announced, so nobody waits for them.
"""

from dataclasses import dataclass
from pathlib import Path

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from warren.demo.demo_groups import SLOW, TOPIC
from warren.demo.scene import Scene

log = structlog.get_logger()

CHECKPOINTS = "checkpoints"  # in the demo's directory
LOOK_S = 0.2
DIED = (Py4JError, PySparkException, OSError)  # Spark's Java may end first


@dataclass(frozen=True)
class SparkJob:
    name: str
    expected: str  # the status it should get
    story: str  # for the summary
    trigger: str
    at_most: int | None = None  # messages of each partition in a batch


JOBS = (
    SparkJob("spark-keeps-up", "OK", "a Spark job; its checkpoint has its offsets", "2 seconds"),
    SparkJob("spark-falls-behind", "WARN", "a Spark job that reads too slowly", "3 seconds", SLOW),
)


def run(spark: SparkSession, scene: Scene, home: Path) -> None:
    """Keep the jobs going from when the page is announced until the demo ends."""
    while not scene.shown.wait(LOOK_S):
        if scene.stop.is_set():
            return
    running: list[StreamingQuery] = []
    try:
        session = spark.newSession()
        # As Spark does by default: Warren's own way would join a consumer group.
        session.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "false")
        session.sparkContext.setLocalProperty("spark.scheduler.pool", "demo")
        places = ((job, home / CHECKPOINTS / job.name) for job in JOBS)
        running += [_start(session, scene, *each) for each in places if not scene.stop.is_set()]
        scene.stop.wait()
        for query in running:
            query.stop()
    except DIED as error:
        log.warning("the Spark jobs of the demo ended", problem=str(error))


def _start(session: SparkSession, scene: Scene, job: SparkJob, place: Path) -> StreamingQuery:
    read = session.readStream.format("kafka").options(
        **{"kafka.bootstrap.servers": scene.bootstrap}, subscribe=TOPIC, startingOffsets="earliest"
    )
    if job.at_most is not None:
        read = read.option("maxOffsetsPerTrigger", job.at_most * scene.traffic.partitions)
    written = read.load().coalesce(1).writeStream.format("noop").queryName(job.name)
    return (
        written.option("checkpointLocation", place.as_uri())
        .trigger(processingTime=job.trigger)
        .start()
    )
