"""A cluster whose offsets topic is not read, beside the same cluster with its topic read."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.kafka_clients import CLASSIC, Kafka, commit, wait_assigned
from support.monitor import Watching, source, storage, watching
from support.raw_protocol import Connection
from support.waiting import eventually

from warren.demo.broker import Broker

TOPIC = "polled"
RECORDS = 10  # at first, and as many more before each commit
GROUPS = 'group-allowlist = "^polled-"\ngroup-denylist = "-secret$"\n'
SPAN_MS = 20_000
# What each group commits, one after the other; None: it is silent.
STEPS: dict[str, tuple[int | None, ...]] = {
    "polled-keeps-up": (20, 30, 40, 50),
    "polled-behind": (3, 4, 5, 6),
    "polled-stopped": (3, 4, None, None),
    "polled-rewinds": (5, 6, 7, 2),
    "polled-stalls": (3, 3, 3, 3),
}


def asked(cluster: str, bootstrap: str) -> str:
    servers = f'servers = ["{bootstrap}"]\n'
    return (
        f'[cluster.{cluster}]\nclass-name = "kafka"\n{servers}offset-refresh = 1\n'
        f'[consumer.{cluster}]\nclass-name = "kafka_admin"\n{servers}cluster = "{cluster}"\n'
    )


def statuses(site: Watching, cluster: str) -> dict[str, tuple[str, str]]:
    """The status of each group, and of its only partition."""
    found = {group: site.group(cluster, group) for group in STEPS}
    return {
        group: (told["status"], told["partitions"][0]["status"] if told["partitions"] else "")
        for group, told in found.items()
    }


@pytest.mark.alone  # commits in a rhythm, which the verdicts are about
def test_groups_that_are_polled_get_the_verdicts_of_those_that_are_read(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, RECORDS)
    read = source("read", broker.bootstrap, *GROUPS.splitlines())
    config = read + asked("asked", broker.bootstrap) + GROUPS + storage(4)

    with watching(spark, tmp_path, config) as site:
        eventually(site.is_ready, expected=True)
        for step in range(4):
            kafka.produce(TOPIC, RECORDS)
            for cluster in ("read", "asked"):  # or the lag would be that of before
                eventually(partial(site.ends, cluster, TOPIC), [RECORDS * (step + 2)])
            expected = {
                group: offset for group, offsets in STEPS.items() if (offset := offsets[step])
            }
            for group, offset in expected.items():
                kafka.commit(group, TOPIC, {0: offset})
            for cluster in ("read", "asked"):
                eventually(partial(newest, site, cluster, expected), expected)
                if step == 1:  # windows of those who go on span so long that they end in no hurry
                    eventually(partial(is_silent, site, cluster, "polled-stopped"), expected=True)

        verdicts = {
            "polled-keeps-up": ("OK", "OK"),
            "polled-behind": ("WARN", "WARN"),
            "polled-stopped": ("ERR", "STOP"),
            "polled-rewinds": ("ERR", "REWIND"),
        }
        both = {
            "read": verdicts | {"polled-stalls": ("ERR", "STALL")},
            # Commits of one offset are one commit to a poll.
            "asked": verdicts | {"polled-stalls": ("ERR", "STOP")},
        }
        eventually(lambda: {cluster: statuses(site, cluster) for cluster in both}, both)


def is_silent(site: Watching, cluster: str, group: str) -> bool:
    """Whether its verdict is as of long after its last commit."""
    line = site.json(f"/v4/group?cluster={cluster}&group={group}")["summary"]
    return bool(line["as_of_ms"] - line["last_commit_ms"] > SPAN_MS)


def newest(site: Watching, cluster: str, groups: Iterable[str]) -> dict[str, int | None]:
    committed = {group: site.committed(cluster, group) for group in groups}
    return {group: offsets[TOPIC][0] if offsets else None for group, offsets in committed.items()}


def test_members_come_and_groups_go_and_some_are_never_asked_for(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("polled-lives", 5, 5)
    kafka.commit("polled-secret", "polled-lives", {0: 1})
    kafka.commit("polled-tool", "polled-lives", {0: 1})
    lists = 'group-allowlist = "^polled-(secret|tool|member)"\ngroup-denylist = "-secret$"\n'

    with watching(spark, tmp_path, asked("lives", broker.bootstrap) + lists) as site:
        with kafka.member("polled-member", "polled-lives", CLASSIC, client="reader") as member:
            wait_assigned(member)
            commit(member, "polled-lives", {0: 2, 1: 3})

            eventually(lambda: site.groups("lives"), ["polled-member", "polled-tool"])
            eventually(lambda: site.committed("lives", "polled-member"), {"polled-lives": [2, 3]})
            eventually(lambda: owners(site), ["/127.0.0.1 reader"] * 2)
            eventually(site.is_ready, expected=True)
            assert site.health()["consumers"]["lives"]["state"] == "caught up"

        eventually(lambda: owners(site), [" ", " "])

        # A group that turns into one of Connect is listed no more, and goes on.
        with Connection(broker.bootstrap) as worker:
            worker.join_connect("polled-member").commit("polled-lives", 0, 4)
            eventually(lambda: site.committed("lives", "polled-member"), {"polled-lives": [4, 3]})

            kafka.delete_group("polled-tool")
            eventually(lambda: site.groups("lives"), ["polled-member"])
        assert site.metric('warren_records_read_total{consumer="lives"}') == 5


def owners(site: Watching) -> list[str]:
    parts = site.group("lives", "polled-member")["partitions"]
    return [f"{part['owner']} {part['client_id']}" for part in parts]
