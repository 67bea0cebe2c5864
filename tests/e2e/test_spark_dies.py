"""Spark's Java process dies under a serving Warren."""

import os
import signal
from pathlib import Path

from e2e.kafka import Kafka
from e2e.served import HTTP, Served, served
from e2e.watching import eventually, source

from warren.demo.broker import Broker


def test_it_ends_with_a_line_and_code_1_for_a_new_start_to_go_on_from(
    broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("spark-dies", 9)
    kafka.commit("outlives-spark", "spark-dies", {0: 3})
    state = f'[general]\nstate-dir = "{tmp_path / "state"}"\nsnapshot-interval = 3600\n'
    config = state + HTTP.format(port=0) + source("local", broker.bootstrap)

    with served(tmp_path, config) as warren:
        site = warren.site
        eventually(lambda: site.committed("local", "outlives-spark"), {"spark-dies": [3]})
        os.kill(java_of(warren), signal.SIGKILL)
        code = warren.process.wait(60)
        left = warren.left()

    assert code == 1
    assert "warren: Spark's Java process was ended by signal 9" in warren.err
    assert "Traceback" not in warren.err
    assert left == []
    assert (tmp_path / "state" / "snapshots" / "local.npz").exists()


def java_of(warren: Served) -> int:
    (pid,) = (
        int(entry.name)
        for entry in Path("/proc").glob("[0-9]*")
        if session_of(entry) == warren.process.pid and is_java(entry)
    )
    return pid


def session_of(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:  # it has ended meanwhile
        return 0


def is_java(entry: Path) -> bool:
    try:
        return (entry / "exe").readlink().name == "java"
    except OSError:
        return False
