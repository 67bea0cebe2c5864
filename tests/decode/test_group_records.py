"""Records about groups: what each says, and that no bytes do harm."""

import time
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import (
    ClassicMember,
    assignment,
    blob,
    current_value,
    epoch_value,
    expression_value,
    group_key,
    group_value,
    int16,
    int32,
    member_key,
    member_value,
    share_epoch_value,
    share_member_value,
    streams_member_value,
    string,
    subscription,
    target_value,
    topics_value,
    topology_value,
    varint,
)

from warren.decode.group_records import parse_group_record, subscribed_topics
from warren.model import group_events as events

ORDERS, BILLS = UUID(int=1), UUID(int=2**128 - 1)
GROUP = group_key("billing")

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
partitions = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20)
classic_members = st.builds(
    ClassicMember, names, names, names, st.dictionaries(names, partitions, max_size=4), names
)


@given(
    st.lists(classic_members, max_size=4),
    st.integers(0, 4),
    st.integers(-(2**31), 2**31 - 1),
    names,
)
def test_a_classic_group_is_read_as_it_was_written(
    members: list[ClassicMember], version: int, generation: int, name: str
) -> None:
    value = group_value(members, version=version, generation=generation)

    event = parse_group_record(group_key(name), value)

    expected = tuple(
        events.ClassicMember(
            member.member_id,
            (member.instance_id or "") if version >= 3 else "",
            member.client_id,
            member.client_host,
            {topic: tuple(numbers) for topic, numbers in member.assigned.items()},
        )
        for member in members
    )
    assert event == events.ClassicGroup(name, generation, expected)


def test_kip_848_records_are_read_by_their_types() -> None:
    member = ("billing", "m-1")
    cases: dict[str, tuple[bytes, bytes | None, events.Event]] = {
        "3": (group_key("billing", 3), epoch_value(7), events.Epoch("billing", 7)),
        "4": (
            group_key("billing", 4),
            topics_value({ORDERS.bytes: "orders", BILLS.bytes: "bills"}),
            events.TopicNames("billing", {ORDERS: "orders", BILLS: "bills"}),
        ),
        "5": (
            member_key(*member, 5),
            member_value("cli", "/10.0.0.2", "static-1"),
            events.MemberSeen(
                *member, "static-1", "cli", "/10.0.0.2", events.Subscription(("orders",))
            ),
        ),
        "5 with a regular expression": (
            member_key(*member, 5),
            member_value("cli", "/h", topics=(), expression="ord.*"),
            events.MemberSeen(*member, "", "cli", "/h", events.Subscription((), ("ord.*",))),
        ),
        "5 whose subscription is cut off": (
            member_key(*member, 5),
            member_value("cli", "/h", topics=["orders"] * 20)[:30],
            events.MemberSeen(*member, "", "cli", "/h"),
        ),
        "6": (
            group_key("billing", 6),
            epoch_value(7),
            events.Ignored("billing", "target assignment epoch"),
        ),
        "7": (
            member_key(*member, 7),
            target_value({ORDERS.bytes: [0]}),
            events.Ignored("billing", "target assignment"),
        ),
        "8": (
            member_key(*member, 8),
            current_value(
                {ORDERS.bytes: [0, 2]}, epoch=9, revoking={ORDERS.bytes: [1], BILLS.bytes: [4]}
            ),
            events.MemberAssigned(*member, 9, {ORDERS: (0, 2, 1), BILLS: (4,)}),
        ),
        "16": (
            member_key("billing", "ord.*", 16),
            expression_value(["orders", "order-lines"]),
            events.Resolved("billing", "ord.*", ("orders", "order-lines")),
        ),
    }

    wrong = {
        name: event
        for name, (key, value, expected) in cases.items()
        if (event := parse_group_record(key, value)) != expected
    }

    assert wrong == {}


