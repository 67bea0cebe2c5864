"""Events of the offsets topic -> owners, told as the life of a group."""

from collections.abc import Iterable
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from warren.model.group_events import (
    ClassicGroup,
    ClassicMember,
    Epoch,
    Event,
    GroupDeleted,
    Ignored,
    MemberAssigned,
    MemberGone,
    MemberSeen,
    Protocol,
    TopicNames,
)
from warren.windows.group_members import MemberChanges, Membership

ORDERS, BILLS = UUID(int=1), UUID(int=2)
NAMES = {ORDERS: "orders", BILLS: "bills"}
CLASSIC_TOMBSTONE = GroupDeleted("billing", Protocol.CLASSIC)
CONSUMER_TOMBSTONE = GroupDeleted("billing", Protocol.CONSUMER)


def classic(generation: int, **assigned: dict[str, tuple[int, ...]]) -> ClassicGroup:
    members = (
        ClassicMember(f"m-{client}", "", client, f"/{client}", topics)
        for client, topics in assigned.items()
    )
    return ClassicGroup("billing", generation, tuple(members))


def seen(client: str) -> MemberSeen:
    return MemberSeen("billing", f"m-{client}", "", client, f"/{client}")


def assigned(client: str, topics: dict[UUID, tuple[int, ...]], epoch: int = 1) -> MemberAssigned:
    return MemberAssigned("billing", f"m-{client}", epoch, topics)


def fold(membership: Membership, *events: Event) -> MemberChanges:
    return membership.fold(events)


def named() -> Membership:
    membership = Membership()
    membership.name_topics(NAMES)
    return membership


def test_a_classic_group_owns_what_its_members_were_assigned() -> None:
    changes = fold(
        Membership(), classic(1, a={"orders": (0, 1)}, b={"orders": (2,), "bills": (0,)})
    )

    assert changes.owners == {
        "billing": {
            ("orders", 0): ("/a", "a"),
            ("orders", 1): ("/a", "a"),
            ("orders", 2): ("/b", "b"),
            ("bills", 0): ("/b", "b"),
        }
    }


def test_a_partition_that_lost_its_owner_has_none() -> None:
    membership = Membership()
    fold(membership, classic(1, a={"orders": (0,)}, b={"orders": (1,)}))

    changes = fold(membership, classic(2, a={"orders": (0,)}))

    assert changes.owners == {"billing": {("orders", 0): ("/a", "a")}}
    assert membership.groups["billing"].epoch == 2
    assert [*membership.groups["billing"].members] == ["m-a"]


def test_a_group_without_members_has_no_owners_and_still_is() -> None:
    membership = Membership()
    fold(membership, classic(1, a={"orders": (0,)}))

    assert fold(membership, classic(2)) == MemberChanges({"billing": {}})
    assert "billing" in membership.groups


def test_only_groups_that_changed_are_told() -> None:
    membership = named()
    fold(membership, classic(1, a={"orders": (0,)}))

    other = ClassicGroup("other", 1, ())
    unrelated = fold(membership, Ignored("billing", "target"), MemberGone("billing", "m-a"), other)

    assert unrelated == MemberChanges({"other": {}})


def test_members_of_a_kip_848_group_come_in_any_order() -> None:
    expected = {("orders", 0): ("/a", "a"), ("bills", 3): ("/b", "b")}
    pieces: list[Event] = [
        seen("a"),
        assigned("a", {ORDERS: (0,)}),
        Epoch("billing", 4),
        assigned("b", {BILLS: (3,)}),
        seen("b"),
    ]

    for order in (pieces, pieces[::-1], pieces[2:] + pieces[:2]):
        membership = named()
        changes = fold(membership, *order)

        assert changes == MemberChanges({"billing": expected})
        assert membership.groups["billing"].epoch == 4


def test_an_assignment_waits_for_its_member() -> None:
    membership = named()

    assert fold(membership, assigned("a", {ORDERS: (0,)})).owners == {"billing": {}}
    assert fold(membership, seen("a")).owners == {"billing": {("orders", 0): ("/a", "a")}}


def test_a_member_that_leaves_owns_nothing() -> None:
    membership = named()
    fold(
        membership,
        seen("a"),
        assigned("a", {ORDERS: (0,)}),
        seen("b"),
        assigned("b", {BILLS: (0,)}),
    )

    changes = fold(membership, *[MemberGone("billing", "m-a")] * 3)

    assert changes == MemberChanges({"billing": {("bills", 0): ("/b", "b")}})


