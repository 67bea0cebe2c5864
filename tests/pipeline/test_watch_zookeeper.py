"""Following ZooKeeper into windows: over an outage, and over a restart."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.config import Consumer
from warren.pipeline import health_report
from warren.pipeline.cluster import Accepts, ClusterState
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.watch_zookeeper import ZookeeperWatcher
from warren.windows.precedence import held_outside
from warren.windows.windows import Windows


@pytest.fixture(scope="module")
def server() -> Iterator[Zookeeper]:
    with Zookeeper() as running:
        yield running


def outside_consumer(server: Zookeeper, path: str, cluster: ClusterState) -> OutsideConsumer:
    settings = Consumer(
        name="old",
        class_name="kafka_zk",
        cluster="c",
        servers=(server.address,),
        zookeeper_path=path,
        zookeeper_timeout=2,
    )
    cluster.outside_groups["old"] = None
    return OutsideConsumer(settings, cluster, Accepts())


def new_cluster() -> ClusterState:
    windows = Windows()
    topics = {"orders": 4, "bills": 1}
    ends = [(topic, n, 100) for topic, count in topics.items() for n in range(count)]
    columns = dict(zip(("topic", "partition", "offset"), zip(*ends, strict=True), strict=True))
    windows.set_log_ends(pa.table({name: [*each] for name, each in columns.items()}), topics)
    return ClusterState("c", windows)


@contextmanager
def topic_consumer(followed: OutsideConsumer) -> Iterator[list[str]]:
    """Run it; the states that its health went through."""
    states: list[str] = []

    def note() -> None:
        state = (
            health_report.describe({}, {}, {"old": followed}, {}, 0, ready=True)
            .consumers["old"]
            .state
        )
        if states[-1:] != [state]:
            states.append(state)

    stop, follower = threading.Event(), ZookeeperWatcher(followed, note)
    thread = threading.Thread(target=follower.run, args=(stop,))
    thread.start()
    try:
        yield states
    finally:
        stop.set()
        thread.join()


def put(client: KazooClient, path: str, data: bytes) -> None:
    client.retry(client.ensure_path, path)
    client.retry(client.set, path, data)


def held(cluster: ClusterState) -> dict[str, dict[tuple[str, int], int]]:
    with cluster.lock:
        return held_outside(cluster.windows)[0]


def test_after_an_outage_it_is_caught_up_only_when_all_is_read_again(server: Zookeeper) -> None:
    cluster = new_cluster()
    followed = outside_consumer(server, "/outage", cluster)
    node = "/outage/consumers/g/offsets/orders/0"
    with server.client() as client, topic_consumer(followed) as states:
        put(client, node, b"1")
        eventually(lambda: held(cluster) == {"g": {("orders", 0): 1}})
        server.stop()
        eventually(lambda: states[-1] == "failed")
        server.start()
        put(client, node, b"2")
        eventually(lambda: held(cluster) == {"g": {("orders", 0): 2}})
        eventually(lambda: states[-1] == "caught up")

    assert states[states.index("failed") - 1] == "catching up"  # at once, before it is a problem


def test_what_went_while_nobody_watched_is_gone_after_a_restart(server: Zookeeper) -> None:
    cluster = new_cluster()
    offsets = "/restart/consumers/g/offsets"
    with server.client() as client:
        for name in ("orders/0", "orders/1", "orders/2", "bills/0"):
            put(client, f"{offsets}/{name}", b"1")
        put(client, "/restart/consumers/odd/offsets/orders/0", b"1")
        put(client, "/restart/consumers/odd/offsets/orders/1", b"1")
        with topic_consumer(outside_consumer(server, "/restart", cluster)):
            eventually(lambda: sum(map(len, held(cluster).values())) == 6)
        client.delete(f"{offsets}/bills", recursive=True)
        client.delete(f"{offsets}/orders/1")
        put(client, "/restart/consumers/odd/offsets/orders/1", b"no number")

        with topic_consumer(outside_consumer(server, "/restart", cluster)):
            eventually(lambda: len(held(cluster)["g"]) == 2)

    assert held(cluster)["g"].keys() == {("orders", 0), ("orders", 2)}
    assert held(cluster)["odd"].keys() == {("orders", 0), ("orders", 1)}  # its last good commit


def test_groups_that_cannot_be_read_any_more_are_not_taken_for_gone(server: Zookeeper) -> None:
    cluster = new_cluster()
    nobody = [make_acl("world", "anyone", admin=True)]
    with server.client() as client:
        for group in ("g", "hidden"):
            put(client, f"/shut/consumers/{group}/offsets/orders/0", b"1")
        with topic_consumer(outside_consumer(server, "/shut", cluster)):
            eventually(lambda: len(held(cluster)) == 2)
        client.set_acls("/shut/consumers/hidden", nobody)
        with topic_consumer(outside_consumer(server, "/shut", cluster)) as states:
            eventually(lambda: states[-1:] == ["caught up"])
        hidden_group = held(cluster).keys()
        client.set_acls("/shut/consumers", nobody)
        followed = outside_consumer(server, "/shut", cluster)
        with topic_consumer(followed):
            eventually(lambda: followed.skips.total["unreadable node"] > 0)

    assert hidden_group == held(cluster).keys() == {"g", "hidden"}
    assert not followed.is_caught_up
