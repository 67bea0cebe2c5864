"""The small steps of the flow that need no broker."""

from uuid import UUID

import pyarrow as pa

from warren.cluster import Accepts, Following, new_cluster
from warren.config import Consumer, GroupFilter, Storage
from warren.pipeline import accepted, gone, own_commits
from warren.sources.log_ends import Topics

OLD, NEW = UUID(int=1), UUID(int=2)


def topics(**ids: UUID | None) -> Topics:
    known = {name: each for name, each in ids.items() if each}
    return Topics(dict.fromkeys(ids, 1), {}, known)


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
        name for name, (before, now, expected) in cases.items() if gone(before, now) != expected
    ]

    assert wrong == []


def test_only_accepted_groups_commits_are_kept() -> None:
    decoded = pa.table({"group": ["a", "b", None, "a-b"]})

    assert accepted(decoded, Accepts(GroupFilter()))["group"].to_pylist() == ["a", "b", None, "a-b"]
    assert accepted(decoded, Accepts(GroupFilter("a", "b$")))["group"].to_pylist() == ["a"]


def test_the_reading_itself_is_reported_as_a_group() -> None:
    settings = Consumer(name="local", cluster="c", servers=("h:1",))
    following = Following(settings, new_cluster("c", Storage(intervals=2)), Accepts())
    decoded = pa.table({"log_partition": pa.array([1, 1, 1, 0], pa.int32()), "order": [4, 6, 9, 3]})

    commits = own_commits(following, decoded, now_s=10)

    assert set(commits["group"].to_pylist()) == {"burrow-local"}
    places = zip(commits["partition"].to_pylist(), commits["offset"].to_pylist(), strict=True)
    assert sorted(places) == [(0, 4), (1, 7), (1, 10)]
