"""When modules are told, as Burrow decides and where it is wrong; all without a clock."""

import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from warren.config import GroupFilter
from warren.model.status import Status
from warren.notify.incidents import (
    GIVE_UP_MS,
    MOST_LATE,
    NOTHING,
    DeliveredNotice,
    Notice,
    Policy,
    Record,
    advance,
    confirm,
    dropped_closes,
    is_owed,
    notices,
    trim,
)

VECTORS = json.loads(
    Path(__file__, "../../conformance/vectors/notifier-config.json").resolve().read_text()
)
MINUTE = 60_000
OK, WARN, ERR, GONE = Status.OK, Status.WARN, Status.ERR, Status.NOTFOUND


class Group:
    """One group and its modules, round after round; ids are 1, 2, 3…"""

    def __init__(self, *policies: Policy, record: Record | None = None) -> None:
        self.policies = {policy.module: policy for policy in policies}
        self.record = record
        self.ids = map(str, itertools.count(1))

    def look(
        self, status: Status, now_ms: int, takes: Callable[[Notice], bool] = lambda _: True
    ) -> list[Notice]:
        """One round; what receivers do not take is as if it had not been sent."""
        record = advance(self.record or NOTHING, status, now_ms, lambda: next(self.ids))
        due = [
            notice
            for policy in self.policies.values()
            for notice in notices(record, status, policy, "billing", now_ms)
        ]
        self.record = trim(record, status, self.policies, now_ms)
        for notice in filter(takes, due):
            told = confirm(self.record or NOTHING, notice)
            self.record = trim(told, status, self.policies, now_ms)
        return due

    def restart(self) -> None:
        saved = None if self.record is None else msgspec.msgpack.encode(self.record)
        self.record = None if saved is None else msgspec.msgpack.decode(saved, type=Record)

    def story(self, statuses: Sequence[Status], every_ms: int = MINUTE) -> list[str]:
        """What each round sends: "open 1", "close 1", both, or nothing."""
        return [
            ", ".join(f"{each.event} {each.id}".rstrip() for each in self.look(status, at))
            for at, status in zip(itertools.count(0, every_ms), statuses)
        ]


def test_decisions_agree_with_burrows_own_cases() -> None:
    wrong = [case for case in VECTORS["notify_decisions"] if not _agrees(case)]

    # Burrow closes at modules that were never told of the opening.
    assert wrong == [case for case in wrong if case["expect_is_close"]]
    assert len(wrong) == 2


def _agrees(case: Mapping[str, int]) -> bool:
    policy = Policy(
        "m",
        threshold=case["threshold"],
        send_close=bool(case["send_close"]),
        send_once=bool(case["send_once"]),
    )
    id_before = "1" if case["incident_open"] else ""
    told = {"m": DeliveredNotice(id_before, 1, 1, Status.WARN)} if case["last_notify_set"] else {}
    record = Record(id_before, 1 if id_before else 0, told)

    after = advance(record, case["status"], MINUTE, lambda: "2")
    due = notices(after, case["status"], policy, "billing", MINUTE)

    return (
        bool(due) == case["expect_notify"]
        and any(each.event == "close" for each in due) == case["expect_is_close"]
        and bool(after.id) == case["incident_open_after"]
    )


def test_sequences_agree_with_burrow_except_that_send_once_is_armed_again() -> None:
    for case in VECTORS["notify_sequences"]:
        policy = Policy("m", send_once=case["send_once"], send_close=case["send_close"])

        told = Group(policy).story([Status[name] for name in case["statuses"]])

        expected = case["notified"]
        if "BURROW BUG" in case.get("note", ""):
            expected = [True, False, False, False, True, False, False]
        assert [bool(each) for each in told] == expected


def test_stories() -> None:
    closing = Policy("m", repeat_ms=MINUTE, send_close=True)
    stories = {
        "opens, repeats, closes, opens anew": (
            closing,
            [WARN, WARN, OK, OK, ERR, OK],
            ["open 1", "open 1", "close 1", "", "open 2", "close 2"],
        ),
        "a vanished group gets its close": (closing, [ERR, GONE, GONE], ["open 1", "close 1", ""]),
        "repeats wait for send-interval": (
            closing._replace(repeat_ms=2 * MINUTE),
            [WARN, WARN, WARN, WARN],
            ["open 1", "", "open 1", ""],
        ),
        "what gets worse is told at once, once": (
            closing._replace(repeat_ms=9 * MINUTE),
            [WARN, WARN, ERR, WARN, ERR, OK],
            ["open 1", "", "open 1", "", "", "close 1"],
        ),
        "send-once is once an incident, worse or not": (
            closing._replace(send_once=True),
            [WARN, ERR, ERR, OK, WARN],
            ["open 1", "", "", "close 1", "open 2"],
        ),
        "send-once without send-close": (
            Policy("m", send_once=True, repeat_ms=MINUTE),
            [WARN, WARN, OK, OK, ERR, ERR],
            ["open 1", "", "", "", "open 2", ""],
        ),
        "below the threshold nothing is told, no close either": (
            closing._replace(threshold=Status.ERR),
            [WARN, OK, WARN, ERR, WARN, OK],
            ["", "", "", "open 2", "", "close 2"],
        ),
        "without closes, back and forth is told once a send-interval": (
            Policy("m", repeat_ms=3 * MINUTE),
            [WARN, OK, WARN, OK, WARN, OK, WARN],
            ["open 1", "", "", "", "open 3", "", ""],
        ),
        "threshold 1 tells of good groups, without an id": (
            Policy("m", threshold=1, repeat_ms=MINUTE),
            [OK, WARN, OK],
            ["open", "open 1", "open"],
        ),
        "denied": (
            closing._replace(groups=GroupFilter(deny="^bill")),
            [WARN, OK],
            ["", ""],
        ),
    }

    wrong = {
        name: told
        for name, (policy, statuses, expected) in stories.items()
        if (told := Group(policy).story(statuses)) != expected
    }

    assert wrong == {}


