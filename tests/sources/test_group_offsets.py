"""Asked of a real broker: what groups have committed, and who reads for them."""

from collections.abc import Mapping
from itertools import chain

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.raw_protocol import Connection

from warren.demo.broker import Broker
from warren.sources.group_offsets import (
    NONE_LISTED,
    BrokerAnswer,
    GroupOffsets,
    Listed,
    Offsets,
    list_groups,
    without_offsets,
)

TIMEOUT_S = 20.0


def ask(
    kafka: Kafka, listed: Listed, *groups: str, known: Mapping[str, Offsets] | None = None
) -> dict[str, BrokerAnswer]:
    asked = GroupOffsets(kafka.admin, TIMEOUT_S).fetch(listed, groups, known or {})
    return {answer.group: answer for answer in chain.from_iterable(asked)}


def test_offsets_and_owners_of_both_protocols(broker: Broker) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("asked", 5, 5)
    kafka.commit("asked-tool", "asked", {1: 4})
    with (
        kafka.member("asked-classic", "asked", CLASSIC, client="old") as classic,
        kafka.member("asked-new", "asked", KIP_848, client="new") as new,
    ):
        wait_assigned(classic, new)
        commit(classic, "asked", {0: 2, 1: 3})

        listed = list_groups(kafka.admin, TIMEOUT_S)
        answers = ask(kafka, listed, "asked-tool", "asked-classic", "asked-new")

    assert {"asked-tool", "asked-classic", "asked-new"} <= listed.groups
    assert "asked-tool" in listed.empty
    assert not {"asked-classic", "asked-new"} & listed.empty
    assert answers == {
        "asked-tool": BrokerAnswer("asked-tool", {("asked", 1): 4}, {}),
        "asked-classic": BrokerAnswer(
            "asked-classic", {("asked", 0): 2, ("asked", 1): 3}, owned_by("old")
        ),
        "asked-new": BrokerAnswer("asked-new", {}, owned_by("new"), is_bare=True),
    }


def owned_by(client: str) -> dict[tuple[str, int], tuple[str, str]]:
    return {("asked", partition): ("/127.0.0.1", client) for partition in (0, 1)}


def test_a_group_that_nobody_knows_has_nothing(broker: Broker) -> None:
    kafka = Kafka(broker.bootstrap)

    answers = ask(kafka, NONE_LISTED, "asked-nobody", known={"asked-nobody": {("asked", 0): 1}})

    assert answers == {"asked-nobody": BrokerAnswer("asked-nobody", {}, {}, is_bare=True)}


def test_only_who_certainly_has_no_commit_has_none(broker: Broker) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("held", 5)
    kafka.commit("held-tool", "held", {0: 4})
    odd = ("", "not text: \udc80", "held-nobody\0")  # the client would crash, or cut the last short
    known: dict[str, Offsets] = {
        group: {("held", 0): 1} for group in (*odd, "held-nobody", "held-tool")
    }
    with Connection(broker.bootstrap) as worker:
        worker.join_connect("held-connect").commit("held", 0, 4)
        worker.join_connect("held-negative").commit("held", 0, -1)
        known |= {"held-connect": {}, "held-negative": {}}

        bare = without_offsets(kafka.admin, known, TIMEOUT_S)
        listed = list_groups(kafka.admin, TIMEOUT_S).groups

    assert bare == ["held-nobody"]
    assert not {"held-connect", "held-negative"} & listed


def test_brokers_that_do_not_answer_are_an_error_of_the_call() -> None:
    admin = AdminClient({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})

    with pytest.raises(KafkaException):
        list_groups(admin, 1)
    assert without_offsets(admin, {"g": {}, "h": {}}, 1) == []
