"""Whoever may write to Kafka cannot make the windows grow without end."""

from uuid import UUID

from support.batches import NOW, Record, batch, log_ends

from warren.model.group_events import (
    ClassicGroup,
    ClassicMember,
    Epoch,
    Event,
    GroupDeleted,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    Protocol,
    TopicNames,
)
from warren.windows.group_members import MAX_NAMED, Membership
from warren.windows.limits import NO_ROOM, Limits
from warren.windows.window_reader import detail
from warren.windows.windows import Windows


def test_groups_beyond_the_limit_are_left_out_and_counted() -> None:
    windows = Windows(limits=Limits(groups=2))
    windows.set_log_ends(log_ends(10), {"t": 1})

    windows.fold(batch(*(Record(at, 5, group=f"g{at}") for at in range(5))), NOW)
    windows.fold(batch(Record(6, 6, group="g1")), NOW)

    assert [*windows.pairs.groups.ids] == ["g0", "g1"]
    assert [commit.offset for commit in detail(windows, "g1")["t"][0].commits] == [5, 6]
    assert windows.dropped[NO_ROOM] == 3


def test_a_group_that_goes_makes_room() -> None:
    windows = Windows(limits=Limits(groups=1))
    windows.set_log_ends(log_ends(10), {"t": 1})
    windows.fold(batch(Record(1, 5, group="old")), NOW)

    windows.delete_group("old")
    windows.fold(batch(Record(2, 5, group="new")), NOW)

    assert [*windows.pairs.groups.ids] == ["new"]


def test_partitions_beyond_the_limit_are_left_out_also_those_that_members_name() -> None:
    windows = Windows(limits=Limits(partitions=5))
    windows.set_log_ends(log_ends(*[10] * 4), {"t": 4})

    windows.fold(batch(Record(1, 5, group="first"), Record(2, 5, group="second")), NOW)
    windows.set_owners("third", {("t", 0): ("/host", "client")})

    assert [*windows.pairs.groups.ids] == ["first"]
    assert windows.held()["partitions"] == 4


def test_only_so_many_partitions_wait_for_a_log_end() -> None:
    windows = Windows(limits=Limits(partitions=3))

    windows.fold(batch(*(Record(at, 5, partition=at) for at in range(10))), NOW)
    waited = len(windows.waiting)
    windows.set_log_ends(log_ends(*[10] * 10), {"t": 10})

    assert waited == 3
    assert windows.dropped[NO_ROOM] == 10  # seven did not wait, for three was no room in the end
    assert detail(windows, "g") == {}


def test_topics_beyond_the_limit_are_left_out_and_known_ones_stay() -> None:
    windows = Windows(limits=Limits(topics=2))
    windows.set_log_ends(log_ends(10, topic="z"), {"z": 1})
    counts = dict.fromkeys("abz", 1)

    windows.set_log_ends(log_ends(11, topic="b"), counts)

    assert sorted(windows.ends.topics.ids) == ["a", "z"]


def test_commits_on_a_topic_without_room_are_counted_and_do_not_wait() -> None:
    windows = Windows(limits=Limits(topics=1))
    windows.fold(batch(Record(1, 5, topic="b")), NOW)

    windows.set_log_ends(log_ends(10, topic="a"), {"a": 1, "b": 1})
    windows.set_log_ends(log_ends(11, topic="a"), {"a": 1, "b": 1})
    windows.fold(batch(Record(2, 6, topic="b"), Record(3, 5, topic="a")), NOW)

    assert len(windows.waiting) == 0
    assert windows.dropped[NO_ROOM] == 3  # the topic, and two commits
    assert [*detail(windows, "g")] == ["a"]


def test_only_so_many_owners_wait_for_a_log_end() -> None:
    windows = Windows(limits=Limits(partitions=2))

    for group in ("a", "b"):
        windows.set_owners(group, {("t", number): ("/host", "client") for number in range(2)})
    waiting = windows.owners.unplaced()
    windows.clear_owners("a")
    windows.set_owners("b", {("t", 0): ("/host", "client")})

    assert [*waiting] == ["a"]
    assert [*windows.owners.unplaced()] == ["b"]


def classic(group: str, *members: str, partitions: int = 1) -> ClassicGroup:
    assigned = {"t": (*range(partitions),)}
    return ClassicGroup(
        group, 1, tuple(ClassicMember(name, "", name, "/host", assigned) for name in members)
    )


def test_groups_beyond_the_limit_have_no_members() -> None:
    membership = Membership(Limits(groups=2))

    changes = membership.fold([classic(f"g{at}", "m") for at in range(5)])
    membership.fold([GroupDeleted("g0", Protocol.CLASSIC)])
    later = membership.fold([classic("g4", "m"), Epoch("g5", 1)])

    assert (sorted(changes.owners), changes.no_room) == (["g0", "g1"], 3)
    assert ([*later.owners], later.no_room) == (["g4"], 1)
    assert [*membership.groups] == ["g1", "g4"]


def test_only_so_many_members_and_assignments_are_held() -> None:
    membership = Membership(Limits(partitions=6))

    first = membership.fold([classic("a", "m", partitions=4)])
    crowded = membership.fold([classic("b", "m", partitions=4)])
    grown = membership.fold([classic("a", "m", "n", partitions=4)])
    again = membership.fold([classic("b", "m", partitions=4)])

    assert [each.no_room for each in (first, crowded, grown, again)] == [0, 1, 1, 0]
    assert [len(each.owners[name]) for each, name in ((first, "a"), (again, "b"))] == [4, 4]
    assert crowded.owners == {"b": {}}
    assert grown.owners == {"a": {}}


def test_members_that_come_one_by_one_are_counted_as_well() -> None:
    membership = Membership(Limits(partitions=4))
    membership.name_topics({UUID(int=1): "t"})

    def member(name: str, *partitions: int) -> list[Event]:
        return [
            MemberSeen("g", name, "", name, "/host"),
            MemberAssigned("g", name, 1, {UUID(int=1): partitions}),
        ]

    full = membership.fold(member("a", 0, 1) + member("b", 2, 3))
    left = membership.fold([MemberGone("g", "a"), *member("b", 2, 3)])

    assert full.no_room == 1
    assert [*full.owners["g"]] == [("t", 0), ("t", 1)]
    assert [*left.owners["g"]] == [("t", 2), ("t", 3)]


def test_names_of_topics_that_records_invent_are_forgotten_oldest_first() -> None:
    membership = Membership()
    names = {UUID(int=number): str(number) for number in range(MAX_NAMED + 10)}

    membership.fold([TopicNames("g", names), MemberSeen("g", "m", "", "c", "/h")])
    changes = membership.fold(
        [MemberAssigned("g", "m", 1, {UUID(int=9): (0,), UUID(int=10): (0,)})]
    )

    assert changes.owners == {"g": {("10", 0): ("/h", "c")}}
