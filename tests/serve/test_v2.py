"""Burrow 0.x's shapes, as its companions read them."""

from collections.abc import Iterator

import pytest
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Running, ask, running

ENDS: dict[str, list[int | None]] = {"orders": [100, 200], "bills": [7, None]}
CONSUMER = """
[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["localhost:9092"]
"""
COMMITS = [
    *[("billing", "orders", 0, 10 * n, (NOW_S - 100 + n) * 1000) for n in range(1, 4)],
    *[("full", "orders", p, 90 + n, (NOW_S - 10 + n) * 1000) for p in (0, 1) for n in range(10)],
]
CLUSTER = "/v2/kafka/local"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("v2"), CONFIG + CONSUMER) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        yield started


def test_lists_and_offsets(server: Running) -> None:
    cases = {
        "/v2/kafka": ("cluster list returned", "clusters", ["local"]),
        f"{CLUSTER}/topic": ("broker topic list returned", "topics", ["bills", "orders"]),
        f"{CLUSTER}/topic/bills": ("broker topic offsets returned", "offsets", [7, -1]),
        f"{CLUSTER}/consumer": ("consumer list returned", "consumers", ["billing", "full"]),
        f"{CLUSTER}/consumer/full/topic": ("consumer topic list returned", "topics", ["orders"]),
        f"{CLUSTER}/consumer/billing/topic/orders": (
            "consumer group topic offsets returned",
            "offsets",
            [30, -1],
        ),
    }
    wrong = {}
    for path, (message, key, value) in cases.items():
        got = ask(server.port, path).json
        if (got["error"], got["message"], got[key]) != (False, message, value):
            wrong[path] = got

    assert wrong == {}


def test_a_cluster_is_described_by_its_brokers(server: Running) -> None:
    detail = ask(server.port, CLUSTER).json["cluster"]

    assert (detail["brokers"], detail["broker_port"]) == (["localhost"], 9092)
    assert detail["offsets_topic"] == "__consumer_offsets"


def test_the_status_of_a_group(server: Running) -> None:
    answer = ask(server.port, f"{CLUSTER}/consumer/billing/lag").json

    partition = {
        "topic": "orders",
        "partition": 0,
        "status": "STOP",
        "start": {
            "offset": 10,
            "timestamp": (NOW_S - 99) * 1000,
            "lag": 90,
            "max_offset": 10,
        },
        "end": {"offset": 30, "timestamp": (NOW_S - 97) * 1000, "lag": 70, "max_offset": 30},
    }
    assert answer["message"] == "consumer group status returned"
    assert answer["status"] == {
        "cluster": "local",
        "group": "billing",
        "status": "ERR",
        "complete": False,
        "partitions": [partition],
        "partition_count": 2,
        "maxlag": partition,
        "totallag": 70,
    }
    path = f"{CLUSTER}/consumer/billing/lag"
    assert {**answer["request"], "host": ""} == {
        "url": path,
        "host": "",
        "cluster": "local",
        "group": "billing",
        "topic": "",
    }


def test_complete_is_a_boolean(server: Running) -> None:
    status = ask(server.port, f"{CLUSTER}/consumer/full/status").json["status"]

    assert status["complete"] is True


def test_what_is_not_there_is_an_error(server: Running) -> None:
    cases = {
        "/v2/kafka/nope": "cluster not found",
        "/v2/kafka/nope/topic": "cluster not found",
        "/v2/kafka/nope/consumer": "cluster not found",
        f"{CLUSTER}/topic/nope": "topic not found",
        f"{CLUSTER}/consumer/nope/status": "consumer group not found",
        f"{CLUSTER}/consumer/nope/topic": "consumer group not found",
        f"{CLUSTER}/consumer/full/topic/bills": "topic not found for consumer group",
    }
    wrong = {
        path: got
        for path, message in cases.items()
        if (got := ask(server.port, path)).status != 404
        or (got.json["error"], got.json["message"]) != (True, message)
    }

    assert wrong == {}


def test_nothing_can_be_changed(server: Running) -> None:
    answer = ask(server.port, f"{CLUSTER}/consumer/billing", "DELETE")

    assert answer.status == 404
    assert server.actions.deleted == []
