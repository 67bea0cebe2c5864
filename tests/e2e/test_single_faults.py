"""One broker that is well, and a Warren around which something is not."""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

DISK_MB = 8
MOUNT, UMOUNT = (shutil.which(name) or name for name in ("mount", "umount"))
HOUR_S = 3600.0


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small disk of our own, which only root can make."""
    place = tmp_path_factory.mktemp("disk")
    made = subprocess.run(
        [MOUNT, "-t", "tmpfs", "-o", f"size={DISK_MB}m", "warren-test", place],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.fail(f"no disk can be made to be filled: {made.stderr.strip()}")
    yield place
    subprocess.run([UMOUNT, "--lazy", place], check=True)


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = source("local", kafka.bootstrap) + storage(intervals=4)
    with watching(spark, tmp_path_factory.mktemp("single"), config) as watched:
        eventually(lambda: status(watched), "STOP")
        yield watched


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("single", 9)
    for offset in (1, 2):  # with seven to go it has stopped as soon as it is silent
        kafka.commit("stopped-single", "single", {0: offset})
    return kafka


def test_a_query_that_dies_is_told_of_and_started_again(
    watched: Watching, kafka: Kafka, spark: SparkSession
) -> None:
    kafka.commit("outlives-query", "single", {0: 1})
    eventually(lambda: watched.committed("local", "outlives-query"), {"single": [1]})
    eventually(watched.is_ready, expected=True)
    before = consumer(watched)["restarts"]

    break_query(spark)
    kafka.commit("outlives-query", "single", {0: 2})

    eventually(
        lambda: "consumer local: the stream from Spark ended" in ready(watched), expected=True
    )
    assert status(watched) == "STOP"
    eventually(lambda: watched.committed("local", "outlives-query"), {"single": [2]})
    eventually(lambda: ready(watched), "READY")
    assert status(watched) == "STOP"
    assert watched.group("local", "outlives-query")["partitions"][0]["start"]["offset"] == 1
    assert watched.metric('warren_restarts_total{consumer="local"}') == before + 1
    (told,) = (
        line
        for line in watched.logged("failed; retrying until it works")
        if line["thread"] == "consumer local"
    )
    assert told["problem"].startswith("the stream from Spark ended")


def test_a_clock_set_back_stalls_nothing_and_ends_no_silence(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.commit("before-the-step", "single", {0: 1})
    eventually(lambda: watched.committed("local", "before-the-step"), {"single": [1]})

    set_clock(watched, -HOUR_S)
    eventually(
        lambda: watched.health()["moment_ms"] < (time.time() - HOUR_S / 2) * 1000, expected=True
    )
    assert status(watched) == "STOP"
    kafka.make_topic("after-the-step", 5)
    kafka.commit("before-the-step", "after-the-step", {0: 2})

    try:
        expected = {"single": [1], "after-the-step": [2]}
        eventually(lambda: watched.committed("local", "before-the-step"), expected)
        eventually(lambda: watched.ends("local", "after-the-step"), [5])
        kafka.produce("after-the-step", 2)
        eventually(lambda: watched.ends("local", "after-the-step"), [7])
        kafka.delete_topic("after-the-step")
        eventually(lambda: watched.ends("local", "after-the-step"), [])
        assert watched.health()["clusters"]["local"]["data_age_s"] >= 0
        assert consumer(watched)["state"] == "caught up"
        assert ready(watched) == "READY"
        assert status(watched) == "STOP"
    finally:
        set_clock(watched, 0)


def test_a_full_disk_costs_what_would_be_kept_and_nothing_else(
    spark: SparkSession, kafka: Kafka, disk: Path, tmp_path: Path
) -> None:
    state = f'[general]\nstate-dir = "{disk / "state"}"\nsnapshot-interval = 1\n'
    history = "[history]\nhistory-interval = 1\n"
    config = state + history + source("local", kafka.bootstrap) + storage(intervals=4)
    snapshot, ballast = disk / "state" / "snapshots" / "local.npz", disk / "ballast"
    with watching(spark, tmp_path, config) as watched:
        eventually(lambda: kept(watched) > 0, expected=True)
        eventually(snapshot.exists, expected=True)
        eventually(lambda: status(watched), "STOP")
        whole = snapshot.read_bytes()

        with contextlib.suppress(OSError):
            ballast.write_bytes(bytes(DISK_MB << 20))
        eventually(lambda: problems(watched), ["history keeper", "snapshots state"])
        kafka.commit("on-a-full-disk", "single", {0: 4})
        eventually(lambda: watched.committed("local", "on-a-full-disk"), {"single": [4]})
        assert status(watched) == "STOP"
        full = snapshot.read_bytes()

        ballast.unlink()
        was_kept = kept(watched)
        eventually(lambda: problems(watched), [])
        eventually(lambda: kept(watched) > was_kept, expected=True)
        eventually(lambda: snapshot.read_bytes() not in (whole, full), expected=True)
        assert full.startswith(b"PK")
        assert watched.logged("unexpected failure") == []


def break_query(spark: SparkSession) -> None:
    """Take the disk from under the one query there is."""
    # PySpark tells neither of a query's place nor of queries that have a session of their own.
    shared = spark._jsparkSession.sharedState()  # noqa: SLF001
    (query,) = eventually(lambda: [*shared.activeStreamingQueries().values()])
    place = query.resolvedCheckpointRoot()
    root = Path(str(place).removeprefix("file:"))
    aside = root.with_suffix(".gone")
    root.rename(aside)
    root.touch()  # a file in its place, or Spark would make it anew
    shutil.rmtree(aside)


def set_clock(watched: Watching, ahead_s: float) -> None:
    def clock() -> float:
        return time.time() + ahead_s

    watched.monitor.clock = clock
    for cluster in watched.monitor.clusters.values():
        cluster.clock = clock


def status(watched: Watching) -> str | None:
    """What is said of the partition whose group has stopped."""
    parts = watched.group("local", "stopped-single")["partitions"]
    return parts[0]["status"] if parts else None


def consumer(watched: Watching) -> Any:
    return watched.health()["consumers"]["local"]


def ready(watched: Watching) -> str:
    return watched.ask("/burrow/admin/ready")[1].decode()


def kept(watched: Watching) -> int:
    health = watched.health()
    found: int = health.get("history", {}).get("keeper", {}).get("outcomes", {}).get("kept", 0)
    return found


def problems(watched: Watching) -> list[str]:
    """The companions that fail."""
    health = watched.health()
    return sorted(
        f"{kind} {name}"
        for kind in ("history", "snapshots")
        for name, state in health[kind].items()
        if state["problem"]
    )
