"""Real streaming queries that read a real broker, with the listener attached, judged by Warren."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import warren_listener
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from support.kafka_clients import Kafka
from support.monitor import Watching, watching
from support.servers.http_receiver import http_receiver
from support.servers.loopback import free_port
from support.waiting import eventually

from warren.demo.broker import Broker

TOKEN = "report-it"


class Job:
    """A job with one query, which can be made to fail."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path, topic: str) -> None:
        self._spark, self._servers, self._folder = spark, broker.bootstrap, folder
        self.topic = topic
        self.fails = threading.Event()
        self.kafka = Kafka(broker.bootstrap)

    def start(self) -> StreamingQuery:
        """Start from the checkpoint, or from the beginning of the topic."""
        records = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self._servers)
            .option("subscribe", self.topic)
            .option("startingOffsets", "earliest")
            .load()
        )
        writer = records.writeStream.queryName(self.topic).foreachBatch(self._write)
        return writer.option("checkpointLocation", str(self._folder / self.topic)).start()

    def _write(self, batch: DataFrame, _number: int) -> None:
        if self.fails.is_set():
            raise ValueError("the target is full")
        batch.count()


@pytest.fixture
def config(broker: Broker, tmp_path: Path) -> str:
    servers = f'servers = ["{broker.bootstrap}"]'
    return f"""report-token = "{TOKEN}"
[general]
state-dir = "{tmp_path}/state"
snapshot-interval = 1
[cluster.local]
class-name = "kafka"
{servers}
offset-refresh = 1
topic-refresh = 2
[consumer.jobs]
class-name = "http"
cluster = "local"
"""


@pytest.fixture
def job(spark: SparkSession, broker: Broker, tmp_path: Path) -> Iterator[Job]:
    made = Job(spark, broker, tmp_path, f"job-{tmp_path.name}")
    made.kafka.make_topic(made.topic, 100, 100)
    yield made
    for query in spark.streams.active:
        if query.name == made.topic:
            query.stop()


def told(watched: Watching, job: Job) -> Any:
    """What /v4/group says of the query, and the group's status; None: there is no such group."""
    answer = watched.json(f"/v4/group?cluster=local&group={quote(job.topic)}")
    if "query" not in answer:
        return None
    says, status = answer["about_query"], answer["summary"]["status"]
    return {**answer["query"], "says": says, "status": status}


def told_when(watched: Watching, job: Job, is_so: Callable[[Any], object]) -> Any:
    """The same as soon as it is so."""
    return eventually(
        lambda: next((each for each in [told(watched, job)] if each and is_so(each)), None)
    )


def committed(watched: Watching, job: Job) -> list[int | None] | None:
    return watched.committed("local", job.topic).get(job.topic)


def test_a_query_keeps_up_fails_starts_again_and_ends_and_is_judged(
    spark: SparkSession, job: Job, config: str, tmp_path: Path
) -> None:
    with watching(spark, tmp_path, config) as watched:
        url = f"http://127.0.0.1:{watched.port}"
        listener = warren_listener.attach(spark, url, token=TOKEN, every_s=1.0)
        assert listener is not None
        when, at = partial(told_when, watched, job), partial(committed, watched, job)
        first = job.start()
        eventually(at, [100, 100])
        running = when(lambda told: told["batch"] is not None)

        job.fails.set()
        job.kafka.produce(job.topic, 50, 0)
        failed = when(lambda told: told["status"] == "ERR")
        why = watched.json(f"/v4/explain?cluster=local&group={job.topic}")["reasons"][0]
        first_run = str(first.runId)

        job.fails.clear()
        second = job.start()
        eventually(at, [150, 100])
        again = when(lambda told: told["status"] == "OK" and told["batch"])
        second.stop()
        ended = when(lambda told: told["ended_ms"])
        listener.detach()

    assert (running["origin"], running["id"]) == ("listener", str(first.id))
    assert (running["run_id"], running["restarts"]) == (first_run, 0)
    assert (running["place"], running["name"]) == ("warren-tests", job.topic)
    assert running["processed_rate"] > 0
    assert failed["error"] == "ValueError: the target is full"
    assert (why["status"], why["topic"], why["partition"]) == ("STOP", job.topic, 0)
    assert why["why"].startswith("Its query failed ")
    assert why["why"].endswith("; 50 messages wait.")
    assert failed["error"] in " ".join(failed["says"])
    assert (again["run_id"], again["restarts"]) == (str(second.runId), 1)
    assert (again["error"], again["ended_ms"]) == (failed["error"], None)
    assert ended["status"] == "OK"  # it had read everything
    assert listener.counts.refused == listener.counts.dropped == 0

    (restarted := tmp_path / "restarted").mkdir()
    with watching(spark, restarted, config) as watched:
        after = told_when(watched, job, bool)
        assert eventually(partial(committed, watched, job)) == [150, 100]

    assert (after["restarts"], after["ended_ms"]) == (1, ended["ended_ms"])


def test_whatever_warren_does_the_job_goes_on(spark: SparkSession, job: Job) -> None:
    with http_receiver() as hanging, http_receiver() as failing:
        hanging.may_answer.clear()
        failing.status = 500
        refused = f"http://127.0.0.1:{free_port()}"
        query = job.start()
        for total, url in enumerate((hanging.url, failing.url, refused), 2):
            listener = warren_listener.attach(spark, url, timeout_s=0.2)
            assert listener is not None
            job.kafka.produce(job.topic, 100, 0)
            query.processAllAvailable()

            eventually(partial(_problem, listener))
            assert listener.counts.sent == 0
            assert _read(query, job.topic) == [total * 100, 100]
            listener.detach()
        assert query.exception() is None


def _problem(listener: warren_listener.QueryListener) -> str:
    return listener.counts.problem


def _read(query: StreamingQuery, topic: str) -> list[int]:
    """Where the last batch ended, by partition."""
    progress = query.lastProgress
    assert progress is not None
    offsets = warren_listener.progress_reports.offsets_of(progress.sources)[topic]
    return [offsets[number] for number in sorted(offsets)]


def test_a_listener_that_is_detached_is_forgotten(spark: SparkSession) -> None:
    with http_receiver() as warren, http_receiver() as other:
        first = warren_listener.attach(spark, warren.url)
        second = warren_listener.attach(spark, warren.url)
        third = warren_listener.attach(spark, other.url)
        assert first and second and third  # noqa: PT018  for the types
        first.detach()  # it was replaced
        attached = [*warren_listener._attached[spark].values()]  # noqa: SLF001  nothing else shows it
        second.detach()
        third.detach()

    assert attached == [second, third]
    assert warren_listener._attached[spark] == {}  # noqa: SLF001  see above


def test_what_cannot_be_attached_is_logged_and_the_job_goes_on(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    assert warren_listener.attach(spark, "warren:8000") is None
    assert warren_listener.attach(spark, "http://warren", group="{nmae}") is None
    assert warren_listener.attach(spark, "https://warren", cafile="/absent.pem") is None
    assert warren_listener.attach(spark, "http://warren", every_s=0) is None

    said = [each.getMessage() for each in caplog.records]
    assert len(said) == 4
    assert all(each.startswith("not attached, so Warren does not see") for each in said)
