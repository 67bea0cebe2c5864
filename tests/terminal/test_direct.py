"""A cluster is read without a Warren that watches it, by one command that leaves nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

from e2e.kafka import Kafka

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