def test_a_clock_that_went_ahead_and_is_set_right_silences_nobody() -> None:
    group, day = Group(Policy("channel", repeat_ms=MINUTE)), 24 * 60 * MINUTE

    told = [bool(group.look(WARN, at)) for at in (day, 0, 1_000, MINUTE)]
    group.look(WARN, day)
    group.look(OK, 2 * MINUTE)

    assert told == [True, True, False, True]
    assert group.look(WARN, 3 * MINUTE)


def test_clocks_of_instances_may_differ_by_seconds() -> None:
    group = Group(Policy("channel", repeat_ms=MINUTE))

    assert [bool(group.look(WARN, at)) for at in (5_000, 0)] == [True, False]


def test_id_and_start_are_one_for_all_modules_and_stay() -> None:
    group = Group(Policy("warn"), Policy("err", threshold=Status.ERR))

    group.look(WARN, 5 * MINUTE)
    due = group.look(ERR, 7 * MINUTE)

    assert [(each.module, each.id, each.start_ms) for each in due] == [
        ("warn", "1", 5 * MINUTE),
        ("err", "1", 5 * MINUTE),
    ]


def test_what_was_not_taken_is_due_again_and_its_close_is_not() -> None:
    group = Group(Policy("up", send_close=True), Policy("down", send_close=True))
    takes_up = lambda notice: notice.module == "up"  # noqa: E731  a name says more than a def

    first = group.look(WARN, 0, takes_up)
    second = group.look(WARN, MINUTE, takes_up)
    third = group.look(OK, 2 * MINUTE)

    assert [each.module for each in first] == ["up", "down"]
    assert [each.module for each in second] == ["up", "down"]
    assert [(each.module, each.event) for each in third] == [("up", "close")]


def test_a_close_that_is_not_taken_comes_before_the_next_opening_and_keeps_its_end() -> None:
    group = Group(Policy("m", send_close=True))
    group.look(WARN, 0)

    group.look(OK, MINUTE, takes=lambda _: False)
    due = group.look(ERR, 2 * MINUTE)

    assert [(each.event, each.id, each.now_ms) for each in due] == [
        ("close", "1", MINUTE),
        ("open", "2", 2 * MINUTE),
    ]


def test_a_close_that_nobody_takes_is_given_up_after_a_day() -> None:
    group = Group(Policy("m", send_close=True))
    group.look(WARN, 0)

    group.look(OK, MINUTE, takes=lambda _: False)
    late = group.look(OK, MINUTE + GIVE_UP_MS, takes=lambda _: False)

    assert late == []
    assert group.record is None


def test_a_close_that_a_later_opening_went_past_stays_due_where_it_names_its_incident() -> None:
    group = Group(Policy("m", send_close=True, send_once=True))
    rounds: dict[bool, list[list[str]]] = {}
    for by_id in (False, True):
        group.record, group.ids, rounds[by_id] = None, map(str, itertools.count(1)), []
        for at, status in enumerate((WARN, OK, ERR, ERR, OK, OK)):
            due = group.look(status, at * MINUTE, takes=lambda _: False)
            rounds[by_id].append([f"{each.event} {each.id}" for each in due])
            for notice in due:
                if notice.event == "open":
                    group.record = confirm(group.record or NOTHING, notice, closes_by_id=by_id)
            group.restart()

    first = [["open 1"], ["close 1"], ["close 1", "open 2"]]
    assert rounds[False] == [*first, [], ["close 2"], ["close 2"]]
    assert rounds[True] == [*first, ["close 1"], *[["close 1", "close 2"]] * 2]
    assert is_owed(group.record or NOTHING, due[0])
    for notice in due:
        group.record = confirm(group.record or NOTHING, notice)
    assert trim(group.record or NOTHING, OK, group.policies, 6 * MINUTE) is None


def test_closes_that_are_given_up_are_told_whatever_the_reason() -> None:
    """After a day, when they are too many, or when a later opening went past them."""
    policies = {"m": Policy("m", send_close=True)}
    record, lost = NOTHING, []
    for number in range(MOST_LATE + 3):
        start = Notice("m", "open", str(number), number, number, ERR)
        after = confirm(record, start, closes_by_id=number != 1)
        lost += dropped_closes(record, after, policies)
        record = advance(after, OK, number + 1, lambda: "")
    trimmed_then = trim(record, OK, policies, MINUTE)
    days_later = trim(record, OK, policies, 2 * GIVE_UP_MS)

    assert lost == [("m", "0"), ("m", "1")]
    assert trimmed_then == record
    assert days_later is None
    assert len(dropped_closes(record, days_later, policies)) == MOST_LATE + 1


