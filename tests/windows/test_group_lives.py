"""The life of groups: members, rebalances, subscriptions and last owners, told record by record."""

import math
from itertools import pairwise
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    Resolved,
    Subscription,
    Topology,
)
from warren.model.group_life import GroupLife, Kind, Subscribed
from warren.windows.group_lives import LONGEST_EXPRESSION, GroupLives
from warren.windows.group_members import Membership
from warren.windows.limits import Limits
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

TOPICS = ("bills", "orders", "orders-eu")
ORDERS = UUID(int=1)


class Told:
    """A cluster with one group `g` that has committed to three topics, and what is told of it."""

    def __init__(self, *others: str, limits: Limits | None = None) -> None:
        self.windows = Windows()
        self.membership = Membership(limits) if limits else Membership()
        self.membership.name_topics({ORDERS: "orders"})
        self.lives = GroupLives()
        for topic in TOPICS:
            self.windows.set_log_ends(log_ends(9, 9, topic=topic), dict.fromkeys(TOPICS, 2))
        self.commit("g", *others)

    def commit(self, *groups: str) -> None:
        for group in groups:
            records = (Record(1, 5, group=group, topic=topic) for topic in TOPICS)
            self.windows.fold(batch(*records), NOW)

    def tell(self, *events: Event, at_s: float = 0.0) -> None:
        changes = self.membership.fold(events, [at_s] * len(events))
        for group, owners in changes.owners.items():
            self.windows.set_owners(group, owners)

    def life(self, now_s: float = NOW) -> GroupLife:
        return self.lives.read(self.windows, self.membership, window_arrays(self.windows), now_s)

    def subscribed(self) -> dict[str, Subscribed]:
        """By topic, of the first group."""
        life = self.life()
        return {topic: Subscribed(life.is_subscribed[2 * at]) for at, topic in enumerate(TOPICS)}


def classic(
    generation: int, *clients: str, topics: tuple[str, ...] | None = ("orders",), **more: str
) -> ClassicGroup:
    subscription = None if topics is None else Subscription(topics)
    return ClassicGroup(
        "g",
        generation,
        tuple(
            ClassicMember(f"m-{each}", more.get(each, ""), each, f"/{each}", {}, subscription)
            for each in clients
        ),
    )


def seen(client: str, topics: tuple[str, ...] = (), *expressions: str) -> MemberSeen:
    subscription = Subscription(topics, expressions)
    return MemberSeen("g", f"m-{client}", "", client, f"/{client}", subscription)


YES, NO, UNKNOWN = Subscribed.YES, Subscribed.NO, Subscribed.UNKNOWN


def test_what_members_subscribe_to() -> None:
    unread = classic(1, "a").members + classic(1, "b", topics=None).members
    reads_eu = ClassicMember("m", "", "c", "/c", {"orders-eu": (0,), "bills": ()}, Subscription())
    streams = MemberSeen("g", "m", "", "c", "/c", None, Protocol.STREAMS)
    regex = (NO, YES, YES)
    cases: dict[str, tuple[list[Event], tuple[Subscribed, ...]]] = {
        "nothing is known": ([], (UNKNOWN,) * 3),
        "classic": ([classic(1, "a")], (NO, YES, NO)),
        "two members": (
            [ClassicGroup("g", 1, (*classic(1, "a").members, reads_eu))], (NO, YES, YES)
        ),
        "assigned, not subscribed": ([ClassicGroup("g", 1, (reads_eu,))], (NO, NO, YES)),
        "to nothing": ([classic(1, "a", topics=())], (NO,) * 3),
        "one cannot be read": ([ClassicGroup("g", 1, unread)], (UNKNOWN, YES, UNKNOWN)),
        "no members": ([classic(1, "a"), classic(2)], (UNKNOWN,) * 3),
        "deleted": ([classic(1, "a"), GroupDeleted("g", Protocol.CLASSIC)], (UNKNOWN,) * 3),
        "kip-848": ([seen("a", ("orders",))], (NO, YES, NO)),
        "an expression": ([seen("a", (), "orders.*")], regex),
        "it matches whole names": ([seen("a", (), "orders")], (NO, YES, NO)),
        "it and a topic": ([seen("a", ("bills",), "orders.*")], (YES, YES, YES)),
        "what the broker matched": (
            [seen("a", (), "o.*u"), Resolved("g", "o.*u", ("orders",))], (NO, YES, YES)
        ),
        "what it matched for nobody": (
            [seen("a", ("bills",)), Resolved("g", "o.*", ("orders",))], (YES, NO, NO)
        ),
        "what cannot be compiled": ([seen("a", (), "(")], (UNKNOWN,) * 3),
        "what only the broker could compile": (
            [seen("a", (), "("), Resolved("g", "(", ("orders",))], (UNKNOWN, YES, UNKNOWN)
        ),
        "an enormous one": ([seen("a", (), "o" * LONGEST_EXPRESSION + "|.*")], (UNKNOWN,) * 3),
        "an assignment before its member": (
            [MemberAssigned("g", "m-a", 1, {ORDERS: (0,)})], (UNKNOWN, YES, UNKNOWN)
        ),
        "streams": (
            [streams, Topology("g", Subscription(("bills",), ("orders",)))], (YES, YES, NO)
        ),
        "streams without topology": ([streams], (UNKNOWN,) * 3),
        "the last member left": (
            [seen("a", ("orders",)), MemberGone("g", "m-a")], (UNKNOWN,) * 3
        ),
        "members moved on": ([classic(1, "a"), classic(2, "b", topics=("bills",))], (YES, NO, NO)),
    }  # fmt: skip

    wrong = {}
    for name, (events, expected) in cases.items():
        at_once, one_by_one = Told(), Told()
        at_once.tell(*events)
        for event in events:
            one_by_one.tell(event)
            one_by_one.life()
        for told in (at_once, one_by_one):
            if (*told.subscribed().values(),) != expected:
                wrong[name] = told.subscribed()
    assert wrong == {}