def test_share_and_streams_groups_are_read_as_far_as_they_tell_of_topics() -> None:
    member, share, streams = ("g", "m"), events.Protocol.SHARE, events.Protocol.STREAMS
    topology = events.Subscription(("in", "app-repartition"), ("in-.*",))
    cases: dict[str, tuple[bytes, bytes | None, events.Event]] = {
        "10": (
            member_key(*member, 10),
            share_member_value(["a", "b"]),
            events.MemberSeen(
                *member, "", "client", "/10.0.0.1", events.Subscription(("a", "b")), share
            ),
        ),
        "11": (group_key("g", 11), share_epoch_value(4), events.Epoch("g", 4, share)),
        "15": (group_key("g", 15), b"any", events.Ignored("g", "share partitions")),
        "17": (group_key("g", 17), share_epoch_value(5), events.Epoch("g", 5, streams)),
        "19": (
            member_key(*member, 19),
            streams_member_value("static"),
            events.MemberSeen(*member, "static", "client", "/10.0.0.1", None, streams),
        ),
        "23": (
            group_key("g", 23),
            topology_value(["in"], ["in-.*"]),
            events.Topology("g", topology),
        ),
        "10 ends": (member_key(*member, 10), None, events.MemberGone(*member, share)),
        "11 ends": (group_key("g", 11), None, events.GroupDeleted("g", share)),
        "16 ends": (member_key("g", "o.*", 16), None, events.Resolved("g", "o.*", None)),
        "17 ends": (group_key("g", 17), None, events.GroupDeleted("g", streams)),
        "22 ends": (member_key(*member, 22), None, events.MemberGone(*member, streams)),
        "23 ends": (group_key("g", 23), None, events.Topology("g", None)),
        "no group": (int16(12), b"any", events.Malformed("share group")),
        "no member": (group_key("g", 21), b"any", events.Malformed("streams group")),
    }

    wrong = {
        name: event
        for name, (key, value, expected) in cases.items()
        if (event := parse_group_record(key, value)) != expected
    }

    assert wrong == {}


@pytest.mark.parametrize("version", range(5))
def test_a_classic_member_subscribes_to_the_topics_in_its_subscription(version: int) -> None:
    members = [
        ClassicMember("m-0", subscribed=["orders", "bills"]),
        ClassicMember("m-1", subscribed=[]),
        ClassicMember("m-2"),
    ]

    event = parse_group_record(GROUP, group_value(members, version=version))

    assert isinstance(event, events.ClassicGroup)
    assert [member.subscription for member in event.members] == [
        events.Subscription(("orders", "bills")),
        events.Subscription(()),
        None,
    ]


def test_a_subscription_that_cannot_be_read_is_unknown_and_does_no_harm() -> None:
    whole = subscription(["orders", "bills"])
    cases = [b"", b"\0", int16(-1) + whole[2:], whole[:6], whole[:17], int16(0) + int32(2**31 - 1)]

    assert [subscribed_topics(data) for data in cases] == [None] * len(cases)
    assert subscribed_topics(None) is None
    assert subscribed_topics(whole[:21]) == events.Subscription(("orders", "bills"))
    assert subscribed_topics(int16(9) + whole[2:]) == events.Subscription(("orders", "bills"))


@pytest.mark.parametrize("value", [None, b""])
def test_a_record_without_a_value_is_a_tombstone(value: bytes | None) -> None:
    gone = events.MemberGone("billing", "m-1")

    by_type = {
        **{kind: parse_group_record(group_key("billing", kind), value) for kind in (2, 3, 4, 6)},
        **{
            kind: parse_group_record(member_key("billing", "m-1", kind), value)
            for kind in (5, 7, 8)
        },
    }

    assert by_type == {
        2: events.GroupDeleted("billing", events.Protocol.CLASSIC),
        3: events.GroupDeleted("billing", events.Protocol.CONSUMER),
        4: events.Ignored("billing", "tombstone"),
        6: events.Ignored("billing", "tombstone"),
        **dict.fromkeys((5, 7, 8), gone),
    }


def test_members_before_a_damaged_one_are_kept() -> None:
    members = [ClassicMember(f"m-{n}", assigned={"orders": [n]}) for n in range(3)]
    value = group_value(members)
    second = value.index(b"m-1")

    event = parse_group_record(GROUP, value[: second + 1])

    assert isinstance(event, events.ClassicGroup)
    assert [member.member_id for member in event.members] == ["m-0"]
    assert event.wrong == "member_id"


def test_a_group_none_of_whose_members_can_be_read_is_malformed() -> None:
    value = group_value([ClassicMember("m-0")])

    assert parse_group_record(GROUP, value[:-7]) == events.Malformed("assignment")