def test_an_opening_taken_after_the_recovery_is_closed() -> None:
    group = Group(Policy("m", send_close=True))
    due = group.look(WARN, 0, takes=lambda _: False)
    group.look(OK, MINUTE)

    group.record = confirm(group.record or NOTHING, due[0])  # it was on its way

    assert [each.event for each in group.look(OK, 2 * MINUTE)] == ["close"]


def test_nothing_is_kept_of_a_good_group() -> None:
    group = Group(Policy("m", send_close=True), Policy("n", repeat_ms=2 * MINUTE))
    group.story([WARN, OK, OK, OK])

    assert group.record is None


def test_modules_that_are_no_more_are_forgotten() -> None:
    group = Group(Policy("m", send_close=True), Policy("n"))
    group.look(WARN, 0)

    del group.policies["m"]
    group.look(WARN, MINUTE)

    assert group.record is not None
    assert list(group.record.delivered) == ["n"]


policies = st.builds(
    Policy,
    st.just("m"),
    st.just(GroupFilter()),
    threshold=st.integers(1, 3),
    repeat_ms=st.integers(0, 5).map(lambda n: n * MINUTE),
    send_close=st.booleans(),
    send_once=st.booleans(),
)
rounds = st.lists(
    st.tuples(st.sampled_from([OK, WARN, ERR, GONE]), st.booleans()), max_size=30
)  # status, and whether the receiver takes what it is sent


def answering(takes: bool) -> Callable[[Notice], bool]:  # noqa: FBT001  it is an answer
    return lambda _: takes


def play(
    policy: Policy, steps: Sequence[tuple[Status, bool]], restarts: Collection[int] = ()
) -> list[tuple[Notice, bool]]:
    group, sent = Group(policy), list[tuple[Notice, bool]]()
    for at, (status, takes) in enumerate(steps):
        if at in restarts:
            group.restart()
        due = group.look(status, at * MINUTE, answering(takes))
        sent += [(notice, takes) for notice in due]
    return sent


@given(policies, rounds)
def test_a_close_follows_its_opening_and_is_taken_once(
    policy: Policy, steps: list[tuple[Status, bool]]
) -> None:
    taken = [notice for notice, takes in play(policy, steps) if takes]

    opened: set[str] = set()
    closed: set[str] = set()
    for notice in taken:
        if notice.event == "open":
            assert notice.id not in closed
            opened.add(notice.id)
        else:
            assert notice.id in opened - closed
            closed.add(notice.id)


@given(policies, rounds)
def test_every_taken_opening_gets_its_close_in_the_end(
    policy: Policy, steps: list[tuple[Status, bool]]
) -> None:
    closing = policy._replace(send_close=True)

    taken = [notice for notice, takes in play(closing, [*steps, (GONE, True)]) if takes]

    events = {kind: {n.id for n in taken if n.event == kind and n.id} for kind in ("open", "close")}
    assert events["open"] == events["close"]


@given(policies, rounds)
def test_send_interval_is_kept_unless_it_gets_worse(
    policy: Policy, steps: list[tuple[Status, bool]]
) -> None:
    taken = [notice for notice, takes in play(policy._replace(send_close=False), steps) if takes]

    for before, after in itertools.pairwise(taken):
        is_worse = after.status > before.status
        assert is_worse or after.now_ms - before.now_ms >= policy.repeat_ms


@given(policies, rounds, st.sets(st.integers(0, 29)))
def test_a_restart_at_any_point_changes_nothing(
    policy: Policy, steps: list[tuple[Status, bool]], restarts: set[int]
) -> None:
    assert play(policy, steps, restarts) == play(policy, steps)


def test_what_was_taken_before_the_lead_was_lost_counts_if_nobody_has_gone_on_since() -> None:
    opened = Notice("m", "open", "id-1", 5, 10, Status.ERR)
    closed = opened._replace(event="close")
    told = DeliveredNotice("id-1", 5, 10, Status.ERR)
    cases = {
        "nobody noted it": (Record("id-1", 5), opened, True),
        "another told it later": (Record("id-1", 5, {"m": told}), opened, False),
        "it is a repeat": (Record("id-1", 5, {"m": told}), opened._replace(now_ms=99), True),
        "another ended it": (Record(), opened, False),
        "there is a new incident": (Record("id-2", 50), opened, False),
        "a close nobody noted": (Record("", 0, {"m": told}), closed, True),
        "a close that another sent": (Record(), closed, False),
        "a close, and a new incident": (
            Record("id-2", 50, {"m": DeliveredNotice("id-2", 50, 60, Status.ERR)}),
            closed,
            False,
        ),
    }

    wrong = [name for name, (at, notice, owed) in cases.items() if is_owed(at, notice) != owed]

    assert wrong == []
