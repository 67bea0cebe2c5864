"""Warren dies and comes back: it knows what it knew, and goes on from there."""

import signal
from pathlib import Path

from support.kafka_clients import Kafka
from support.monitor import source
from support.serve_process import HTTP, served
from support.waiting import eventually

from warren.demo.broker import Broker


def test_killed_it_answers_as_before_at_once_then_reads_on(broker: Broker, tmp_path: Path) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("restarted", 9, 9)
    kafka.commit("restarted", "restarted", {0: 3, 1: 4})
    kafka.commit("unwanted", "restarted", {0: 1})
    state = f'[general]\nstate-dir = "{tmp_path / "state"}"\nsnapshot-interval = 1\n'
    config = state + HTTP.format(port=0) + source("local", broker.bootstrap)
    snapshot = tmp_path / "state" / "snapshots" / "local.npz"

    (tmp_path / "first").mkdir()
    with served(tmp_path / "first", config) as first:
        site = first.site
        eventually(lambda: site.committed("local", "restarted"), {"restarted": [3, 4]})
        before = site.group("local", "restarted")
        seen = snapshot.stat().st_mtime_ns if snapshot.exists() else 0
        eventually(lambda: snapshot.exists() and snapshot.stat().st_mtime_ns > seen, expected=True)
        read_at_first = site.health()["consumers"]["local"]["records"]
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        kafka.commit("restarted", "restarted", {0: 7})

    (tmp_path / "second").mkdir()
    with served(tmp_path / "second", config) as second:
        site = second.site
        eventually(lambda: "ready" in site.health(), expected=True)
        health = site.health()  # nothing can have been read yet: Spark takes seconds to start
        restored = site.group("local", "restarted")

        assert not health["ready"]
        assert health["clusters"]["local"]["restored"]
        assert health["clusters"]["local"]["data_age_s"] > 0
        assert restored == before
        assert health["consumers"]["local"]["positions"]

        assert site.ask("/v3/kafka/local/consumer/unwanted", "DELETE")[0] == 200
        assert "unwanted" not in site.groups("local")
        assert site.group("local", "restarted") == before

        eventually(lambda: site.committed("local", "restarted"), {"restarted": [7, 4]})
        eventually(site.is_ready, expected=True)
        after = site.health()
        assert not after["clusters"]["local"]["restored"]
        assert after["consumers"]["local"]["records"] < read_at_first
