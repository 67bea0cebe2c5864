"""Asked of a real broker: what groups have committed, and who reads for them."""

from itertools import chain

from e2e.kafka import CLASSIC, KIP_848, Kafka, commit, wait_assigned

from warren.demo.broker import Broker
from warren.sources.group_offsets import Answer, GroupOffsets, list_groups

TIMEOUT_S = 20.0


def ask(kafka: Kafka, *groups: str, empty: frozenset[str] = frozenset()) -> dict[str, Answer]:
    asked = GroupOffsets(kafka.admin, TIMEOUT_S).ask(groups, empty)
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
        answers = ask(kafka, "asked-tool", "asked-classic", "asked-new", empty=listed.empty)

    assert {"asked-tool", "asked-classic", "asked-new"} <= listed.groups
    assert "asked-tool" in listed.empty
    assert not {"asked-classic", "asked-new"} & listed.empty
    assert answers == {
        "asked-tool": Answer("asked-tool", {("asked", 1): 4}, {}),
        "asked-classic": Answer(
            "asked-classic", {("asked", 0): 2, ("asked", 1): 3}, owned_by("old")
        ),
        "asked-new": Answer("asked-new", {}, owned_by("new")),
    }


def owned_by(client: str) -> dict[tuple[str, int], tuple[str, str]]:
    return {("asked", partition): ("/127.0.0.1", client) for partition in (0, 1)}


def test_a_group_that_nobody_knows_has_nothing(broker: Broker) -> None:
    answers = ask(Kafka(broker.bootstrap), "asked-nobody")

    assert answers["asked-nobody"].offsets == {}
