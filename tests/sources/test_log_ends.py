"""Asked of a real broker: what one bad partition costs, and what topics are known by."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from support.kafka_clients import Kafka
from support.signals import freeze, thaw
from support.waiting import eventually

from warren.config import Storage
from warren.demo.broker import Broker
from warren.pipeline.cluster import new_cluster
from warren.pipeline.steps import refresh_ends, refresh_topics
from warren.sources import log_ends

NOWHERE = 99  # no broker has this id


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


def ends_of(ends: log_ends.Ends) -> dict[tuple[str, int], int]:
    return {(row["topic"], row["partition"]): row["offset"] for row in ends.table.to_pylist()}


def test_partitions_that_do_not_exist_cost_only_themselves(kafka: Kafka) -> None:
    kafka.make_topic("ends", 3, 0, 7)
    leader = log_ends.list_topics(kafka.admin).leaders["ends", 0]
    asked = {("ends", number): leader for number in range(4)}
    asked |= {("no-such-topic", 0): leader, ("no-such-topic", 1): NOWHERE}

    ends = log_ends.fetch_ends(kafka.admin, asked)

    assert ends_of(ends) == {("ends", 0): 3, ("ends", 1): 0, ("ends", 2): 7}
    assert ends.missing.keys() == {("ends", 3), ("no-such-topic", 0), ("no-such-topic", 1)}
    assert all(ends.missing.values())


def test_brokers_that_are_known_to_be_silent_are_not_waited_for(kafka: Kafka) -> None:
    kafka.make_topic("led-by-two", 3, 7)
    cluster = new_cluster("c", Storage(name="default"))
    refresh_topics(cluster, kafka.admin, 1)
    assert cluster.topics is not None
    away = ("led-by-two", 1)
    cluster.topics = cluster.topics._replace(leaders={**cluster.topics.leaders, away: NOWHERE})
    cluster.silent_brokers = [NOWHERE]

    refresh_ends(cluster, kafka.admin, 1, 30)

    assert cluster.missing == {away: log_ends.NO_ANSWER}
    assert cluster.windows.ends.newest("led-by-two") == [3, None]


def test_more_partitions_than_fit_into_a_request_are_all_answered(kafka: Kafka) -> None:
    count = log_ends.REQUEST_SIZE + 1
    kafka.make_topic("wide", *[0] * count)

    def answered() -> int:
        leaders = log_ends.list_topics(kafka.admin).leaders_of("wide")
        return len(log_ends.fetch_ends(kafka.admin, leaders).table)

    eventually(answered, count)  # the broker takes its time to make them
    kafka.delete_topic("wide")


def test_a_deleted_topic_costs_no_other_its_ends(kafka: Kafka) -> None:
    kafka.make_topic("beside-deleted", 4)
    leader = log_ends.list_topics(kafka.admin).leaders["beside-deleted", 0]
    deleted = {("deleted", number): leader for number in range(2 * log_ends.REQUEST_SIZE)}

    ends = log_ends.fetch_ends(kafka.admin, deleted | {("beside-deleted", 0): leader})

    assert ends_of(ends) == {("beside-deleted", 0): 4}
    assert ends.missing.keys() == deleted.keys()


def test_an_open_transaction_ends_what_can_be_read_committed(kafka: Kafka) -> None:
    kafka.make_topic("open", 2)
    leaders = log_ends.list_topics(kafka.admin).leaders_of("open")
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "left-open"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("open", b"a record", partition=0)
    producer.flush(60)

    first = log_ends.fetch_ends(kafka.admin, leaders, which=log_ends.EARLIEST)
    last = log_ends.fetch_ends(kafka.admin, leaders)
    stable = log_ends.fetch_ends(kafka.admin, leaders, isolation=log_ends.COMMITTED)
    producer.abort_transaction(60)

    assert [log_ends.by_number(each.table) for each in (first, last, stable)] == [
        {0: 0},
        {0: 3},
        {0: 2},
    ]


def test_a_topic_made_anew_has_another_id(kafka: Kafka) -> None:
    kafka.make_topic("twice", 1, 1)
    before = log_ends.list_topics(kafka.admin)

    kafka.delete_topic("twice")
    kafka.make_topic("twice", 1)
    after = log_ends.list_topics(kafka.admin)

    assert (before.counts["twice"], after.counts["twice"]) == (2, 1)
    assert before.ids["twice"] != after.ids["twice"]
    assert after.names[after.ids["twice"]] == "twice"


def test_a_topic_is_gone_when_the_brokers_have_said_so_twice(kafka: Kafka) -> None:
    kafka.make_topic("said-twice", 1, 1)
    before = log_ends.list_topics(kafka.admin)
    kafka.delete_topic("said-twice")

    first = log_ends.list_topics(kafka.admin, before)
    second = log_ends.list_topics(kafka.admin, first)

    assert (first.unknown, second.unknown) == ({"said-twice"}, set())
    assert (first.counts["said-twice"], second.counts.get("said-twice")) == (2, None)
    assert first.ids["said-twice"] == before.ids["said-twice"]
    assert "said-twice" not in second.ids
    assert second.counts.keys() == before.counts.keys() - {"said-twice"}


class Case(NamedTuple):
    """A listing that comes after topics t, of two partitions, and o, the offsets topic."""

    partitions: int | None  # of t, as it is to be known then
    listed: Mapping[str, int] = {"o": 1}
    by_name: Mapping[str, int] = {}
    unknown: AbstractSet[str] = frozenset()
    unknown_before: AbstractSet[str] = frozenset()
    needed: AbstractSet[str] = frozenset({"o"})


def test_what_a_listing_lacks_is_kept_unless_it_is_certainly_gone() -> None:
    t, kept, gone = frozenset({"t"}), 2, None
    cases = {
        "it is listed": Case(3, listed={"t": 3, "o": 1}),
        "an answer was cut short": Case(4, by_name={"t": 4}),
        "rights are lost": Case(kept),
        "it does not exist, for the first time": Case(kept, unknown=t),
        "it does not exist, again": Case(gone, unknown=t, unknown_before=t),
        "then rights are lost": Case(kept, unknown_before=t),
        "nothing is listed": Case(kept, unknown=t, unknown_before=t, listed={}),
        "not even the offsets topic": Case(kept, unknown=t, unknown_before=t, listed={"u": 1}),
        "it is the offsets topic": Case(gone, unknown=t, unknown_before=t, needed=t),
    }

    settled = {name: settle(case) for name, case in cases.items()}

    counts = {name: now.counts.get("t") for name, now in settled.items()}
    assert counts == {name: case.partitions for name, case in cases.items()}
    # What is kept goes on being asked for its ends.
    assert {name for name, now in settled.items() if now.leaders} == {
        name for name, case in cases.items() if case.partitions == kept
    }
    assert [name for name, now in settled.items() if not now.is_whole] == [*cases][-3:]


def settle(case: Case) -> log_ends.TopicListing:
    before = log_ends.TopicListing({"t": 2, "o": 1}, {("t", 0): 1}, {}, case.unknown_before)
    listed, found = (log_ends.TopicListing(each, {}, {}) for each in (case.listed, case.by_name))
    named = log_ends.NamedTopics(found, case.unknown, {})
    return log_ends.merge_listings(before, listed, named, case.needed, {1})


def test_brokers_that_do_not_answer_are_an_error_of_the_call() -> None:
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})

    with pytest.raises(KafkaException):
        log_ends.list_topics(admin, timeout_s=1)
    ends = log_ends.fetch_ends(admin, {("orders", 0): 1, ("orders", 1): 1}, timeout_s=1)

    assert len(ends.table) == 0
    assert ends.missing.keys() == {("orders", 0), ("orders", 1)}


def test_a_frozen_broker_has_no_ends_rather_than_wrong_ones(kafka: Kafka, broker: Broker) -> None:
    kafka.make_topic("of-frozen", 3)
    leaders = log_ends.list_topics(kafka.admin).leaders_of("of-frozen")
    impatient = {"socket.timeout.ms": 1000, "log_level": 0}
    admin = AdminClient({"bootstrap.servers": broker.bootstrap} | impatient)
    before = log_ends.fetch_ends(admin, leaders)

    freeze(broker.pid)
    try:
        frozen = log_ends.fetch_ends(admin, leaders, timeout_s=3)
    finally:
        thaw(broker.pid)

    assert ends_of(before) == {("of-frozen", 0): 3}
    assert ends_of(frozen) == {}
    assert frozen.missing.keys() == {("of-frozen", 0)}
