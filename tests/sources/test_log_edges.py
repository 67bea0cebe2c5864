"""Log starts and stable ends: what a real broker answers, and whom we ask when."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from support.kafka_clients import Kafka
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.sources import log_ends
from warren.sources.log_edges import LATELY, TURNS, Asked, Due, EdgeTurns, fetch_edges
from warren.sources.log_ends import EARLIEST, LATEST, TopicListing

EVERY_REQUEST = "ListOffsets"


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


@contextmanager
def open_transaction(kafka: Kafka, topic: str, name: str) -> Iterator[Producer]:
    """One that holds a record of partition 0."""
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "transactional.id": name, "log_level": 0}
    )
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"a record", partition=0)
    assert producer.flush(60) == 0
    yield producer
    producer.abort_transaction(60)


def offsets(table: pa.Table) -> dict[int, int]:
    return log_ends.by_number(table)


def test_one_request_tells_starts_and_stable_ends(kafka: Kafka) -> None:
    kafka.make_topic("edges", 4, 5, 6)
    deleted = kafka.admin.delete_records([TopicPartition("edges", 1, 3)])
    assert [each.result(30).low_watermark for each in deleted.values()] == [3]
    leaders = log_ends.list_topics(kafka.admin).leaders_of("edges")
    stable: Asked = {("edges", 0): LATEST, ("edges", 1): EARLIEST, ("edges", 2): LATEST}

    with open_transaction(kafka, "edges", "edges"):
        held = fetch_edges(kafka.admin, leaders, stable, 30)
        ends = log_ends.fetch_ends(kafka.admin, leaders)

    assert offsets(held.starts) == {1: 3}
    assert offsets(held.stable) == {0: 4, 2: 6}
    assert offsets(ends.table) == {0: 5, 1: 5, 2: 6}
    assert held.missing == {}
    # The aborted record and its marker may not be read, but are no longer held back.
    eventually(lambda: offsets(fetch_edges(kafka.admin, leaders, stable, 30).stable)[0], 6)


def test_a_partition_that_does_not_exist_costs_no_other_its_edges(kafka: Kafka) -> None:
    kafka.make_topic("edges-of-some", 2)
    leader = log_ends.list_topics(kafka.admin).leaders["edges-of-some", 0]
    asked = {("edges-of-some", 0): EARLIEST, ("no-such-topic", 0): LATEST}

    edges = fetch_edges(kafka.admin, dict.fromkeys(asked, leader), asked, 30)

    assert offsets(edges.starts) == {0: 0}
    assert edges.missing.keys() == {("no-such-topic", 0)}


def test_brokers_that_do_not_answer_leave_edges_missing() -> None:
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})

    edges = fetch_edges(admin, {("orders", 0): 1}, {("orders", 0): LATEST}, 1)

    assert (len(edges.starts), len(edges.stable)) == (0, 0)
    assert edges.missing.keys() == {("orders", 0)}


def test_a_round_asks_each_leader_once_more_at_most(kafka: Kafka) -> None:
    """Counted by the client itself, in requests that it sent."""
    sent: dict[str, int] = {}

    def note(statistics: str) -> None:
        brokers = json.loads(statistics)["brokers"].values()
        sent["now"] = sum(each["req"].get(EVERY_REQUEST, 0) for each in brokers)

    settings = {"statistics.interval.ms": 100, "stats_cb": note, "log_level": 0}
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap} | settings)
    kafka.make_topic("edges-counted", *[1] * 20)
    listing = log_ends.list_topics(admin)
    leaders, turns, rounds = listing.leaders_of("edges-counted"), EdgeTurns(), 3 * TURNS

    for _ in range(rounds):
        ends = log_ends.fetch_ends(admin, leaders)
        asked = turns.choose(["edges-counted"], listing, frozenset())
        edges = fetch_edges(admin, leaders, asked, 30)
        turns.note(asked, edges.missing, [], listing.ids)
        assert len(ends.table) == 20

    def counted() -> int:
        admin.poll(0.1)
        return sent.get("now", 0)

    assert eventually(counted, 2 * rounds) == 2 * rounds


ID, OTHER_ID = UUID(int=1), UUID(int=2)


class Game:
    """Rounds over one topic; nothing is sent."""

    def __init__(self, partitions: int, *others: str) -> None:
        self.turns = EdgeTurns()
        self.listing = TopicListing({"t": partitions} | dict.fromkeys(others, 1), {}, {"t": ID})
        self.topics = ["t", *others]

    def round(
        self,
        *,
        end: int = 9,
        stable: Callable[[int], int] = lambda _: 9,
        silent: frozenset[log_ends.Partition] = frozenset(),
        missing: frozenset[log_ends.Partition] = frozenset(),
        between_s: float = 0,
        due: Due = ((), ()),
    ) -> Asked:
        asked = self.turns.choose(self.topics, self.listing, silent, between_s, due)
        answered = [each for each, edge in asked.items() if edge is LATEST and each not in missing]
        held = {topic for topic, number in answered if stable(number) < end}
        self.turns.note(asked, missing & asked.keys(), held, self.listing.ids)
        return asked


def of(asked: Asked, edge: OffsetSpec) -> set[int]:
    return {number for (_, number), each in asked.items() if each is edge}


def test_new_topics_are_asked_for_everything_in_two_rounds() -> None:
    game = Game(8)

    first, second = game.round(), game.round()

    assert (of(first, EARLIEST), of(first, LATEST)) == ({*range(8)}, set())
    assert (of(second, EARLIEST), of(second, LATEST)) == (set(), {*range(8)})


def test_without_transactions_a_third_of_the_partitions_is_asked_in_each_round() -> None:
    game = Game(60, "small", "smaller")
    game.round()
    game.round()

    rounds = [game.round() for _ in range(TURNS)]

    assert {len(asked) for asked in rounds} <= {20, 21, 22}
    for edge in (EARLIEST, LATEST):
        seen = [each for asked in rounds for each, which in asked.items() if which is edge]
        assert len(seen) == len({*seen}) == 62


def test_what_is_due_is_asked_in_each_round_but_those_of_its_other_turn() -> None:
    game = Game(60)
    game.round()
    game.round()
    far, near = ("t", 3), ("t", 4)

    rounds = [game.round(due=([far], [near])) for _ in range(TURNS)]

    assert {len(asked) for asked in rounds} <= {20, 21, 22}
    assert sorted(asked[far] is EARLIEST for asked in rounds) == [False] + [True] * 5
    assert sorted(asked[near] is LATEST for asked in rounds) == [False] + [True] * 5


def test_where_both_are_due_they_are_asked_in_turns() -> None:
    game, both = Game(60), ("t", 3)
    game.round()
    game.round()

    asked = [game.round(due=([both], [both]))[both] for _ in range(2 * TURNS)]

    assert {asked.count(EARLIEST), asked.count(LATEST)} == {TURNS}


def test_nothing_is_asked_of_topics_that_nobody_reads_nor_of_silent_partitions() -> None:
    game, away = Game(60), ("t", 3)

    asked = game.round(silent=frozenset({away}), due=([away, ("other", 0)], [("other", 1)]))

    assert away not in asked
    assert {topic for topic, _ in asked} == {"t"}


def test_rounds_that_are_far_apart_ask_about_more_partitions() -> None:
    """So that an open transaction is seen before its group counts as stalled."""
    rounds_to_all = {}
    for between_s in (10, 20, 30, 60):
        game, seen, count = Game(60), set[int](), 0
        game.round()
        game.round()
        while len(seen) < 60:
            seen |= of(game.round(between_s=between_s), LATEST)
            count += 1
        rounds_to_all[between_s] = count

    assert rounds_to_all == {10: 6, 20: 3, 30: 2, 60: 2}


def test_where_a_transaction_is_open_stable_ends_are_read_until_long_after_it() -> None:
    game = Game(6)
    game.round()

    game.round(stable=lambda number: 5 if number == 3 else 9)
    held = [game.round() for _ in range(LATELY)]
    later = game.round()

    assert all(len(asked) == 6 and len(of(asked, LATEST)) == 5 for asked in held)
    assert len(later) == 2


def test_who_does_not_answer_is_asked_again_and_who_is_silent_is_not_asked() -> None:
    game = Game(3)
    away, silent = ("t", 1), ("t", 2)

    first = game.round(missing=frozenset({away}))
    second = game.round(silent=frozenset({silent}))
    third = game.round()

    assert first[away] is EARLIEST
    assert second[away] is EARLIEST  # what it owes comes first
    assert silent not in second
    assert third.get(away) is not EARLIEST


def test_a_topic_made_anew_begins_again() -> None:
    game = Game(4)
    for _ in range(5):
        game.round()

    game.listing = game.listing._replace(ids={"t": OTHER_ID})

    assert of(game.round(), EARLIEST) == {0, 1, 2, 3}
