"""What stands in the offsets topic and must not count: broken records, aborted transactions."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from support import records
from support.kafka_clients import Kafka
from support.kafka_clients import Record as Written
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker
from warren.sources.group_offsets import partition_of

OFFSETS_PARTITIONS = 4
# A broker that finds broken records in its own offsets topic refuses to serve the groups there.
OTHER_TOPIC = "other-offsets"
KEY = records.commit_key("broken", "of-broken", 0)
VALUE = records.commit_value(1, 1_700_000_000_000)

BROKEN: list[tuple[str, Written]] = [
    ("no key version", (None, VALUE)),
    ("no key version", (b"", VALUE)),
    ("no key version", (b"\x00", VALUE)),
    ("key version", (records.int16(99) + KEY[2:], VALUE)),
    ("key version", (records.int16(-1) + KEY[2:], VALUE)),
    ("group", (KEY[:5], VALUE)),
    ("group", (records.int16(1) + records.int16(-7) + KEY[4:], VALUE)),
    ("topic", (KEY[:12], VALUE)),
    ("partition", (KEY[:-1], VALUE)),
    ("no value version", (KEY, b"\x00")),
    ("value version", (KEY, records.int16(9) + VALUE[2:])),
    ("offset", (KEY, VALUE[:5])),
    ("leaderEpoch", (KEY, VALUE[:12])),
    ("metadata", (KEY, VALUE[:15])),
    ("timestamp", (KEY, VALUE[:-1])),
    ("value version", (records.group_key("broken"), records.int16(77))),
    ("share group", (records.int16(10), VALUE)),
]


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, kafka: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = (
        source("local", broker.bootstrap)
        + source("uncommitted", broker.bootstrap, 'isolation-level = "read-uncommitted"')
        + source("broken", broker.bootstrap, f'offsets-topic = "{OTHER_TOPIC}"')
        + storage(intervals=4)
    )
    kafka.make_topic(OTHER_TOPIC, 0)
    kafka.commit("first", OTHER_TOPIC, {0: 0})
    with watching(spark, tmp_path_factory.mktemp("records"), config) as watched:
        eventually(watched.is_ready, expected=True)
        yield watched


def test_broken_records_are_counted_by_reason_and_the_rest_is_read(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.make_topic("of-broken", 9)
    sound = records.commit_value(9, int(time.time() * 1000))

    kafka.write(OTHER_TOPIC, [record for _, record in BROKEN])
    kafka.write(OTHER_TOPIC, [(records.commit_key("after-broken", "of-broken", 0), sound)])

    eventually(lambda: watched.committed("broken", "after-broken"), {"of-broken": [9]})
    expected = Counter(reason for reason, _ in BROKEN)
    assert watched.health()["consumers"]["broken"]["skipped"] == expected
    assert watched.groups("broken") == ["after-broken", "burrow-broken"]
    told = [line["reason"] for line in watched.logged("failed to decode")]
    assert set(told) >= expected.keys()
    name = 'warren_records_skipped_total{{consumer="broken",reason="{}"}}'
    assert {each: watched.metric(name.format(each)) for each in expected} == expected


def test_an_aborted_commit_counts_only_when_uncommitted_ones_are_asked_for(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.make_topic("of-aborted", 9)
    with kafka.transaction("aborted", "aborts", "of-aborted", {0: 7}) as producer:
        producer.abort_transaction()
    kafka.commit("aborts", "of-aborted", {0: 8})

    eventually(lambda: edges(watched, "local", "aborts"), (8, 8))
    eventually(lambda: edges(watched, "uncommitted", "aborts"), (7, 8))


def test_a_transaction_that_is_committed_counts(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("of-transactional", 9)

    with kafka.transaction("good", "transactional", "of-transactional", {0: 7}) as producer:
        producer.commit_transaction()

    eventually(lambda: edges(watched, "local", "transactional"), (7, 7))
    eventually(lambda: edges(watched, "uncommitted", "transactional"), (7, 7))


def test_a_hanging_transaction_is_told_of_and_costs_only_its_partition(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.make_topic("of-hanging", 9)
    held = partition_of("hangs", OFFSETS_PARTITIONS)
    names = [f"beside-{number}" for number in range(100)]
    beside = next(name for name in names if partition_of(name, OFFSETS_PARTITIONS) == held)
    elsewhere = next(name for name in names if partition_of(name, OFFSETS_PARTITIONS) != held)

    with kafka.transaction("hanging", "hangs", "of-hanging", {0: 7}):
        kafka.commit(beside, "of-hanging", {0: 5})
        eventually(lambda: watched.health()["consumers"]["local"]["held_back"], [held])
        kafka.commit(elsewhere, "of-hanging", {0: 6})

        eventually(lambda: watched.committed("local", elsewhere), {"of-hanging": [6]})
        assert watched.committed("local", beside) == {}
        name = f'warren_offsets_partition_held_back{{consumer="local",partition="{held}"}}'
        assert watched.metric(name) == 1
        message = "offsets partition is held back by a hanging transaction"
        assert [line["partition"] for line in watched.logged(message)] == [held]
        assert watched.health()["consumers"]["uncommitted"]["held_back"] == []
        assert watched.committed("uncommitted", "hangs") == {"of-hanging": [7]}

    eventually(lambda: watched.committed("local", beside), {"of-hanging": [5]})
    eventually(lambda: watched.health()["consumers"]["local"]["held_back"], [])
    assert len(watched.logged("offsets partition is free again")) == 1


def edges(watched: Watching, cluster: str, group: str) -> tuple[int, int] | None:
    """The first and the last offset in the window of a group's first partition."""
    parts = watched.group(cluster, group)["partitions"]
    return (parts[0]["start"]["offset"], parts[0]["end"]["offset"]) if parts else None
