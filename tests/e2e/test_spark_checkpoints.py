"""Spark jobs that read from a real broker, found by their checkpoints and by the listener, judged.

Each is two groups: NAME by its checkpoint, l-NAME by the listener.
"""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import warren_listener
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from conftest import MakeTopics
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from support.checkpoint_files import CheckpointFiles
from support.monitor import Watching, source, storage, watching
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.waiting import eventually

from warren.demo.broker import Broker

CONSUMERS = """
[consumer.spark]
class-name = "spark_checkpoint"
cluster = "jobs"
locations = ["{place}/*", "nowhere://x"]
group-denylist = "^hidden"
[consumer.reports]
class-name = "http"
cluster = "jobs"
"""
REST = """
[general]
state-dir = "{folder}"
[history]
history-interval = 1
[notifier.hook]
class-name = "http"
interval = 1
send-close = true
group-allowlist = "^broken$"
url-open = "{url}/open"
url-close = "{url}/close"
template-open = "{folder}/body.tmpl"
template-close = "{folder}/body.tmpl"
"""
BODY = '{"group": "{{.Group}}", "status": "{{.Result.Status}}"}'
WINDOW, TRIGGER_S = 4, 2
APART_MS = (TRIGGER_S + 10) * 1000


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
            records.writeStream.queryName(name)
            .foreachBatch(work)
            .option("checkpointLocation", f"file:{self.place / name}")
            .trigger(processingTime=f"{TRIGGER_S} seconds")
            .start()
        )

    def add_partitions(self, topic: str, total: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)

    def active(self) -> list[str | None]:
        return [query.name for query in self._spark.streams.active]

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


@pytest.mark.alone  # it times how far both readers are apart
def test_jobs_that_keep_their_own_offsets_are_judged_alike_by_checkpoint_and_listener(
    spark: SparkSession, broker: Broker, make_topics: MakeTopics, tmp_path: Path
) -> None:
    make_topics("cp-even", "cp-late", "cp-broken", partitions=2)
    jobs = Jobs(spark, broker, tmp_path / "checkpoints")
    for topic in ("cp-even", "cp-late", "cp-broken"):
        for partition in range(2):
            jobs.write(topic, partition, 60)
    write_others(jobs.place)
    (tmp_path / "body.tmpl").write_text(BODY)

    with http_receiver() as hook:
        config = source("jobs", broker.bootstrap) + CONSUMERS.format(place=jobs.place)
        config += storage(WINDOW) + REST.format(folder=tmp_path, url=hook.url)
        with watching(spark, tmp_path, config) as site:
            url = f"http://127.0.0.1:{site.port}"
            listener = warren_listener.attach(spark, url, group="l-{name}")
            assert listener is not None
            try:
                follow(jobs, site)
                look_at_what_follows(site, hook)
            finally:
                jobs.stop()
                listener.detach()
            problems = {
                line["checkpoint"].rpartition("/")[2]: line["problem"]
                for line in site.logged("not read")
                if line["level"] == "warn"
            }
            health = site.health()["consumers"]["spark"]

    assert listener.counts.refused == listener.counts.dropped == 0
    assert problems.pop("x").startswith("cannot be listed: No FileSystem for scheme")
    assert problems == OTHERS
    assert health["skipped"] == {"unreadable checkpoint": 1}
    assert (
        health["not_read"].items()
        >= {f"file:{jobs.place}/{n}": w for n, w in OTHERS.items()}.items()
    )
    assert health["not_read"][f"file:{jobs.place}/empty"] == "there is no checkpoint yet"