def left(*story: tuple[float, Event]) -> set[str]:
    """The topics that a group has left, after what happened so many seconds after its start."""
    told = Told()
    for at_s, event in story:
        told.tell(event, at_s=NOW + at_s)
    life = told.life()
    return {topic for at, topic in enumerate(TOPICS) if life.has_left[2 * at]}


def test_who_leaves_a_topic_comes_with_a_new_subscription() -> None:
    """The topics are bills, orders and orders-eu."""
    orders, bills, both = ("orders",), ("bills",), ("orders", "bills")
    old, new = classic(1, "a", topics=both), classic(2, "b", topics=bills)
    apart = ClassicGroup("g", 1, classic(1, "a").members + classic(1, "b", topics=bills).members)
    cases: dict[str, tuple[list[tuple[float, Event]], set[str]]] = {
        "nothing is known": ([], set()),
        "was never seen to subscribe": ([(0, new)], {"orders", "orders-eu"}),
        "moves": ([(0, old), (900, new)], {"orders", "orders-eu"}),
        "moves, all are down in between": (
            [(0, old), (900, classic(2)), (5000, new)], {"orders", "orders-eu"}
        ),
        "moved, and is down later": (
            [(0, old), (900, new), (5000, classic(3))], {"orders", "orders-eu"}
        ),
        "is down, and had moved nowhere": ([(0, old), (900, classic(2))], {"orders-eu"}),
        "moves back": ([(0, old), (900, new), (1800, old)], {"orders-eu"}),
        "replaces its members one by one": (
            [(0, seen("a", orders)), (900, seen("b", bills)), (960, MemberGone("g", "m-a"))],
            {"orders", "orders-eu"},
        ),
        "the only one that subscribed is gone": (
            [(0, apart), (905, classic(2, "a"))], {"orders-eu"}
        ),
        "the same, and the other one is restarted": (
            [(0, apart), (905, classic(2, "a")), (9000, classic(3, "c"))], {"orders-eu"}
        ),
        "the same of KIP-848": (
            [(0, seen("a", orders)), (1, seen("b", bills)), (905, MemberGone("g", "m-b"))],
            {"orders-eu"},
        ),
        "an expression": (
            [(0, seen("a", (), "o.*")), (900, seen("a", bills))], {"orders", "orders-eu"}
        ),
        "a member cannot be read": ([(0, old), (900, classic(2, "b", topics=None))], set()),
        "deleted": ([(0, new), (900, GroupDeleted("g", Protocol.CLASSIC))], set()),
    }  # fmt: skip

    wrong = {
        name: found for name, (story, right) in cases.items() if (found := left(*story)) != right
    }

    assert wrong == {}


def test_a_pair_that_is_new_is_found_out_and_one_that_is_reused_too() -> None:
    told = Told("h")
    told.tell(classic(1, "a"))
    told.life()

    told.windows.delete_group("g")
    told.commit("k")  # takes the places of g
    told.commit("g")

    life = told.life()
    assert life.is_subscribed.reshape(3, 3, 2)[:, :, 0].tolist() == [
        [NO, YES, NO], [UNKNOWN] * 3, [UNKNOWN] * 3
    ]  # fmt: skip


