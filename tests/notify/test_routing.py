"""Policies and silences decide who is notified about what, and when not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from notify.instances import configured, instance
from notify.receiver import Receiver
from notify.sample_verdicts import NOW_MS, Part, board_of, verdicts_of

from warren.model.board import Board
from warren.model.policies import NO_POLICY, LinePolicies
from warren.model.status import Status
from warren.notify.routing import alarms
from warren.windows.policy_lines import PolicyBook

MINUTE = 60_000
OK, WARN, STOP = Status.OK, Status.WARN, Status.STOP
NOTIFIERS = """
[notifier.pager]
class-name = "slack"
webhook-url = "https://localhost/services/T/B/X"
send-close = true
send-once = true
[notifier.chat]
class-name = "slack"
webhook-url = "https://localhost/services/T/B/X"
send-close = true
send-once = true
"""


def looked(
    folder: Path, policies: str, story: Sequence[tuple[int, Mapping[str, Sequence[Part]]]]
) -> list[list[str]]:
    """What was sent in each round of a story: minutes, and the groups at that time."""
    config = configured(folder, NOTIFIERS, policies)
    book = PolicyBook([each.policy() for each in config.policies.values()], "local")
    receivers = {"pager": Receiver(), "chat": Receiver()}
    sent = []
    with instance(config, receivers) as current:
        current.look(board(book, NOW_MS - MINUTE, {}))
        for minute, groups in story:
            current.look(board(book, NOW_MS + minute * MINUTE, groups))
            sent.append(
                sorted(
                    f"{name}: {message.event} {message.group} {message.owner}".rstrip()
                    for name, receiver in receivers.items()
                    for message in receiver.got
                )
            )
            for receiver in receivers.values():
                receiver.got.clear()
    return sent


def board(book: PolicyBook, moment_ms: int, groups: Mapping[str, Sequence[Part]]) -> Board:
    made = board_of({"local": verdicts_of(groups or {"other": [Part()]})}, moment_ms)
    local = made.clusters["local"]
    verdicts = local.verdicts
    of_group = np.repeat(np.arange(len(verdicts.names)), np.diff(verdicts.groups.first))
    topics = verdicts.partitions.topic.tolist()
    pairs = zip(of_group.tolist(), topics, strict=True)
    of_line = [book.of(verdicts.names[group], verdicts.topics[topic]) for group, topic in pairs]
    policies = LinePolicies(book.policies, np.array(of_line, np.int32)) if book.policies else None
    return replace(made, clusters={"local": replace(local, policies=policies)})


BAD, GOOD = [Part(STOP, 9)], [Part(OK)]


def test_a_policy_names_the_notifiers_and_the_owner(tmp_path: Path) -> None:
    policies = """
[policy.payments]
groups = ["billing"]
notify = ["pager"]
owner = "team-payments"
[policy.nobody]
groups = ["test-.*"]
notify = []
"""
    bad = {"billing": BAD, "sales": BAD, "test-1": BAD}

    sent = looked(tmp_path, policies, [(0, bad), (1, dict.fromkeys(bad, GOOD))])

    assert sent[0] == ["chat: open sales", "pager: open billing team-payments", "pager: open sales"]
    assert [each.split()[:3] for each in sent[1]] == [
        ["chat:", "close", "sales"], ["pager:", "close", "billing"], ["pager:", "close", "sales"]
    ]  # fmt: skip


def test_what_is_ignored_or_no_word_of_its_policy_opens_nothing(tmp_path: Path) -> None:
    policies = """
[policy.audit]
topics = ["audit"]
ignore = true
[policy.stops]
pages = ["STOP"]
notify = ["chat"]
"""
    story = [
        (0, {"a": [Part(STOP, 9, "audit")], "b": [Part(WARN, 9)], "c": [Part(WARN, 1), *BAD]}),
        (1, {"a": [Part(STOP, 9, "audit")], "b": BAD, "c": [Part(WARN, 9)]}),
        (2, {"a": [Part(STOP, 9, "audit"), Part(STOP, 1, "orders")], "b": BAD, "c": GOOD}),
    ]

    assert looked(tmp_path, policies, story) == [
        ["chat: open c"], ["chat: close c", "chat: open b"], ["chat: open a"]
    ]  # fmt: skip


def test_the_owner_is_of_what_pages_and_not_of_what_is_worst(tmp_path: Path) -> None:
    policies = """
[policy.mirrors]
topics = ["mirror"]
pages = ["STOP"]
notify = ["chat"]
owner = "team-mirror"
[policy.payments]
notify = ["pager"]
owner = "team-payments"
"""
    both = {"billing": [Part(Status.REWIND, 9, "mirror"), Part(WARN, 5, "payments")]}

    assert looked(tmp_path, policies, [(0, both)]) == [["pager: open billing team-payments"]]


def test_grace_delays_the_opening_and_a_short_trouble_is_never_told(tmp_path: Path) -> None:
    policies = '[policy.patient]\ngroups = ["billing"]\ngrace = "3m"\n'
    story = [
        (0, {"billing": BAD}),
        (2, {"billing": GOOD}),
        (3, {"billing": BAD}),
        (5, {"billing": BAD}),
        (6, {"billing": BAD}),
        (7, {"billing": GOOD}),
    ]

    sent = looked(tmp_path, policies, story)

    opened, closed = (
        [f"{n}: {what} billing" for n in ("chat", "pager")] for what in ("open", "close")
    )
    assert sent == [[], [], [], [], opened, closed]


def test_outside_its_hours_a_group_opens_nothing(tmp_path: Path) -> None:
    """NOW is a Tuesday, 22:13 UTC."""
    policies = '[policy.office]\nschedule = "mon-fri 08:00-18:00"\nnotify = ["chat"]\n'
    story = [(0, {"billing": BAD}), (9 * 60, {"billing": BAD}), (10 * 60, {"billing": BAD})]

    assert looked(tmp_path, policies, story) == [[], [], ["chat: open billing"]]


def test_a_silence_holds_messages_back_until_it_ends(tmp_path: Path) -> None:
    """Until 22:43; what had been reported before is still reported as good."""
    policies = """
[policy.payments]
groups = ["billing.*"]
owner = "team-payments"
[silence.upgrade]
owners = ["team-.*"]
begin = 2023-11-14T22:14:00Z
end = 2023-11-14T22:43:00Z
"""
    story = [
        (0, {"billing": BAD, "billing-2": GOOD, "sales": GOOD}),
        (5, {"billing": GOOD, "billing-2": BAD, "sales": BAD}),
        (29, {"billing": GOOD, "billing-2": BAD, "sales": GOOD}),
        (30, {"billing": GOOD, "billing-2": BAD, "sales": GOOD}),
    ]

    sent = looked(tmp_path, policies, story)

    assert [[" ".join(each.split()[1:3]) for each in one if "pager" in each] for one in sent] == [
        ["open billing"], ["close billing", "open sales"], ["close sales"], ["open billing-2"]
    ]  # fmt: skip


def test_without_policies_alarms_are_the_verdicts() -> None:
    groups = {"a": BAD, "b": GOOD, "c": [Part(WARN, 1)]}
    plain = board(PolicyBook((), "local"), NOW_MS, groups).clusters["local"]
    nothing = np.full(len(plain.verdicts.partitions.status), NO_POLICY, np.int32)
    unmatched = replace(plain, policies=LinePolicies((), nothing))

    assert alarms(plain, 0).tolist() == alarms(unmatched, 0).tolist()
    assert alarms(plain, 0).tolist() == [Status.ERR, OK, WARN]
