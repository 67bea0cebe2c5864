"""What Warren's evaluator says of real groups on a real broker: situations of each family.

A schedule of a few seconds takes the place of what would be learned in minutes. Who has nothing to
read is silent for as long as the group that stops, and is fine. All groups are there at the same
time; what takes longest is a transaction that is open for two minutes.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

WARREN = """
[evaluator.default]
class-name = "warren"
[policy.late]
groups = ["words-late"]
max-time-lag = "5s"
[policy.runs]
groups = ["words-.*"]
schedule = "5s"
"""
RECORDS = 100
# By group, which reads a topic of its name: what it commits of a hundred records, and what is said.
MEMBERS = {
    "words-quiet": ([100], "OK"),  # has read all, and nobody writes
    "words-marker": ([100], "OK"),  # only a transaction's marker follows its commit
    "words-blocked": ([100], "BLOCKED"),  # a transaction that stays open holds back the rest
    "words-emptied": ([100], "OK"),  # has read all, and retention takes all
    "words-lost": ([40], "LOST"),  # retention takes what it has not read
    "words-stops": ([40], "STOP"),
    "words-stalls": ([40], "STALL"),  # commits the same offset again and again
    "words-late": ([1], "WARN"),  # gets on, and is later than it may be
    "words-rewinds": ([90, 20, 20], "REWIND"),
    "words-storm": ([40], "STORM"),  # members come and go, and nobody commits
    "words-left": ([40], "LEFT"),  # its member has moved to another topic
    "words-trails": ([90], "OK"),  # is always a few records behind, while the log grows
}
# Without members, as those that assign() their partitions: one commits beyond the end, of the other
# nothing is said any more.
AHEAD, DELETED = "words-ahead", "words-deleted"
NEW = "words-new"  # has a member, and has not committed anything yet
SAID = {group: said for group, (_, said) in MEMBERS.items()}
SAID |= {AHEAD: "AHEAD", DELETED: "", NEW: "NEVER"}
IN_TRANSACTIONS = {"words-marker", "words-blocked"}
UNREAD, MORE = 7, 3  # of the group that trails: how far it is behind, and what comes at a time
TAKES_S = 200.0
WEEK_S = 604_800.0


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = source("local", broker.bootstrap) + storage(intervals=5) + WARREN
    with watching(spark, tmp_path_factory.mktemp("words"), config) as watched:
        yield watched


def test_situations_of_each_family_are_judged_as_people_mean_it(
    watched: Watching, broker: Broker
) -> None:
    kafka = Kafka(broker.bootstrap)
    with ExitStack() as stack:
        written_s = write(kafka, watched, stack)
        members = {
            group: stack.enter_context(kafka.member(group, group, protocol, client=group))
            for group, protocol in zip(MEMBERS, (CLASSIC, KIP_848) * 6, strict=True)
        }
        members[NEW] = stack.enter_context(kafka.member(NEW, NEW, CLASSIC, client=NEW))
        wait_assigned(*members.values())
        for group, (commits, _) in MEMBERS.items():
            for offset in commits:
                commit(members[group], group, {0: offset})
        kafka.commit(AHEAD, AHEAD, {0: 5 * RECORDS})
        kafka.commit(DELETED, DELETED, {0: 40})
        eventually(partial(word, watched, DELETED), "OK")
        kafka.delete_group(DELETED)
        take(kafka, "words-emptied", RECORDS)
        take(kafka, "words-lost", 60)
        members["words-left"].subscribe(["words-quiet"])
        goes_on = stories(kafka, members)

        def words() -> dict[str, str]:
            for each in goes_on:
                each()
            return {group: word(watched, group) for group in SAID}

        eventually(words, SAID, TAKES_S)

    eventually(partial(bounds, watched, "words-trails"), (UNREAD, UNREAD))
    stopped = watched.json("/v4/group?cluster=local&group=words-stops")
    lag, age = (stopped["partitions"][0][name] for name in ("lag", "age"))
    as_of_s = stopped["summary"]["as_of_ms"] / 1000
    assert lag["low"] <= RECORDS - 40 <= lag["high"]
    assert age["low"] <= as_of_s - written_s[0]
    assert age["high"] >= as_of_s - written_s[1]
    assert first(watched, "words-lost")["judgement"]["evidence"]["records"] == 20
    assert first(watched, "words-lost")["lost"] == 20
    # The topic keeps records for a week, and so do the brokers the offsets of a group that is gone.
    eventually(lambda: is_a_week(first(watched, "words-stops")["margin_s"]), expected=True)
    eventually(lambda: is_a_week(group_of(watched, AHEAD)["offsets_expire_s"]), expected=True)
    assert first(watched, AHEAD)["judgement"]["evidence"]["commit"] == 5 * RECORDS


def stories(kafka: Kafka, members: dict[str, Consumer]) -> list[Callable[[], object]]:
    """What goes on while Warren looks: a step of each."""
    again = iter(range(21, 90))  # it reads its way up, and has far to go
    steps = count(1)

    def gets_on() -> None:
        step = next(steps)
        kafka.produce("words-late", 1)
        commit(members["words-late"], "words-late", {0: 1 + step})
        kafka.produce("words-trails", MORE)
        commit(members["words-trails"], "words-trails", {0: RECORDS + MORE * step - UNREAD})

    def joins_and_leaves() -> None:
        with kafka.member("words-storm", "words-storm", KIP_848, client="another") as another:
            another.poll(0.5)

    return [
        gets_on,
        joins_and_leaves,
        lambda: commit(members["words-stalls"], "words-stalls", {0: 40}),
        lambda: commit(members["words-rewinds"], "words-rewinds", {0: next(again, 89)}),
        lambda: [each.poll(0) for each in members.values()],
    ]


def write(kafka: Kafka, watched: Watching, stack: ExitStack) -> tuple[float, float]:
    """Write the records, and return when those of the group that stops were; Warren looks on."""
    for group in SAID:
        kafka.make_topic(group, 0)
    for group in SAID:
        eventually(partial(watched.ends, "local", group), [0])
    before_s = time.time()
    for group in SAID.keys() - IN_TRANSACTIONS:
        kafka.produce(group, RECORDS)
    after_s = time.time()
    for group in IN_TRANSACTIONS:
        producer = transactions(kafka, group)
        in_transaction(producer, group)
        producer.commit_transaction(60)
        if group == "words-blocked":
            in_transaction(producer, group)
            stack.callback(producer.abort_transaction, 60)
    for group in SAID:
        # Each transaction that is committed ends with a marker.
        end = {"words-marker": RECORDS + 1, "words-blocked": 2 * RECORDS + 1}.get(group, RECORDS)
        eventually(partial(watched.ends, "local", group), [end])
    return before_s, after_s


def transactions(kafka: Kafka, name: str) -> Producer:
    """A producer whose transactions may be open for minutes."""
    settings = {"transactional.id": name, "transaction.timeout.ms": 600_000, "log_level": 0}
    producer = Producer({"bootstrap.servers": kafka.bootstrap, **settings})
    producer.init_transactions(60)
    return producer


def in_transaction(producer: Producer, topic: str) -> None:
    producer.begin_transaction()
    for _ in range(RECORDS):
        producer.produce(topic, b"a record", partition=0)
    assert producer.flush(60) == 0


def take(kafka: Kafka, topic: str, until: int) -> None:
    """Let retention take the first records of a topic."""
    for taken in kafka.admin.delete_records([TopicPartition(topic, 0, until)]).values():
        taken.result(60)


def word(watched: Watching, group: str) -> str:
    found = first(watched, group)
    said: str = found["judgement"]["word"] if found else ""
    return said


def bounds(watched: Watching, group: str) -> tuple[int, int]:
    """Between which its lag is."""
    lag = first(watched, group)["lag"]
    return lag["low"], lag["high"]


def is_a_week(until_s: object) -> bool:
    """But for the minutes that this takes."""
    return isinstance(until_s, float | int) and WEEK_S - 2 * TAKES_S <= until_s <= WEEK_S


def group_of(watched: Watching, group: str) -> dict[str, Any]:
    found: dict[str, Any] = watched.json(f"/v4/group?cluster=local&group={group}")["summary"]
    return found


def first(watched: Watching, group: str) -> dict[str, Any]:
    """Its first partition; empty: there is no such group."""
    found = watched.json(f"/v4/group?cluster=local&group={group}").get("partitions", [])
    return found[0] if found else {}