def follow(jobs: Jobs, site: Watching) -> None:
    jobs.start("even", "cp-even", Work())
    jobs.start("hidden-job", "cp-even", Work())
    jobs.start("late", "cp-late", Work(), maxOffsetsPerTrigger="4")

    # One keeps up, one is slower than its topic, one has failed.
    both_say(site, "even", lambda group: group["status"] == "OK" and not group["total_lag"])
    assert (
        site.committed("jobs", "even") == site.committed("jobs", "l-even") == {"cp-even": [60, 60]}
    )

    def late_while_the_log_grows(group: Any) -> bool:
        for partition in range(2):
            jobs.write("cp-late", partition, 30)
        age = group["age"]
        high = math.inf if age["high"] is None else age["high"]  # not known yet
        return bool(group["status"] == "WARN" and 0 < (age["low"] or 0) <= high)

    both_say(site, "late", late_while_the_log_grows)
    jobs.start("broken", "cp-broken", Work(fails_at=2), maxOffsetsPerTrigger="20")
    both_say(site, "broken", lambda group: group["status"] == "ERR" and group["total_lag"] == 80)
    assert site.committed("jobs", "broken") == {"cp-broken": [20, 20]}
    answer = site.json("/v4/group?cluster=jobs&group=even")
    known, place = answer["query"], f"file:{jobs.place}/even"
    assert (known["origin"], known["place"]) == ("checkpoint", place)
    assert known["id"] == jobs.running["even"].id
    assert known["batch_ms"] > 0
    assert answer["about_query"][0] == f"Its offsets come from its checkpoint at {place}."

    # Restarted from its checkpoint it reads on; one that is stopped reads no more.
    jobs.stop("late", "even")
    eventually(lambda: "broken" in jobs.active(), expected=False)
    jobs.start("broken", "cp-broken", Work())
    both_say(site, "broken", lambda group: group["status"] == "OK" and not group["total_lag"])
    both_say(site, "late", lambda group: group["status"] == "ERR")
    assert restarts(site, "l-broken") == 1
    assert restarts(site, "broken") == 0  # its checkpoint does not tell

    # Upgraded to more partitions.
    jobs.add_partitions("cp-even", 3)
    jobs.write("cp-even", 2, 7)
    jobs.start("even", "cp-even", Work())
    both_say(
        site,
        "even",
        lambda group: (
            (group["status"], group["total_lag"], group["partition_count"]) == ("OK", 0, 3)
        ),
    )
    assert site.committed("jobs", "even") == site.committed("jobs", "l-even")

    # A checkpoint that is deleted takes its group along.
    shutil.rmtree(jobs.place / "late")
    eventually(lambda: "late" in site.groups("jobs"), expected=False)
    assert "hidden-job" not in site.groups("jobs")
    assert site.health()["consumers"]["spark"]["state"] == "caught up"


def both_say(site: Watching, name: str, is_so: Callable[[Any], bool]) -> None:
    """Both groups come to it; the boards that say so are a trigger and ten seconds apart at most.

    Warren's own evaluator, the second opinion here, says the same of both then, unless the query
    has ended: it takes its time for silence, and only the listener knows of the end.
    """
    moments, words = dict[str, int](), dict[str, str]()

    def look() -> int:
        answer = site.json("/v4/groups?cluster=jobs&limit=1000")
        for group in answer["groups"]:
            if group["group"] in {name, f"l-{name}"} and is_so(group):
                moments.setdefault(group["group"], answer["board"]["moment_ms"])
                words[group["group"]] = (
                    "" if group["status"] == "ERR" else group["judgement"]["word"]
                )
        return len(moments)

    eventually(look, 2)
    assert abs(moments[name] - moments[f"l-{name}"]) <= APART_MS, name
    assert words[name] == words[f"l-{name}"], name


def restarts(site: Watching, group: str) -> int:
    found: int = site.json(f"/v4/group?cluster=jobs&group={group}")["query"]["restarts"]
    return found


def look_at_what_follows(site: Watching, hook: HttpReceiver) -> None:
    """A group from a checkpoint has a past and is notified of as any other."""

    def told() -> set[tuple[str, str, str]]:
        said = [(each.path, json.loads(each.body)) for each in hook.got]
        return {(path, body["group"], body["status"]) for path, body in said}

    eventually(lambda: told() >= {("/open", "broken", "ERR"), ("/close", "broken", "OK")})

    def past() -> Any:
        return site.json("/v4/history?cluster=jobs&group=broken&since=1h")

    eventually(lambda: past().get("incidents"))
    assert max(lag for lag in past()["lag"] if lag is not None) >= 80


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