def test_generations_a_minute_count_what_follows_and_decay() -> None:
    told = Told("h")
    for minute in range(30):  # one every ten seconds
        for step in range(6):
            told.tell(classic(10 + 6 * minute + step, "a"), at_s=NOW + 60 * minute + 10 * step)
    end = NOW + 30 * 60

    g, h = told.life(end).generations_per_minute.tolist()

    assert g == pytest.approx(6, rel=0.05)
    assert h == 0
    assert told.life(end + 3600).generations_per_minute[0] == pytest.approx(0, abs=1e-6)
    assert told.life(end).rebalanced_s.tolist() == [end - 10, 0]
    assert told.life(end).generation.tolist() == [10 + 179, -1]


def test_the_first_generation_that_is_read_is_no_rebalance() -> None:
    told = Told()
    told.tell(classic(4711, "a"), Epoch("h", 9), at_s=NOW)
    told.tell(classic(4711, "a"), at_s=NOW + 1)  # written again, the same generation

    assert told.life(NOW + 1).generations_per_minute.tolist() == [0]
    assert told.life(NOW + 1).rebalanced_s.tolist() == [NOW]


def test_old_records_do_not_count_as_if_they_came_now() -> None:
    told = Told()
    told.tell(*(classic(each, "a") for each in range(1, 100)), at_s=NOW - 86_400)
    told.tell(*(classic(each, "a") for each in range(100, 200)))  # of unknown times

    assert told.life(NOW).generations_per_minute[0] == pytest.approx(0, abs=1e-6)


def test_members_that_come_and_leave_are_churn() -> None:
    told = Told()
    told.tell(classic(1, "a", "b"), at_s=NOW - 1)
    assert told.life(NOW).churn_per_minute[0] == 0

    told.tell(classic(2, "a", "c"), at_s=NOW)
    classic_churn = told.life(NOW).churn_per_minute[0]
    told.tell(GroupDeleted("g", Protocol.CLASSIC), at_s=NOW)
    told.tell(seen("a"), seen("b"), seen("a"), MemberGone("g", "m-a"), at_s=NOW)
    told.tell(MemberGone("g", "m-a"), MemberGone("g", "m-never"), at_s=NOW)

    assert classic_churn == pytest.approx(2 / 3)  # two in three minutes
    assert told.life(NOW).churn_per_minute[0] == pytest.approx(1)


def test_since_when_a_group_has_had_no_members() -> None:
    told = Told("other")
    moments = {}
    steps: dict[str, list[Event]] = {
        "1 member": [classic(1, "a")],
        "2 empty": [classic(2)],
        "3 still empty": [classic(3)],
        "4 back": [classic(4, "a")],
        "5 made anew": [GroupDeleted("g", Protocol.CLASSIC), Epoch("g", 1)],
        "6 a member": [seen("a")],
        "7 gone": [MemberGone("g", "m-a")],
        "8 gone on": [Epoch("g", 2)],
    }

    for number, (name, events) in enumerate(steps.items()):
        told.tell(*events, at_s=NOW + number)
        life = told.life(NOW + 100)
        moments[name] = int(life.empty_since_s[0]) - NOW if life.empty_since_s[0] else None
        assert life.empty_since_s[1] == 0
        assert (life.member_count[0] > 0) == (life.empty_since_s[0] == 0)

    assert moments == {
        "1 member": None, "2 empty": 1, "3 still empty": 1, "4 back": None,
        "5 made anew": 4, "6 a member": None, "7 gone": 6, "8 gone on": 6,
    }  # fmt: skip


def test_kinds_and_static_members() -> None:
    told = Told("none")
    told.tell(classic(1, "a", "b", "c", a="i-1", b="i-2"))
    others: list[Event] = [
        Epoch("share", 3, Protocol.SHARE),
        MemberSeen("share", "m", "", "c", "/h", Subscription(("orders",)), Protocol.SHARE),
        MemberSeen("streams", "m", "i", "c", "/h", None, Protocol.STREAMS),
        Topology("streams", Subscription(("bills", "app-repartition"))),
        ClassicGroup("without-commits", 2, classic(1, "a").members),
    ]
    told.tell(*others)

    life = told.life()
    listed = told.lives.others()

    assert life.kind.tolist() == [Kind.CLASSIC, Kind.NO_RECORDS]
    assert life.member_count.tolist() == [3, 0]
    assert life.static_count.tolist() == [2, 0]
    assert {name: (each.kind, each.members, each.topics) for name, each in listed.items()} == {
        "share": ("share", 1, ("orders",)),
        "streams": ("streams", 1, ("app-repartition", "bills")),
        "without-commits": ("classic", 1, ("orders",)),
    }
    assert listed["streams"].static_members == 1
    assert told.membership.idle.keys() == {"g", "without-commits"}

    told.commit("streams")
    told.tell(GroupDeleted("share", Protocol.SHARE))
    assert told.life().kind.tolist() == [Kind.CLASSIC, Kind.NO_RECORDS, Kind.STREAMS]
    assert told.lives.others().keys() == {"without-commits"}


