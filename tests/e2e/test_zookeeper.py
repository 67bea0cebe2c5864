"""Offsets kept in ZooKeeper, from the nodes to the answers, beside those in Kafka."""

import json
from pathlib import Path

from conftest import MakeTopics
from pyspark.sql import SparkSession
from support.monitor import Site, source, watching
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.demo.broker import Broker

CONSUMERS = """
[consumer.old]
class-name = "kafka_zk"
cluster = "zk"
servers = ["{server}"]
zookeeper-path = "/kafka"
zookeeper-timeout = 2
group-denylist = "^console-"
[consumer.spouts]
class-name = "storm"
cluster = "zk"
servers = ["{server}"]
zookeeper-path = "/storm"
"""
SPOUT = {"offset": 0, "partition": 1, "topic": "zk-orders", "broker": {"host": "h", "port": 1}}


def test_groups_in_zookeeper_are_judged_like_any_other(
    spark: SparkSession, broker: Broker, make_topics: MakeTopics, tmp_path: Path
) -> None:
    make_topics("zk-orders", partitions=2)
    offsets, owner = "/kafka/consumers/billing/offsets/zk-orders", "/kafka/consumers/billing/owners"
    with Zookeeper() as server, server.client() as client:
        client.create(f"{offsets}/0", b"0", makepath=True)
        client.create(f"{offsets}/1", b"junk")
        client.create("/kafka/consumers/console-1/offsets/zk-orders/0", b"0", makepath=True)
        client.create(f"{owner}/zk-orders/0", b"host-1", makepath=True, ephemeral=True)
        client.create("/storm/spout/partition_1", json.dumps(SPOUT).encode(), makepath=True)
        reaper = ("groups-reaper-refresh = 1",)
        config = source("zk", broker.bootstrap, on_cluster=reaper)

        with watching(spark, tmp_path, config + CONSUMERS.format(server=server.address)) as site:
            eventually(lambda: site.committed("zk", "billing"), {"zk-orders": [0, None]})
            eventually(lambda: site.committed("zk", "spout"), {"zk-orders": [None, 0]})
            # The other worker may show the board before this one for a moment.
            eventually(lambda: status_and_owners(site), ("OK", ["host-1", ""]))
            eventually(site.is_ready, expected=True)
            assert "console-1" not in site.groups("zk")

            client.set(f"{offsets}/1", b"0")
            eventually(lambda: site.committed("zk", "billing"), {"zk-orders": [0, 0]})
            health = site.health()["consumers"]["old"]
            assert health["state"] == "caught up"
            assert [*health["skipped"]] == ["offset"]  # once, or again after a lost connection
            assert site.metric('warren_records_read_total{consumer="spouts"}') == 1

            server.stop()
            eventually(lambda: site.health()["consumers"]["old"]["state"], "failed")
            assert {"billing", "spout"} <= {*site.groups("zk")}
            server.start()
            eventually(lambda: site.health()["consumers"]["old"]["state"], "caught up")

            client.retry(client.delete, "/kafka/consumers/billing", recursive=True)
            eventually(lambda: "billing" in site.groups("zk"), expected=False)
            # The brokers know neither group, and are asked every second.
            assert "spout" in site.groups("zk")
            assert not any(line["group"] == "spout" for line in site.logged(REAPED))


def status_and_owners(site: Site) -> tuple[str, list[str]]:
    billing = site.group("zk", "billing")
    return billing["status"], [each["owner"] for each in billing["partitions"]]


REAPED = "removed a group the brokers no longer know"