def test_records_that_cannot_be_read_name_the_field() -> None:
    header = int16(1) + string("consumer") + int32(1) + string("range") + string("m")
    member = string("m") + string("c") + string("/h") + int32(1) + int32(1) + blob(b"")
    cut_topics = blob(int16(0) + int32(2) + string("orders") + int32(0))
    cases = {
        "no key version": (b"\0", b""),
        "key version": (group_key("g", 9), b"\0\0"),
        "group": (int16(2) + int16(9), b"\0\0"),
        "member_id": (group_key("g", 8), b"\0\0"),
        "no value version": (GROUP, b"\0"),
        "value version": (GROUP, int16(5)),
        "protocol_type": (GROUP, int16(4) + varint(2**31)),
        "no member size": (GROUP, header + b"\0\0"),
        "assignment_bytes": (GROUP, header + int32(1) + member + b"\0"),
        "consumer_protocol_version": (GROUP, header + int32(1) + member + int32(5)),
        "assignment": (GROUP, header + int32(1) + member + cut_topics),
        "epoch": (group_key("g", 3), b"\0\0\0"),
        "topic_id": (member_key("g", "m", 8), int16(0) + bytes(9) + varint(9) + bytes(9)),
        "client_host": (member_key("g", "m", 5), int16(0) + b"\0\0\0"),
        "tagged fields": (member_key("g", "m", 8), int16(0) + bytes(9) + b"\2" + bytes(16) + b"\1"),
    }

    wrong = {
        reason: event
        for reason, (key, value) in cases.items()
        if (event := parse_group_record(key, value)) != events.Malformed(reason)
    }

    assert wrong == {}


def test_kip_848_values_of_a_later_version_are_not_guessed_at() -> None:
    assert parse_group_record(group_key("g", 3), int16(1) + int32(7)) == events.Malformed(
        "value version"
    )


@given(
    st.sampled_from([0, *range(2, 9), *range(10, 18), *range(19, 24)]),
    st.binary(max_size=40),
    st.binary(max_size=200),
)
def test_no_bytes_raise(kind: int, key: bytes, value: bytes) -> None:
    after_version = int16(len(value) % 5) + value

    for each in (value, after_version):
        assert isinstance(parse_group_record(int16(kind) + key, each), events.Event)
        assert isinstance(parse_group_record(int16(kind) + string(key), each), events.Event)


def test_every_prefix_of_a_record_is_read_or_refused() -> None:
    members = [ClassicMember(f"m-{n}", assigned={"orders": [n, n + 1]}) for n in range(3)]
    records = [(GROUP, group_value(members, version=version)) for version in range(5)]
    records.append((member_key("g", "m", 8), current_value({ORDERS.bytes: [1, 2]})))
    records.append((member_key("g", "m", 5), member_value()))
    records.append((group_key("g", 4), topics_value({ORDERS.bytes: "orders"})))
    records.append((member_key("g", "o.*", 16), expression_value(["orders"])))
    records.append((member_key("g", "m", 10), share_member_value(["orders"])))
    records.append((group_key("g", 17), share_epoch_value(3)))
    records.append((group_key("g", 23), topology_value(["orders"], ["o.*"])))

    parsed = [
        parse_group_record(key, value[:size])
        for key, value in records
        for size in range(1, len(value) + 1)
    ]

    whole = sum(not isinstance(event, events.Malformed) for event in parsed)
    assert whole >= len(records)
    assert {type(event) for event in parsed} == {
        events.ClassicGroup,
        events.Epoch,
        events.Malformed,
        events.MemberAssigned,
        events.MemberSeen,
        events.Resolved,
        events.TopicNames,
        events.Topology,
    }


HUGE = 2**31 - 1
HEADER = int16(1) + string("consumer") + int32(1) + string("range") + string("m")
MEMBER = string("m") + string("c") + string("/h") + int32(1) + int32(1) + blob(b"")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: (GROUP, HEADER + int32(HUGE)), id="members"),
        pytest.param(
            lambda: (GROUP, HEADER + int32(1) + MEMBER + blob(int16(0) + int32(HUGE))), id="topics"
        ),
        pytest.param(
            lambda: (
                GROUP,
                HEADER + int32(1) + MEMBER + blob(assignment({"t": []})[:-8] + int32(HUGE)),
            ),
            id="partitions",
        ),
        pytest.param(
            lambda: (member_key("g", "m", 8), int16(0) + bytes(9) + varint(HUGE)), id="topic ids"
        ),
        pytest.param(lambda: (group_key("g", 4), int16(0) + varint(HUGE)), id="topic names"),
        pytest.param(
            lambda: (member_key("g", "o.*", 16), int16(0) + varint(HUGE)), id="matched topics"
        ),
        pytest.param(
            lambda: (group_key("g", 23), int16(0) + int32(1) + varint(HUGE)), id="subtopologies"
        ),
    ],
)
def test_a_huge_count_costs_nothing(make: Callable[[], tuple[bytes, bytes]]) -> None:
    key, value = make()
    begin = time.process_time()

    event = parse_group_record(key, value)

    assert isinstance(event, events.Malformed)
    assert time.process_time() - begin < 1
