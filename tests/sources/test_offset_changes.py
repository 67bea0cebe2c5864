"""From one poll of the brokers to the next: what counts as a commit, and what is gone."""

from collections.abc import Mapping

from warren.sources.group_offsets import BrokerAnswer, Offsets
from warren.sources.offset_changes import HELD_POLLS, PolledOffsets
from warren.sources.outside_changes import OutsideChanges, OutsideCommit, OutsideKey

FIRST = ("orders", 0)
SECOND = ("orders", 1)
NOW_MS = 1_700_000_000_000


def poll(
    polled: PolledOffsets,
    offsets: Mapping[str, Offsets],
    now_ms: int = NOW_MS,
    listed: set[str] | None = None,
) -> OutsideChanges:
    """One poll in which these groups answered; if not told otherwise, there are no others."""
    polled.begin(now_ms)
    taken = polled.take(BrokerAnswer(group, dict(seen), {}) for group, seen in offsets.items())
    ended = polled.end({*offsets} if listed is None else listed)
    return OutsideChanges(taken.commits + ended.commits, taken.owners | ended.owners, taken.skipped)


def settled(offsets: Mapping[str, Offsets]) -> PolledOffsets:
    """Polls that have seen these offsets, and handed them on."""
    polled = PolledOffsets({}, 0)
    for _ in range(HELD_POLLS + 1):
        poll(polled, offsets, NOW_MS - 1_000)
    assert polled.is_settled
    return polled


def changes(reported: OutsideChanges) -> list[tuple[str, int | None]]:
    return [(commit.key.group, commit.offset) for commit in reported.commits]


def test_an_offset_that_changed_is_a_commit_of_the_poll_that_saw_it() -> None:
    polled = settled({"billing": {FIRST: 10, SECOND: 20}})

    reported = poll(polled, {"billing": {FIRST: 11, SECOND: 20}})

    assert reported.commits == [OutsideCommit(OutsideKey("billing", *FIRST), 11, NOW_MS, NOW_MS)]


def test_an_offset_that_went_back_is_a_commit() -> None:
    polled = settled({"billing": {FIRST: 10}})

    assert changes(poll(polled, {"billing": {FIRST: 3}})) == [("billing", 3)]


def test_what_the_first_poll_finds_waits_for_its_second_commit() -> None:
    polled = PolledOffsets({}, 0)

    first = poll(polled, {"lagging": {FIRST: 10}, "dead": {FIRST: 5}}, NOW_MS)
    was_settled = polled.is_settled
    second = poll(polled, {"lagging": {FIRST: 11}, "dead": {FIRST: 5}}, NOW_MS + 1)
    third = poll(polled, {"lagging": {FIRST: 11}, "dead": {FIRST: 5}}, NOW_MS + 2)

    assert (changes(first), was_settled) == ([], False)
    assert changes(second) == [("lagging", 10), ("lagging", 11)]
    assert [commit.committed_ms for commit in second.commits] == [NOW_MS, NOW_MS + 1]
    assert changes(third) == [("dead", 5)]
    assert polled.is_settled


def test_a_group_that_comes_later_is_told_at_once() -> None:
    polled = settled({"billing": {FIRST: 10}})

    reported = poll(polled, {"billing": {FIRST: 10}, "new": {FIRST: 1}})

    assert changes(reported) == [("new", 1)]


def test_offsets_and_groups_that_are_no_longer_there_are_gone() -> None:
    polled = settled({"billing": {FIRST: 10, SECOND: 20}, "dead": {FIRST: 5}})

    reported = poll(polled, {"billing": {SECOND: 20}})

    assert {commit.key for commit in reported.commits if commit.offset is None} == {
        OutsideKey("billing", *FIRST),
        OutsideKey("dead", *FIRST),
    }
    assert polled.groups == {"billing"}


def test_what_vanishes_before_it_was_told_is_never_told() -> None:
    polled = PolledOffsets({}, 0)
    poll(polled, {"brief": {FIRST: 1}})

    later = [change for _ in range(HELD_POLLS + 1) for change in changes(poll(polled, {}))]

    assert [offset for _, offset in later if offset is not None] == []


def test_a_group_without_an_answer_stays_as_it_was() -> None:
    polled = settled({"billing": {FIRST: 10}, "slow": {FIRST: 5}})

    polled.begin(NOW_MS)
    failed = polled.take([BrokerAnswer("slow", {}, {}, "no answer in time")])
    listed = poll(polled, {"billing": {FIRST: 10}}, listed={"billing", "slow"})

    assert changes(failed) + changes(listed) == []
    assert polled.groups == {"billing", "slow"}


def test_an_incomplete_list_removes_nobody() -> None:
    polled = settled({"billing": {FIRST: 10}})

    polled.begin(NOW_MS)
    reported = polled.end(None)

    assert reported.commits == []
    assert polled.groups == {"billing"}


def test_what_the_windows_hold_from_an_earlier_run_is_no_new_commit() -> None:
    restored = {"same": {FIRST: 10}, "moved": {FIRST: 10}, "shrunk": {FIRST: 10, SECOND: 20}}
    polled = PolledOffsets(restored, 0)

    reported = poll(
        polled,
        {"same": {FIRST: 10}, "moved": {FIRST: 12}, "shrunk": {SECOND: 20}, "new": {FIRST: 1}},
    )

    assert sorted(changes(reported), key=str) == [("moved", 12), ("shrunk", None)]


def test_orders_go_up_though_the_clock_goes_back_and_the_program_is_started_again() -> None:
    polled = PolledOffsets({"billing": {FIRST: 1}}, last_order=NOW_MS + 500)

    orders = [
        poll(polled, {"billing": {FIRST: offset}}, now_ms).commits[0].order
        for offset, now_ms in ((2, NOW_MS), (3, NOW_MS - 60_000), (4, NOW_MS + 1_000))
    ]

    assert orders == [NOW_MS + 501, NOW_MS + 502, NOW_MS + 1_000]


def test_owners_are_told_when_they_change() -> None:
    polled = PolledOffsets({}, 0)
    owned = {FIRST: ("/10.0.0.1", "client")}

    polled.begin(NOW_MS)
    told = [
        polled.take([BrokerAnswer("billing", {FIRST: 1}, owners)]).owners
        for owners in (owned, owned, {})
    ]

    assert told == [{"billing": owned}, {}, {"billing": {}}]


def test_restored_groups_stay_until_a_complete_list_lacks_them() -> None:
    polled = PolledOffsets({"slow": {FIRST: 10}, "gone": {FIRST: 1}}, 0)

    polled.begin(NOW_MS)
    polled.end(None)
    at_first = polled.groups
    polled.take([BrokerAnswer("slow", {}, {}, "no answer in time")])
    polled.end({"slow"})
    listed = polled.groups
    answered = poll(polled, {"slow": {FIRST: 12}})

    assert at_first == {"slow", "gone"}
    assert listed == {"slow"}
    assert changes(answered) == [("slow", 12)]