def test_the_last_owner_of_a_partition_stays_known() -> None:
    told = Told()
    a = ClassicMember("m-a", "", "a", "/a", {"orders": (0, 1)})
    b = ClassicMember("m-b", "", "b", "/b", {"orders": (0,)})

    told.tell(ClassicGroup("g", 1, (a,)))
    told.tell(ClassicGroup("g", 2, (b,)))
    told.tell(ClassicGroup("g", 3, ()))

    life, arrays = told.life(), window_arrays(told.windows)
    owners = [arrays.owners[each] for each in life.last_owner.tolist()]
    clients = [arrays.owners[each] for each in life.last_client.tolist()]
    assert owners == ["", "", "/b", "/a", "", ""]
    assert clients == ["", "", "b", "a", "", ""]
    assert arrays.owner[arrays.rows].tolist() == [0] * 6


def test_what_is_hostile_stays_within_the_limits() -> None:
    told = Told(limits=Limits(groups=10, partitions=1000))
    many = tuple(f"t{number}" for number in range(2000))
    told.tell(seen("a", many))
    told.tell(seen("b", ("orders",)))
    told.tell(*(Resolved("g", f"r{number}", many[:100]) for number in range(200)))

    group = told.membership.groups["g"]

    assert group.members.keys() == {"m-b"}
    assert len(group.resolved) == 9
    assert told.membership.fold([Resolved("g", f"r{number}", None) for number in range(9)])
    assert group.resolved == {}
    told.tell(seen("c", many[:900]))
    assert group.members.keys() == {"m-b", "m-c"}


steps = st.lists(
    st.tuples(
        st.one_of(
            st.builds(classic, st.integers(0, 5), st.sampled_from("ab")),
            st.builds(classic, st.integers(0, 5)),
            st.builds(seen, st.sampled_from("ab"), st.just(("orders",)), st.sampled_from(["b.*"])),
            st.builds(MemberGone, st.just("g"), st.sampled_from(["m-a", "m-b"])),
            st.builds(Epoch, st.just("g"), st.integers(0, 5)),
            st.builds(Resolved, st.just("g"), st.just("b.*"), st.sampled_from([None, ("bills",)])),
            st.sampled_from([GroupDeleted("g", each) for each in Protocol]),
        ),
        st.integers(0, 600),
    ),
    max_size=15,
)


@given(steps, st.lists(st.integers(0, 15), max_size=4))
def test_neither_batches_nor_a_restart_matter(
    story: list[tuple[Event, int]], cuts: list[int]
) -> None:
    whole, pieces = Told(), Told()
    events, times = [event for event, _ in story], [NOW + at_s for _, at_s in story]
    whole.membership.fold(events, times)

    for begin, end in pairwise([0, *sorted(cuts), 15]):
        pieces.membership.fold(events[begin:end], times[begin:end])
        saved, pieces.membership = pieces.membership.dump(), Membership()
        pieces.membership.name_topics({ORDERS: "orders"})
        pieces.membership.restore(saved)
        pieces.life(NOW + 600)

    expected, found = whole.life(NOW + 700), pieces.life(NOW + 700)
    for name in GroupLife.__annotations__:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@given(st.permutations(range(6)))
def test_a_rate_does_not_depend_on_the_order_of_its_events(order: list[int]) -> None:
    in_order, shuffled = Membership(), Membership()
    rates = []
    for membership, places in ((in_order, range(6)), (shuffled, order)):
        membership.fold([seen("x")], [NOW])
        group = membership.groups["g"]
        for place in places:
            group.churn.add(place, NOW + 60 * place)
        rates.append((group.churn.sum, group.churn.as_of_s))

    assert math.isclose(rates[0][0], rates[1][0])
    assert rates[0][1] == rates[1][1]
