"""Every verdict Burrow has, brought about by members of real groups, of both protocols.

All groups commit in three rounds, and the log grows by 100 records before each. Warren is let see a
log end before it is committed against, and a commit before the next is made: so the lags of a
window are known beforehand, however slow the machine.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, KIP_848, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.waiting import eventually

from warren.demo.broker import Broker

TOPIC, ENDS = "statuses", (100, 200, 300)

# By group: what it commits on partition 0 as the log grows; partition 1 it always reads to the end.
COMMITS: dict[str, tuple[int, ...]] = {
    "at-the-end": ENDS,
    "catching-up": (10, 150, 295),
    "falling-behind": (10, 20, 30),
    "stalled": (10, 10, 10),
    "rewound": (50, 80, 20),
}
EXPECTED = {
    "at-the-end": ("OK", "OK"),
    "catching-up": ("OK", "OK"),
    "falling-behind": ("WARN", "WARN"),
    "stalled": ("ERR", "STALL"),
    "rewound": ("ERR", "REWIND"),
}
GROUPS = [(name, protocol) for protocol in (CLASSIC, KIP_848) for name in COMMITS]


@pytest.fixture(scope="module")
def watched(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watching]:
    config = source("local", broker.bootstrap) + storage(intervals=3)
    with watching(spark, tmp_path_factory.mktemp("statuses"), config) as watched:
        yield watched


@pytest.fixture(scope="module")
def judged(watched: Watching, broker: Broker) -> Iterator[dict[str, Any]]:
    """Each group's `/lag` answer right after the third round; the members are still there."""
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 0, 0)
    with ExitStack() as stack:
        members = {
            f"{name}-{protocol}": stack.enter_context(
                kafka.member(f"{name}-{protocol}", TOPIC, protocol, client=f"{name}-1")
            )
            for name, protocol in GROUPS
        }
        wait_assigned(*members.values())
        answers: dict[str, Any] = {}
        for number, end in enumerate(ENDS):
            kafka.produce(TOPIC, 100, 100)
            eventually(partial(watched.ends, "local", TOPIC), [end, end])
            for (name, _), consumer in zip(GROUPS, members.values(), strict=True):
                commit(consumer, TOPIC, {0: COMMITS[name][number], 1: end})
            answers = {
                group: wait_committed(watched, group, COMMITS[name][number], end)
                for group, (name, _) in zip(members, GROUPS, strict=True)
            }
        yield answers


def wait_committed(watched: Watching, group: str, *offsets: int) -> Any:
    """Wait for a board with these commits, as of after them, and give the answer made from it."""
    answer: Any = None

    def newest() -> list[int | None]:
        nonlocal answer
        told = watched.json(f"/v4/group?cluster=local&group={group}").get("summary", {})
        answer = watched.group("local", group)
        ends = [part["end"] for part in answer["partitions"] if part["end"]]
        if told.get("as_of_ms", 0) < max((end["timestamp"] for end in ends), default=1):
            return []
        return [part["end"] and part["end"]["offset"] for part in answer["partitions"]]

    eventually(newest, [*offsets])
    return answer


def test_groups_and_partitions_get_burrows_verdicts(judged: dict[str, Any]) -> None:
    seen = {
        group: (answer["status"], *(part["status"] for part in answer["partitions"]))
        for group, answer in judged.items()
    }

    assert seen == {f"{name}-{protocol}": (*EXPECTED[name], "OK") for name, protocol in GROUPS}


def test_lags_are_against_the_log_end_of_their_time(judged: dict[str, Any]) -> None:
    seen = {
        group: (
            answer["totallag"],
            answer["maxlag"]["partition"],
            *(answer["partitions"][0][edge]["lag"] for edge in ("start", "end")),
        )
        for group, answer in judged.items()
    }

    assert seen == {
        f"{name}-{protocol}": (
            ENDS[-1] - COMMITS[name][-1],
            0,
            ENDS[0] - COMMITS[name][0],
            ENDS[-1] - COMMITS[name][-1],
        )
        for name, protocol in GROUPS
    }


def test_owners_and_clients_are_known_under_both_protocols(judged: dict[str, Any]) -> None:
    seen = {
        group: {(part["owner"], part["client_id"]) for part in answer["partitions"]}
        for group, answer in judged.items()
    }

    assert seen == {
        f"{name}-{protocol}": {("/127.0.0.1", f"{name}-1")} for name, protocol in GROUPS
    }


def test_each_group_tells_its_generation(watched: Watching, judged: dict[str, Any]) -> None:
    asked = {group: watched.json(f"/v4/group?cluster=local&group={group}") for group in judged}

    without = [group for group, answer in asked.items() if not answer["generation"]]

    assert without == []


def test_lagging_groups_that_fall_silent_have_stopped(
    watched: Watching, judged: dict[str, Any]
) -> None:
    def statuses() -> dict[str, list[str]]:
        found = {}
        for group in judged:
            answer = watched.json(f"/v3/kafka/local/consumer/{group}/status")["status"]
            found[group] = [answer["status"], *(part["status"] for part in answer["partitions"])]
        return found

    eventually(
        statuses,
        {
            f"{name}-{protocol}": ["OK"] if name == "at-the-end" else ["ERR", "STOP"]
            for name, protocol in GROUPS
        },
    )


def test_verdicts_are_in_the_metrics_by_burrows_numbers(
    watched: Watching, judged: dict[str, Any]
) -> None:
    groups = {"at-the-end-classic": 1.0, "stalled-consumer": 3.0}
    assert judged.keys() >= groups.keys()

    seen = {
        group: watched.metric(
            f'burrow_kafka_consumer_status{{cluster="local",consumer_group="{group}"}}'
        )
        for group in groups
    }

    assert seen == groups
