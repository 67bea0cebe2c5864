"""Whoever may write to Kafka cannot make the windows grow without end."""

from windows.batches import NOW, Record, batch, log_ends

from warren.windows.limits import NO_ROOM, Limits
from warren.windows.view import detail
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
