"""What the records of real members say of their group: subscriptions, rebalances, who was last."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection

import pytest
from confluent_kafka import Consumer
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.model.group_life import Kind, Subscribed

CLUSTER = "local"


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    state = tmp_path_factory.mktemp("state")
    config = source(CLUSTER, broker.bootstrap) + storage(intervals=4)
    config += f'[general]\nstate-dir = "{state}"\n'
    with watching(spark, tmp_path_factory.mktemp("life"), config) as watched:
        yield watched


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


@dataclass
class Told:
    """What the newest board says of one group."""

    kind: Kind
    members: int
    static: int
    is_empty: bool
    subscribed: dict[str, Subscribed]
    last_clients: dict[str, str]


def told(watched: Watching, group: str) -> Told | None:
    cluster = watched.monitor.board.clusters.get(CLUSTER)
    line = cluster.verdicts.line(group) if cluster else None
    if cluster is None or cluster.life is None or line is None:
        return None
    verdicts, life = cluster.verdicts, cluster.life
    lines = range(int(verdicts.groups.first[line]), int(verdicts.groups.first[line + 1]))
    topic = {at: verdicts.topics[int(verdicts.partitions.topic[at])] for at in lines}
    return Told(
        Kind(life.kind[line]),
        int(life.member_count[line]),
        int(life.static_count[line]),
        bool(life.empty_since_s[line] > 0),
        {topic[at]: Subscribed(life.is_subscribed[at]) for at in lines},
        {topic[at]: verdicts.owners[int(life.last_client[at])] for at in lines},
    )


def member(
    stack: ExitStack, kafka: Kafka, group: str, protocol: str, *topics: str, **more: str
) -> Consumer:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "enable.auto.commit": False,
            "log_level": 0,
            **settings,
        }
    )
    stack.enter_context(closing(consumer))
    consumer.subscribe([*topics])
    wait_assigned(consumer)
    return consumer


@pytest.mark.parametrize("protocol", [CLASSIC, KIP_848])
def test_a_group_that_moves_to_another_topic_no_longer_subscribes_to_the_old(
    watched: Watching, kafka: Kafka, protocol: str
) -> None:
    group, old, new = f"moves-{protocol}", f"old-{protocol}", f"new-{protocol}"
    kind = Kind.CLASSIC if protocol == CLASSIC else Kind.CONSUMER
    for topic in (old, new):
        kafka.make_topic(topic, 3)
    with ExitStack() as stack:
        consumer = member(stack, kafka, group, protocol, old, new, client_id="one")
        commit(consumer, old, {0: 1})
        commit(consumer, new, {0: 1})
        both = {old: Subscribed.YES, new: Subscribed.YES}
        ones = {old: "one", new: "one"}
        eventually(
            lambda: told(watched, group),
            Told(kind, 1, 0, is_empty=False, subscribed=both, last_clients=ones),
        )

    unknown = {old: Subscribed.UNKNOWN, new: Subscribed.UNKNOWN}
    eventually(
        lambda: told(watched, group),
        Told(kind, 0, 0, is_empty=True, subscribed=unknown, last_clients=ones),
    )

    with ExitStack() as stack:
        member(stack, kafka, group, protocol, new, client_id="two", group_instance_id="static-1")
        left = {old: Subscribed.NO, new: Subscribed.YES}
        twos = {old: "one", new: "two"}
        eventually(
            lambda: told(watched, group),
            Told(kind, 1, 1, is_empty=False, subscribed=left, last_clients=twos),
        )
        cluster = watched.monitor.board.clusters[CLUSTER]
        assert cluster.life is not None
        line = cluster.verdicts.line(group)
        assert cluster.life.generations_per_minute[line] > 0
        assert cluster.life.rebalanced_s[line] > 1_700_000_000


def test_a_regular_expression_subscribes_to_what_it_matches(
    watched: Watching, kafka: Kafka
) -> None:
    topics = ("regex-a", "regex-b", "else")
    for topic in topics:
        kafka.make_topic(topic, 3)
    with ExitStack() as stack:
        consumer = member(stack, kafka, "by-regex", KIP_848, "^regex-.*")
        for topic in topics:
            commit(consumer, topic, {0: 1})

        expected = dict(zip(topics, (Subscribed.YES, Subscribed.YES, Subscribed.NO), strict=True))
        eventually(lambda: (found := told(watched, "by-regex")) and found.subscribed, expected)


def test_a_group_that_only_commits_has_no_records(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("assigned", 3)
    kafka.commit("assigns", "assigned", {0: 1})

    unknown, nobody = {"assigned": Subscribed.UNKNOWN}, {"assigned": ""}
    expected = Told(Kind.NO_RECORDS, 0, 0, is_empty=False, subscribed=unknown, last_clients=nobody)
    eventually(lambda: told(watched, "assigns"), expected)


def test_silences_are_added_listed_and_ended_over_http(watched: Watching) -> None:
    with closing(HTTPConnection("127.0.0.1", watched.port, timeout=60)) as connection:
        body = json.dumps({"groups": ["billing"], "duration": "1h", "author": "ann"})
        connection.request("POST", "/v4/silences", body, {"content-type": "application/json"})
        response = connection.getresponse()
        made = json.loads(response.read())

    listed = watched.json("/v4/silences")["silences"]
    refused = watched.ask("/v4/silences/unknown", "DELETE")[0]
    ended = watched.ask(f"/v4/silences/{made['silence']['id']}", "DELETE")[0]

    assert (response.status, made["kept_over_restarts"]) == (200, True)
    assert [each["author"] for each in listed] == ["ann"]
    assert (refused, ended) == (404, 200)
    assert watched.json("/v4/silences")["silences"] == []
    assert [line["author"] for line in watched.logged("silence added")] == ["ann"]
