"""The same program on a Spark cluster, one of whose machines is lost while it reads."""

import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from support import loader
from support.monitor import Site, source, watching
from support.serve_process import HTTP, served
from support.servers.spark_cluster import SparkCluster
from support.waiting import eventually

from warren.demo.broker import Broker

ON_LOOPBACK = (
    '[spark]\nmaster = "{master}"\ndriver-memory = "512m"\n[spark.conf]\n'
    '"spark.driver.host" = "127.0.0.1"\n"spark.executor.memory" = "512m"\n'
)
WAIT_S = 180.0


def test_a_lost_worker_changes_no_verdict(spark: SparkSession, tmp_path: Path) -> None:
    an_hour_ago_ms = int(time.time() - 3600) * 1000
    load = loader.Load(an_hour_ago_ms, groups=20, partitions=1000, rounds=45, lag=5)
    for name in ("local", "cluster", "spark"):
        (tmp_path / name).mkdir()

    with Broker(offsets_partitions=8) as broker:
        loader.write_all(broker.bootstrap, load)
        config = source("busy", broker.bootstrap)
        with watching(spark, tmp_path / "local", config) as local:
            eventually(local.is_ready, expected=True, seconds=WAIT_S)
            expected = told(local, load.group_names)
        with SparkCluster(tmp_path / "spark", workers=2) as cluster:
            on_cluster = ON_LOOPBACK.format(master=cluster.master) + HTTP.format(port=0) + config
            with served(tmp_path / "cluster", on_cluster) as warren:
                site = warren.site
                eventually(lambda: 0 < records(site) < load.commits, expected=True, seconds=WAIT_S)
                cluster.kill_worker()
                eventually(site.is_ready, expected=True, seconds=WAIT_S)
                seen = told(site, load.group_names)

    assert len(seen) == load.groups
    assert seen == expected


def records(site: Site) -> int:
    """Read so far."""
    consumers = site.health().get("consumers", {})
    return int(consumers.get("busy", {}).get("records", 0))


def told(site: Site, groups: list[str]) -> dict[str, Any]:
    """What does not depend on when it was read."""
    found = {group: site.group("busy", group) for group in groups}
    for group in found.values():
        for part in group["partitions"]:
            for edge in (part["start"], part["end"]):
                edge.pop("observedAt")
        for edge in (group["maxlag"]["start"], group["maxlag"]["end"]):
            edge.pop("observedAt")
    return found
