"""Spark jobs that read from a real broker, found by their checkpoints and judged."""

import shutil
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from conftest import MakeTopics
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from support.checkpoint_files import CheckpointFiles
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

CONSUMER = """
[consumer.spark]
class-name = "spark_checkpoint"
cluster = "jobs"
locations = ["{place}/*", "nowhere://x"]
group-denylist = "^hidden"
"""
WINDOW = 3


class Jobs:
    """Streaming queries of one topic each; every checkpoint is in the same place."""

    def __init__(self, spark: SparkSession, broker: Broker, place: Path) -> None:
        self._spark, self._bootstrap, self.place = spark, broker.bootstrap, place
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        self.running = dict[str, StreamingQuery]()

    def write(self, topic: str, partition: int, records: int) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap})  # knows new partitions
        for _ in range(records):
            producer.produce(topic, b"a record", partition=partition)
        producer.flush()

    def start(self, name: str, topic: str, work: "Work", **more: str) -> None:
        """Start it, or start it again from its checkpoint."""
        records = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self._bootstrap)
            .option("startingOffsets", "earliest")
            .option("subscribe", topic)
            .options(**more)
            .load()
        )
        self.running[name] = (
            records.writeStream.foreachBatch(work)
            .option("checkpointLocation", f"file:{self.place / name}")
            .trigger(processingTime="1 second")
            .start()
        )

    def add_partitions(self, topic: str, total: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)

    def stop(self, *names: str) -> None:
        for name in names or [*self.running]:
            self.running.pop(name).stop()


class Work:
    """What a job does with a batch: it fails at the one that is told."""

    def __init__(self, fails_at: int = -1) -> None:
        self.fails_at = fails_at

    def __call__(self, batch: DataFrame, number: int) -> None:
        if number == self.fails_at:
            raise RuntimeError("the disk of the job is full")
        batch.write.format("noop").mode("append").save()


def test_jobs_that_keep_their_own_offsets_are_judged_by_their_checkpoints(
    spark: SparkSession, broker: Broker, make_topics: MakeTopics, tmp_path: Path
) -> None:
    make_topics("cp-even", "cp-late", "cp-broken", partitions=2)
    jobs = Jobs(spark, broker, tmp_path / "checkpoints")
    for topic in ("cp-even", "cp-late", "cp-broken"):
        for partition in range(2):
            jobs.write(topic, partition, 60)
    write_others(jobs.place)
    config = source("jobs", broker.bootstrap) + CONSUMER.format(place=jobs.place) + storage(WINDOW)

    with watching(spark, tmp_path, config) as site:
        try:
            follow(jobs, site)
        finally:
            jobs.stop()
        problems = {
            line["checkpoint"].rpartition("/")[2]: line["problem"]
            for line in site.logged("not read")
            if line["level"] == "warn"
        }
        skipped = site.health()["consumers"]["spark"]["skipped"]

    assert problems.pop("x").startswith("cannot be listed: No FileSystem for scheme")
    assert problems == OTHERS
    assert skipped == {"unreadable checkpoint": 1}


def follow(jobs: Jobs, site: Watching) -> None:
    jobs.start("even", "cp-even", Work())
    jobs.start("hidden-job", "cp-even", Work())
    jobs.start("late", "cp-late", Work(), maxOffsetsPerTrigger="4")
    jobs.start("broken", "cp-broken", Work(fails_at=2), maxOffsetsPerTrigger="20")

    # One keeps up, one is slower than its topic, one has failed.
    eventually(lambda: site.committed("jobs", "even"), {"cp-even": [60, 60]})
    eventually(lambda: status(site, "even"), ("OK", 0))

    def late_while_the_log_grows() -> str:
        for partition in range(2):
            jobs.write("cp-late", partition, 30)
        return status(site, "late")[0]

    eventually(late_while_the_log_grows, "WARN")
    eventually(lambda: status(site, "broken"), ("ERR", 80))
    assert site.committed("jobs", "broken") == {"cp-broken": [20, 20]}
    answer = site.json("/v4/group?cluster=jobs&group=even")
    known, place = answer["query"], f"file:{jobs.place}/even"
    assert (known["origin"], known["place"]) == ("checkpoint", place)
    assert known["id"] == jobs.running["even"].id
    assert answer["about_query"][0] == f"Its offsets come from its checkpoint at {place}."

    # Restarted from its checkpoint it reads on; one that is stopped reads no more.
    jobs.stop("late", "even")
    jobs.start("broken", "cp-broken", Work())
    eventually(lambda: status(site, "broken"), ("OK", 0))
    eventually(lambda: status(site, "late")[0], "ERR")

    # Upgraded to more partitions.
    jobs.add_partitions("cp-even", 3)
    jobs.write("cp-even", 2, 7)
    jobs.start("even", "cp-even", Work())
    eventually(lambda: site.committed("jobs", "even"), {"cp-even": [60, 60, 7]})
    eventually(lambda: status(site, "even"), ("OK", 0))

    # A checkpoint that is deleted takes its group along.
    shutil.rmtree(jobs.place / "late")
    eventually(lambda: "late" in site.groups("jobs"), expected=False)
    assert "hidden-job" not in site.groups("jobs")
    assert site.health()["consumers"]["spark"]["state"] == "caught up"


def status(site: Watching, group: str) -> tuple[str, int]:
    found = site.group("jobs", group)
    return found["status"], found["totallag"]


OTHERS = {
    "cut": "cannot read offsets/0: a source's offset: the log is cut short or damaged",
    "files": "it reads nothing from Kafka",
}


def write_others(place: Path) -> None:
    """What else lies there."""
    offsets = {"cp-even": {"0": 5}}
    CheckpointFiles(place / "begun").begin(0, offsets)
    CheckpointFiles(place / "files").commit(0, {"logOffset": 3})
    cut = CheckpointFiles(place / "cut")
    cut.commit(0, offsets)
    log = cut.directory / "offsets" / "0"
    log.write_text(log.read_text()[:-5])
    (place / "empty").mkdir()
