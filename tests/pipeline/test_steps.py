"""The small steps of the flow that need no broker."""

from uuid import UUID

import pyarrow as pa
from support.batches import NOW, Record, batch, log_ends

from warren.config import Consumer, GroupFilter, Storage
from warren.evaluate.judge import JudgeSettings
from warren.model.status import Status
from warren.pipeline.batch_contents import keep_accepted, own_commits
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.pipeline.starting_positions import forget_partition
from warren.pipeline.steps import judge_cluster, lost_topics
from warren.serve.board_file.commits_file import CommitsFile
from warren.sources.group_offsets import partition_of
from warren.sources.log_ends import TopicListing
from warren.windows.precedence import outside_order
from warren.windows.windows import Windows

OLD, NEW = UUID(int=1), UUID(int=2)


def topics(**ids: UUID | None) -> TopicListing:
    known = {name: each for name, each in ids.items() if each}
    return TopicListing(dict.fromkeys(ids, 1), {}, known)


def test_a_topic_is_gone_when_it_is_missing_or_has_another_id() -> None:
    cases = {
        "first listing": (None, topics(t=OLD), []),
        "the same": (topics(t=OLD), topics(t=OLD), []),
        "deleted": (topics(t=OLD, u=OLD), topics(u=OLD), ["t"]),
        "made anew": (topics(t=OLD), topics(t=NEW), ["t"]),
        "id not told this time": (topics(t=OLD), topics(t=None), []),
        "id told for the first time": (topics(t=None), topics(t=NEW), []),
    }

    wrong = [
        name
        for name, (before, now, expected) in cases.items()
        if lost_topics(before, now) != expected
    ]

    assert wrong == []


def test_only_accepted_groups_commits_are_kept() -> None:
    decoded = pa.table({"group": ["a", "b", None, "a-b"]})

    assert keep_accepted(decoded, Accepts(GroupFilter()))["group"].to_pylist() == [
        "a",
        "b",
        None,
        "a-b",
    ]
    assert keep_accepted(decoded, Accepts(GroupFilter("a", "b$")))["group"].to_pylist() == ["a"]


def test_the_reading_itself_is_reported_as_a_group() -> None:
    settings = Consumer(name="local", cluster="c", servers=("h:1",))
    topic_consumer = TopicConsumer(settings, new_cluster("c", Storage(intervals=2)), Accepts())
    decoded = pa.table({"log_partition": pa.array([1, 1, 1, 0], pa.int32()), "order": [4, 6, 9, 3]})

    commits = own_commits(topic_consumer, decoded, now_s=10)

    assert set(commits["group"].to_pylist()) == {"burrow-local"}
    places = zip(commits["partition"].to_pylist(), commits["offset"].to_pylist(), strict=True)
    assert sorted(places) == [(0, 4), (1, 7), (1, 10)]


def test_a_clock_set_back_ends_no_silence() -> None:
    windows = Windows(intervals=3)
    windows.set_log_ends(log_ends(100), {"t": 1})
    for at in range(3):
        windows.fold(batch(Record(at, at, after_ms=1000 * at)), NOW)
    cluster, file, hour_s = ClusterState("c", windows), CommitsFile(), 3600

    def status(now_s: int) -> Status:
        judged = judge_cluster(
            cluster, Sources(), JudgeSettings(), now_s, lambda _, shown: file.store(shown)
        )
        return Status(judged.verdicts.partitions.status[0])

    before = status(NOW + 2)
    stopped = status(NOW + hour_s)
    set_back = status(NOW + 2)
    windows.fold(batch(Record(3, 3, after_ms=3000)), NOW)
    committed = status(NOW + 3)

    assert (before, stopped, set_back) == (Status.OK, Status.STOP, Status.STOP)
    assert committed is Status.OK


def test_what_kafka_said_of_the_groups_of_one_partition_is_forgotten() -> None:
    cluster = new_cluster("c", Storage(intervals=2))
    cluster.topics = TopicListing({"t": 1, "__consumer_offsets": 2}, {}, {})
    cluster.windows.set_log_ends(log_ends(100), {"t": 1})
    settings = Consumer(name="local", cluster="c", servers=("h:1",), group_denylist="^denied")
    topic_consumer = TopicConsumer(settings, cluster, Accepts(settings.groups))
    groups = [f"{kind}-{number}" for kind in ("kept", "denied") for number in range(6)]
    cluster.windows.fold(batch(*(Record(1, 5, group=group) for group in groups)), NOW)
    outside = outside_order(1)
    cluster.windows.fold(batch(*(Record(outside, 5, group=f"zk-{n}") for n in range(6))), NOW)
    homes = {group: partition_of(group, 2) for group in groups}

    forget_partition(topic_consumer, 1)

    left = {*cluster.windows.pairs.groups.ids}
    assert {*homes.values()} == {0, 1}
    assert left == {f"zk-{n}" for n in range(6)} | {
        group for group in groups if group.startswith("denied") or homes[group] == 0
    }
