"""Two Warrens on one cluster: the same answers, one history, and who is left goes on with it."""

import os
import signal
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import Site, source, storage
from support.serve_process import HTTP, Served, served
from support.waiting import eventually

from warren.demo.broker import Broker

TOPIC, GROUP = "watched-twice", "watched-twice"
WAIT_S = 240.0


def test_both_answer_alike_and_the_second_keeps_history_when_the_first_dies(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 9, 9)
    for offset in (1, 2):
        kafka.commit(GROUP, TOPIC, {0: offset, 1: offset})
    history = tmp_path / "history"
    kept = f'[history]\ndirectory = "{history}"\nhistory-interval = 1\n'
    config = kept + HTTP.format(port=0) + source("local", broker.bootstrap) + storage(4)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()

    with served(tmp_path / "first", config) as first:
        eventually(lambda: moments(first.site), expected=True, seconds=WAIT_S)
        with served(tmp_path / "second", config) as second:
            eventually(second.site.is_ready, expected=True, seconds=WAIT_S)
            kafka.commit(GROUP, TOPIC, {0: 3})
            eventually(lambda: second.site.committed("local", GROUP), {TOPIC: [3, 2]})
            eventually(lambda: known(first.site) == known(second.site), expected=True)
            assert keeping(first.site)["lock"]["leads"]
            assert not keeping(second.site)["lock"]["leads"]
            assert keeping(second.site)["keeper"]["state"] == "standby"
            # From memory, also where another writes it.
            eventually(lambda: remembered(first.site) > 1, expected=True, seconds=WAIT_S)
            eventually(lambda: remembered(second.site) > 1, expected=True, seconds=WAIT_S)

            end(first)
            died_ms = newest(spark, history)
            before = remembered(second.site)
            eventually(lambda: keeping(second.site)["lock"]["leads"], expected=True)
            eventually(lambda: newest(spark, history) > died_ms, expected=True, seconds=WAIT_S)
            eventually(lambda: remembered(second.site) > before, expected=True, seconds=WAIT_S)

    rows = (
        spark.read.format("delta").load(str(history)).where(f"kind = 'group' AND group = '{GROUP}'")
    )
    by_second = rows.groupBy((rows["moment_ms"] / 1000).cast("long")).count()
    assert by_second.where("count > 1").collect() == []


def end(warren: Served) -> None:
    os.killpg(warren.process.pid, signal.SIGKILL)
    warren.process.wait()


def keeping(site: Site) -> Any:
    return site.health()["history"]


def moments(site: Site) -> bool:
    """Whether it keeps history."""
    return bool(site.health().get("history", {}).get("keeper", {}).get("last_moment_ms"))


def remembered(site: Site) -> int:
    """Moments of the group that it has in memory."""
    if keeping(site)["recent"]["since_ms"] is None:
        return 0
    answer = site.json(f"/v4/history?cluster=local&group={GROUP}&since=1h")
    return int(answer.get("moments", 0))


def known(site: Site) -> dict[str, Any]:
    """Answers, and the positions of the log they are valid for."""
    return {
        "positions": site.health()["consumers"]["local"]["positions"],
        "windows": [
            [(commit["offset"], commit["timestamp"]) for commit in part["offsets"] if commit]
            for part in site.json(f"/v3/kafka/local/consumer/{GROUP}")["topics"][TOPIC]
        ],
        "verdict": site.group("local", GROUP)["status"],
    }


def newest(spark: SparkSession, history: Path) -> int:
    (row,) = spark.read.format("delta").load(str(history)).agg({"moment_ms": "max"}).collect()
    return int(row[0])