def test_topic_ids_wait_until_they_have_names() -> None:
    membership = Membership()

    early = fold(membership, seen("a"), assigned("a", {ORDERS: (0,), BILLS: (1,)}))
    from_a_record = fold(membership, TopicNames("billing", {ORDERS: "orders"}))
    from_the_cluster = membership.name_topics({BILLS: "bills"})

    orders, bills = {("orders", 0): ("/a", "a")}, {("bills", 1): ("/a", "a")}
    assert early.owners == {"billing": {}}
    assert from_a_record.owners == {"billing": orders}
    assert from_the_cluster == {"billing": orders | bills}
    assert membership.name_topics(NAMES) == {}


def test_a_tombstone_ends_the_members_of_its_group() -> None:
    classic_group, consumer_group = Membership(), named()
    fold(classic_group, classic(1, a={"orders": (0,)}, b={}))
    fold(consumer_group, seen("a"), assigned("a", {ORDERS: (0,)}), seen("b"))

    assert fold(classic_group, CLASSIC_TOMBSTONE) == MemberChanges({"billing": {}})
    assert fold(consumer_group, CONSUMER_TOMBSTONE) == MemberChanges({"billing": {}})
    assert fold(Membership(), CLASSIC_TOMBSTONE) == MemberChanges({})
    assert classic_group.groups == consumer_group.groups == {}
    assert classic_group.idle == consumer_group.idle == {}


def test_a_deleted_group_no_longer_waits_for_names() -> None:
    membership = Membership()
    fold(membership, seen("a"), assigned("a", {ORDERS: (0,)}))

    fold(membership, CONSUMER_TOMBSTONE)

    assert membership.name_topics(NAMES) == {}


def test_a_group_deleted_and_made_again_in_one_batch_has_its_new_members() -> None:
    membership = Membership()
    fold(membership, classic(1, a={"orders": (0,)}))

    changes = fold(membership, CLASSIC_TOMBSTONE, classic(1, b={"orders": (1,)}))

    assert changes == MemberChanges({"billing": {("orders", 1): ("/b", "b")}})


def test_an_upgrade_to_kip_848_and_back_keeps_the_owners() -> None:
    membership = named()
    fold(membership, classic(1, a={"orders": (0,)}))

    upgraded = fold(
        membership,
        CLASSIC_TOMBSTONE,
        seen("a"),
        Epoch("billing", 2),
        assigned("a", {ORDERS: (0, 1)}),
    )
    downgraded = fold(
        membership, MemberGone("billing", "m-a"), CONSUMER_TOMBSTONE, classic(3, a={"orders": (0,)})
    )

    one = {("orders", 0): ("/a", "a")}
    assert upgraded == MemberChanges({"billing": one | {("orders", 1): ("/a", "a")}})
    assert downgraded == MemberChanges({"billing": one})
    assert membership.groups["billing"].protocol is Protocol.CLASSIC


def test_a_late_tombstone_of_the_protocol_a_group_has_left_is_none() -> None:
    membership = named()
    fold(membership, seen("a"), assigned("a", {ORDERS: (0,)}))

    assert fold(membership, CLASSIC_TOMBSTONE) == MemberChanges({})
    assert "billing" in membership.groups


events = st.one_of(
    st.builds(
        lambda generation, topics: classic(generation, a=topics),
        st.integers(0, 9),
        st.dictionaries(st.sampled_from(["orders", "bills"]), st.just((0, 1))),
    ),
    st.builds(seen, st.sampled_from("ab")),
    st.builds(
        assigned,
        st.sampled_from("ab"),
        st.dictionaries(st.sampled_from([ORDERS, BILLS]), st.just((0, 1))),
    ),
    st.builds(MemberGone, st.just("billing"), st.sampled_from(["m-a", "m-b"])),
    st.builds(TopicNames, st.just("billing"), st.sampled_from([{}, {ORDERS: "orders"}])),
    st.sampled_from([CLASSIC_TOMBSTONE, CONSUMER_TOMBSTONE, Epoch("billing", 3)]),
)


@given(st.lists(events, max_size=12), st.lists(events, max_size=12))
def test_a_saved_membership_goes_on_as_if_it_had_never_stopped(
    before: list[Event], after: list[Event]
) -> None:
    lasting, restored = Membership(), Membership()
    fold(lasting, *before)
    restored.restore(lasting.dump())

    assert fold(restored, *after) == fold(lasting, *after)
    assert restored.name_topics(NAMES) == lasting.name_topics(NAMES)
    assert restored.dump() == lasting.dump()


@given(st.lists(events, max_size=20))
def test_batches_do_not_matter_to_who_owns_what_in_the_end(log: list[Event]) -> None:
    at_once, one_by_one = named(), named()

    together = fold(at_once, *log)
    singly = last_owners(fold(one_by_one, event) for event in log)

    assert at_once.dump() == one_by_one.dump()
    assert together.owners == singly


def last_owners(all_changes: Iterable[MemberChanges]) -> dict[str, object]:
    owners: dict[str, object] = {}
    for changes in all_changes:
        owners |= changes.owners
    return owners
