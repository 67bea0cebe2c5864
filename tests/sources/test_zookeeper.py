"""What ZooKeeper holds of consumers is read, watched, and read again after a lost connection."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kazoo.client import KazooClient
from kazoo.security import OPEN_ACL_UNSAFE, make_acl
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.clients import zookeeper as clients
from warren.errors import Unreadable
from warren.sources.outside_changes import ChangeCollector, Layout, OutsideKey, Owners
from warren.sources.zookeeper_layouts import ZookeeperLayout
from warren.sources.zookeeper_tree import Leaf, Tree

RETRY_S = 0.5


class Followed:
    """What a layout has told so far, by a thread that follows it."""

    def __init__(self, layout: Layout) -> None:
        self.offsets: dict[OutsideKey, int] = {}
        self.owners: dict[str, Owners] = {}
        self.skipped: Counter[str] = Counter()
        self.tree = Tree(layout.base, layout.kind, RETRY_S)
        self.reports = ChangeCollector(layout)

    def run(self, client: KazooClient, stop: threading.Event) -> None:
        self.tree.begin(client)
        client.start_async()
        while not stop.is_set():
            reported = self.reports.take(self.tree.refresh(0.05))
            for commit in reported.commits:
                if commit.offset is None:
                    self.offsets.pop(commit.key)
                else:
                    self.offsets[commit.key] = commit.offset
            self.owners |= {group: dict(owners) for group, owners in reported.owners.items()}
            self.skipped += reported.skipped


@contextmanager
def topic_consumer(server: Zookeeper, layout: Layout) -> Iterator[Followed]:
    followed, stop = Followed(layout), threading.Event()
    client = clients.client([server.address], 2)
    thread = threading.Thread(target=followed.run, args=(client, stop))
    thread.start()
    try:
        yield followed
    finally:
        stop.set()
        thread.join()
        clients.close(client)


@pytest.fixture(scope="module")
def server() -> Iterator[Zookeeper]:
    with Zookeeper() as running:
        yield running


def put(client: KazooClient, path: str, data: bytes) -> None:
    """In one step: who watches must not find it empty first."""
    if client.exists(path):
        client.set(path, data)
    else:
        client.create(path, data, makepath=True)


def everything(_: str) -> bool:
    return True


def test_commits_owners_and_their_ends_are_noticed(server: Zookeeper) -> None:
    layout = ZookeeperLayout("/kafka", lambda group: not group.startswith("console-"))
    offsets, owners = "/kafka/consumers/billing/offsets", "/kafka/consumers/billing/owners"
    with server.client() as client, topic_consumer(server, layout) as followed:
        eventually(lambda: followed.tree.is_there, expected=False)
        put(client, f"{offsets}/orders/0", b"100")
        put(client, f"{offsets}/orders/7", b"700")  # 1 to 6 there are none
        put(client, "/kafka/consumers/console-1/offsets/orders/0", b"1")
        put(client, f"{offsets}/bills/2", b"20")
        first, third = OutsideKey("billing", "orders", 0), OutsideKey("billing", "bills", 2)
        eventually(
            lambda: followed.offsets,
            {first: 100, OutsideKey("billing", "orders", 7): 700, third: 20},
        )

        put(client, f"{offsets}/orders/0", b"101")
        client.delete(f"{offsets}/orders/7")
        eventually(lambda: followed.offsets, {first: 101, third: 20})

        client.create(f"{owners}/orders/0", b"host-1", ephemeral=True, makepath=True)
        eventually(lambda: followed.owners, {"billing": {("orders", 0): ("host-1", "")}})
        client.set(f"{owners}/orders/0", b"host-2")
        eventually(lambda: followed.owners, {"billing": {("orders", 0): ("host-2", "")}})
        client.delete(f"{owners}/orders/0")
        eventually(lambda: followed.owners, {"billing": {}})

        client.delete(f"{offsets}/bills", recursive=True)
        eventually(lambda: followed.offsets, {first: 101})
        assert followed.reports.groups == {"billing"}
        client.delete("/kafka/consumers/billing", recursive=True)
        eventually(lambda: followed.offsets, {})
        assert followed.reports.groups == set()
        put(client, f"{offsets}/orders/0", b"102")
        eventually(lambda: followed.offsets, {first: 102})


def test_what_cannot_be_read_is_counted_and_tried_again(server: Zookeeper) -> None:
    offsets = "/odd/consumers/g/offsets/t"
    key = OutsideKey("g", "t", 0)
    with (
        server.client() as client,
        topic_consumer(server, ZookeeperLayout("/odd", everything)) as f,
    ):
        put(client, f"{offsets}/0", b"no number")
        eventually(lambda: f.skipped["offset"], 1)
        put(client, f"{offsets}/00", b"5")
        eventually(lambda: f.skipped["partition"], 1)
        put(client, f"{offsets}/0", b"5")
        eventually(lambda: f.offsets, {key: 5})

        unreadable = [make_acl("world", "anyone", admin=True)]
        client.create(f"{offsets}/1", b"6", acl=unreadable)
        eventually(lambda: f.skipped["unreadable node"] > 0, expected=True)
        client.set_acls(f"{offsets}/1", OPEN_ACL_UNSAFE)
        eventually(lambda: f.offsets, {key: 5, OutsideKey("g", "t", 1): 6})


def test_what_changed_while_the_connection_was_lost_is_noticed(server: Zookeeper) -> None:
    offsets = "/away/consumers/g/offsets/t"
    with topic_consumer(server, ZookeeperLayout("/away", everything)) as followed:
        with server.client() as client:
            put(client, f"{offsets}/0", b"1")
            put(client, f"{offsets}/1", b"1")
            eventually(lambda: len(followed.offsets), 2)
        server.stop()
        server.start()
        with server.client() as client:
            put(client, f"{offsets}/0", b"2")
            client.delete(f"{offsets}/1")
            eventually(lambda: followed.offsets, {OutsideKey("g", "t", 0): 2})


def test_many_partitions_are_read_in_one_go(server: Zookeeper) -> None:
    with server.client() as client:
        client.ensure_path("/many/consumers/g/offsets/t")
        made = [client.create_async(f"/many/consumers/g/offsets/t/{n}", b"9") for n in range(5000)]
        for each in made:
            each.get()

        with topic_consumer(server, ZookeeperLayout("/many", everything)) as followed:
            eventually(lambda: len(followed.offsets), 5000)


def test_only_plain_numbers_are_numbers() -> None:
    layout = ZookeeperLayout("", everything)
    cases = {
        "plain": ("3", b"42", None),
        "with a newline": ("3", b"42\n", None),
        "greatest": ("2147483647", b"9223372036854775807", None),
        "empty": ("3", b"", "offset"),
        "negative": ("3", b"-1", "offset"),
        "too great": ("3", b"9223372036854775808", "offset"),
        "a megabyte of digits": ("3", b"9" * 1_000_000, "offset"),
        "underscores": ("3", b"4_2", "offset"),
        "other digits": ("3", "٤٢".encode(), "offset"),
        "not text": ("3", b"\xff\x00", "offset"),
        "partition with a sign": ("+3", b"42", "partition"),
        "partition too great": ("2147483648", b"42", "partition"),
        "partition of no number": ("three", b"42", "partition"),
    }

    def complaint(name: str, data: bytes) -> str | None:
        try:
            layout.read(("g", "offsets", "t", name), Leaf(data, 0, 1))
        except Unreadable as error:
            return error.field
        return None

    wrong = [case for case, (name, data, field) in cases.items() if complaint(name, data) != field]

    assert wrong == []
