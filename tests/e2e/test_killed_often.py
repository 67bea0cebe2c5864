"""`kill -9` at whatever moment, again and again, while groups go on committing."""

import itertools
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import Site, source, storage, watching
from support.serve_process import HTTP, served
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.process.beside import beside

GROUPS = [f"killed-{number}" for number in range(4)]
TOPIC = "killed-often"
KILLS = 3
LATEST_S = 4.0  # snapshots are made every second
WAIT_S = 120.0


def test_it_ends_where_one_that_was_never_killed_does(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 1000, 1000)
    state = f'[general]\nstate-dir = "{tmp_path / "state"}"\nsnapshot-interval = 1\n'
    config = source("local", broker.bootstrap) + storage(4)
    chance = random.Random(seed := random.randrange(1 << 32))  # noqa: S311  # no secret
    print("seed", seed)  # noqa: T201  # shown when the test fails

    with watching(spark, folder(tmp_path, "steady"), config) as steady:
        eventually(steady.is_ready, expected=True, seconds=WAIT_S)
        with committing(kafka):
            for number in range(KILLS):
                with served(
                    folder(tmp_path, f"{number}"), HTTP.format(port=0) + state + config
                ) as it:
                    if number != 1:  # the second life ends while it begins
                        eventually(it.site.is_ready, expected=True, seconds=WAIT_S)
                    wait(chance.uniform(1, LATEST_S))
                    it.process.send_signal(signal.SIGKILL)
                    it.process.wait()
        with served(folder(tmp_path, "last"), HTTP.format(port=0) + state + config) as last:
            site = last.site
            eventually(site.is_ready, expected=True, seconds=WAIT_S)
            eventually(lambda: known(site) == known(steady), expected=True)
            assert known(site)[GROUPS[0]]
            assert any(line["msg"] == "restored from a snapshot" for line in last.lines())


def known(site: Site) -> dict[str, Any]:
    """What does not depend on when it was read: positions, and the commits of every window."""
    found: dict[str, Any] = {"positions": site.health()["consumers"]["local"]["positions"]}
    for group in GROUPS:
        topics = site.json(f"/v3/kafka/local/consumer/{group}").get("topics", {})
        found[group] = [
            [(commit["offset"], commit["timestamp"]) for commit in part["offsets"] if commit]
            for part in topics.get(TOPIC, [])
        ]
    return found


@contextmanager
def committing(kafka: Kafka) -> Iterator[None]:
    """Groups that commit all the time, until this ends."""

    def commit(stop: threading.Event) -> None:
        for offset in itertools.count(1):
            for group in GROUPS:
                if stop.wait(0.05):
                    return
                kafka.commit(group, TOPIC, {0: offset, 1: offset})

    with beside("commits", commit):
        yield


def wait(seconds: float) -> None:
    """The moment is the point here: there is no condition to wait for."""
    threading.Event().wait(seconds)


def folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir()
    return made
