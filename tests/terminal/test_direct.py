"""A cluster is read without a Warren that watches it, by one command that leaves nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from support.kafka_clients import Kafka
from support.waiting import eventually

from warren.demo.broker import Broker


def test_a_cluster_is_read_by_the_command_itself(broker: Broker, tmp_path: Path) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("read-directly", 50, 50)
    kafka.commit("direct", "read-directly", {0: 50, 1: 20})

    wanted = ["--match", "direct", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "warren", "status", "--bootstrap", broker.bootstrap, *wanted],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    (group,) = json.loads(done.stdout)["groups"]
    assert (group["cluster"], group["group"], group["total_lag"]) == ("kafka", "direct", 30)
    assert group["max_lag"] == {"topic": "read-directly", "partition": 1, "lag": 30}
    assert group["status"] == "ERR"  # one commit, and nothing since
    assert (done.returncode, done.stderr) == (4, "")
    assert [*tmp_path.iterdir()] == []


def test_a_command_that_is_ended_leaves_nothing_either(broker: Broker, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "warren", "status", "--bootstrap", broker.bootstrap]
    environ = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        eventually(lambda: [*tmp_path.glob("warren-*/warren.log")])
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "Traceback" not in said
    assert [*tmp_path.iterdir()] == []
