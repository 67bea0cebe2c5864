"""Groups and topics come, change and go; what Warren tells follows."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = source("local", broker.bootstrap) + storage(intervals=4)
    with watching(spark, tmp_path_factory.mktemp("lifecycle"), config) as watched:
        yield watched


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Kafka:
    return Kafka(broker.bootstrap)


@pytest.mark.parametrize(("first", "then"), [(CLASSIC, KIP_848), (KIP_848, CLASSIC)])
def test_a_group_outlives_its_protocol_and_goes_when_it_is_deleted(
    watched: Watching, kafka: Kafka, first: str, then: str
) -> None:
    group, topic = f"deleted-{then}", f"of-deleted-{then}"
    kafka.make_topic(topic, 5)
    with kafka.member(group, topic, first, client="one") as consumer:
        wait_assigned(consumer)
        commit(consumer, topic, {0: 5})
        eventually(lambda: owners(watched, group), [("/127.0.0.1", "one")])
    eventually(lambda: owners(watched, group), [("", "")])

    with kafka.member(group, topic, then, client="two") as consumer:
        wait_assigned(consumer)
        eventually(lambda: owners(watched, group), [("/127.0.0.1", "two")])
        assert watched.committed("local", group) == {topic: [5]}
    eventually(lambda: owners(watched, group), [("", "")])
    kafka.delete_group(group)

    eventually(lambda: watched.group("local", group)["status"], "NOTFOUND")
    assert group not in watched.groups("local")


def test_a_renamed_group_is_a_new_one(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("of-renamed", 10)
    kafka.commit("old-name", "of-renamed", {0: 4})
    eventually(lambda: watched.committed("local", "old-name"), {"of-renamed": [4]})

    kafka.delete_group("old-name")
    kafka.commit("new-name", "of-renamed", {0: 9})

    eventually(lambda: watched.committed("local", "old-name"), {})
    eventually(lambda: watched.committed("local", "new-name"), {"of-renamed": [9]})
    assert watched.group("local", "new-name")["partitions"][0]["start"]["offset"] == 9


def test_a_group_deleted_and_born_again_starts_with_an_empty_window(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.make_topic("of-reborn", 10)
    kafka.commit("reborn", "of-reborn", {0: 8})
    eventually(lambda: watched.committed("local", "reborn"), {"of-reborn": [8]})

    kafka.delete_group("reborn")
    kafka.commit("reborn", "of-reborn", {0: 2})

    # Were the first life still remembered, it would look like a rewind.
    eventually(lambda: watched.committed("local", "reborn"), {"of-reborn": [2]})
    assert watched.group("local", "reborn")["partitions"][0]["start"]["offset"] == 2


def test_a_deleted_topic_leaves_its_groups_without_it(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("kept", 3)
    kafka.make_topic("removed", 3)
    for topic in ("kept", "removed"):
        kafka.commit("reads-two", topic, {0: 3})
    eventually(lambda: watched.committed("local", "reads-two"), {"kept": [3], "removed": [3]})

    kafka.delete_topic("removed")

    eventually(lambda: watched.committed("local", "reads-two"), {"kept": [3]})
    eventually(lambda: watched.ask("/v3/kafka/local/topic/removed")[0], 404)


def test_commits_that_the_broker_forgets_are_forgotten(
    watched: Watching, kafka: Kafka, spark: SparkSession, broker: Broker
) -> None:
    kafka.make_topic("forgotten", 3, 3)
    kafka.make_topic("remembered", 3)
    kafka.commit("forgetful", "forgotten", {0: 3, 1: 2})
    kafka.commit("forgetful", "remembered", {0: 3})
    both = {"forgotten": [3, 2], "remembered": [3]}
    eventually(lambda: watched.committed("local", "forgetful"), both)

    delete_offsets(spark, broker, "forgetful", "forgotten")

    eventually(lambda: watched.committed("local", "forgetful"), {"remembered": [3]})


def test_a_topic_made_anew_is_not_the_old_one(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("made-anew", 50, 50)
    kafka.commit("reads-anew", "made-anew", {0: 50, 1: 50})
    eventually(lambda: watched.committed("local", "reads-anew"), {"made-anew": [50, 50]})

    kafka.delete_topic("made-anew")
    kafka.make_topic("made-anew", 7)
    kafka.commit("reads-anew", "made-anew", {0: 2})

    eventually(lambda: watched.ends("local", "made-anew"), [7])
    eventually(lambda: watched.committed("local", "reads-anew"), {"made-anew": [2]})
    eventually(lambda: watched.group("local", "reads-anew")["totallag"], 5)


def test_added_partitions_are_watched(watched: Watching, kafka: Kafka) -> None:
    kafka.make_topic("grows", 5)
    kafka.commit("reads-grown", "grows", {0: 5})
    eventually(lambda: watched.committed("local", "reads-grown"), {"grows": [5]})

    kafka.add_partitions("grows", 3)
    kafka.commit("reads-grown", "grows", {2: 0})

    eventually(lambda: watched.ends("local", "grows"), [5, 0, 0])
    eventually(lambda: watched.committed("local", "reads-grown"), {"grows": [5, None, 0]})


def test_commits_on_a_topic_not_yet_known_wait_for_its_log_end(
    watched: Watching, kafka: Kafka
) -> None:
    dropped = watched.health()["clusters"]["local"]["dropped"]
    kafka.make_topic("brand-new", 9)
    for offset in (1, 2, 3, 4):
        kafka.commit("at-once", "brand-new", {0: offset})

    eventually(lambda: watched.committed("local", "at-once"), {"brand-new": [4]})
    assert watched.group("local", "at-once")["partitions"][0]["start"]["offset"] == 1
    assert watched.health()["clusters"]["local"]["dropped"] == dropped


def test_a_group_deleted_over_http_comes_back_with_its_next_commit(
    watched: Watching, kafka: Kafka
) -> None:
    kafka.make_topic("of-purged", 9)
    kafka.commit("purged", "of-purged", {0: 1})
    eventually(lambda: watched.committed("local", "purged"), {"of-purged": [1]})

    watched.ask("/v3/kafka/local/consumer/purged", "DELETE")
    gone = watched.committed("local", "purged")
    kafka.commit("purged", "of-purged", {0: 6})

    assert gone == {}
    eventually(lambda: watched.committed("local", "purged"), {"of-purged": [6]})


def owners(watched: Watching, group: str) -> list[tuple[str, str]]:
    parts = watched.group("local", group)["partitions"]
    return [(part["owner"], part["client_id"]) for part in parts]


def delete_offsets(spark: SparkSession, broker: Broker, group: str, topic: str) -> None:
    """Only Kafka's Java client can; Spark brings it along."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001  # PySpark has no public way to the JVM
    assert jvm is not None
    kafka, java = jvm.org.apache.kafka, jvm.java.util
    settings, places = java.HashMap(), java.HashSet()
    settings.put("bootstrap.servers", broker.bootstrap)
    for partition in range(2):
        places.add(kafka.common.TopicPartition(topic, partition))
    admin = kafka.clients.admin.AdminClient.create(settings)
    admin.deleteConsumerGroupOffsets(group, places).all().get()
    admin.close()
