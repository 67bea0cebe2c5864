"""What Warren's evaluator says of real groups on a real broker: a situation of each family.

A schedule of a few seconds takes the place of what would be learned in minutes. Who has nothing to
read is silent for as long as the group that stops, and is fine.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

WARREN = """
[evaluator.default]
class-name = "warren"
[policy.runs]
groups = ["words-.*"]
schedule = "5s"
"""
RECORDS = 100
# By group, which reads a topic of its name: what it commits of a hundred records, and what is said.
MEMBERS = {
    "words-quiet": ([100], "OK"),  # has read all, and nobody writes
    "words-marker": ([100], "OK"),  # only a transaction's marker follows its commit
    "words-emptied": ([100], "OK"),  # has read all, and retention takes all
    "words-stops": ([40], "STOP"),
    "words-stalls": ([40], "STALL"),  # commits the same offset again and again
    "words-rewinds": ([90, 20, 20], "REWIND"),
}
# Without members, as those that assign() their partitions: one commits beyond the end, of the other
# nothing is said any more.
AHEAD, DELETED = "words-ahead", "words-deleted"
NEW = "words-new"  # has a member, and has not committed anything yet
SAID = {group: said for group, (_, said) in MEMBERS.items()} | {AHEAD: "AHEAD", DELETED: ""}


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = source("local", broker.bootstrap) + storage(intervals=5) + WARREN
    with watching(spark, tmp_path_factory.mktemp("words"), config) as watched:
        yield watched


def test_one_situation_of_each_family_is_judged_as_people_mean_it(
    watched: Watching, broker: Broker
) -> None:
    kafka = Kafka(broker.bootstrap)
    written_s = write(kafka, watched)
    with ExitStack() as stack:
        members = {
            group: stack.enter_context(kafka.member(group, group, protocol, client=group))
            for group, protocol in zip(MEMBERS, (CLASSIC, KIP_848) * 4, strict=False)
        }
        members[NEW] = stack.enter_context(kafka.member(NEW, AHEAD, CLASSIC, client=NEW))
        wait_assigned(*members.values())
        for group, (commits, _) in MEMBERS.items():
            for offset in commits:
                commit(members[group], group, {0: offset})
        kafka.commit(AHEAD, AHEAD, {0: 5 * RECORDS})
        kafka.commit(DELETED, DELETED, {0: 40})
        eventually(partial(word, watched, DELETED), "OK")
        kafka.delete_group(DELETED)
        take(kafka, "words-emptied")

        again = iter(range(21, 90))  # it reads its way up, and has far to go

        def words() -> dict[str, str]:
            commit(members["words-stalls"], "words-stalls", {0: 40})
            commit(members["words-rewinds"], "words-rewinds", {0: next(again, 89)})
            return {group: word(watched, group) for group in SAID}

        eventually(words, SAID)
        eventually(lambda: word(watched, NEW) in {"OK", "NEVER"})
        new = watched.group("local", NEW)
        assert (new["status"], new["partitions"][0]["end"]) == ("OK", None)

    stopped = watched.json("/v4/group?cluster=local&group=words-stops")
    lag, age = (stopped["partitions"][0][name] for name in ("lag", "age"))
    as_of_s = stopped["summary"]["as_of_ms"] / 1000
    assert lag["low"] <= RECORDS - 40 <= lag["high"]
    assert age["low"] <= as_of_s - written_s[0]
    assert age["high"] >= as_of_s - written_s[1]


def write(kafka: Kafka, watched: Watching) -> tuple[float, float]:
    """Write the records, and return when those of the group that stops were; Warren looks on."""
    for group in SAID:
        kafka.make_topic(group, 0)
    for group in SAID:
        eventually(partial(watched.ends, "local", group), [0])
    before_s = time.time()
    for group in SAID.keys() - {"words-marker"}:
        kafka.produce(group, RECORDS)
    after_s = time.time()
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "transactional.id": "words", "log_level": 0}
    )
    producer.init_transactions(60)
    producer.begin_transaction()
    for _ in range(RECORDS):
        producer.produce("words-marker", b"a record", partition=0)
    producer.commit_transaction(60)
    for group in SAID:
        end = RECORDS + 1 if group == "words-marker" else RECORDS
        eventually(partial(watched.ends, "local", group), [end])
    return before_s, after_s


def take(kafka: Kafka, topic: str) -> None:
    """Let retention take all records of a topic."""
    for taken in kafka.admin.delete_records([TopicPartition(topic, 0, RECORDS)]).values():
        taken.result(60)


def word(watched: Watching, group: str) -> str:
    parts: list[dict[str, Any]] = watched.json(f"/v4/group?cluster=local&group={group}").get(
        "partitions", []
    )
    said: str = parts[0]["judgement"]["word"] if parts else ""
    return said
