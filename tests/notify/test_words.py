"""Messages of Warren's evaluator say its words, why, who is responsible, how old and how soon."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from support.boards import NOW_S, Commit, cluster_board, windows_of, with_words
from support.messages import CONFIG

from warren.config import AlertmanagerNotifier, HttpNotifier, Secret, SlackNotifier
from warren.evaluate.warren_evaluator import alarms
from warren.model.board import ClusterBoard
from warren.model.group_life import GroupLife
from warren.model.judgement import Word
from warren.model.policies import LinePolicies, Policy
from warren.model.silence import Silences
from warren.model.status import Status
from warren.notify.due_message import Beside, DueMessage, compose
from warren.notify.incidents import Notice
from warren.notify.message import Event, Message, Subject
from warren.notify.routing import Routing
from warren.notify.senders.alertmanager import AlertmanagerSender
from warren.notify.senders.slack import SlackSender
from warren.notify.senders.webhook import HttpSender
from warren.notify.wording import evidence, headline

ENDS = {"orders": [100, 100]}
SINCE_S = NOW_S - 1200
WHY = (
    "orders:1 is STOP since 2023-11-14T22:04:20Z. Records wait, and it has been silent for "
    "20 min; that is STOP after 10 min. It ends with a commit of a higher offset."
)
OF_GROUPS = (
    *("kind", "member_count", "static_count", "generation", "generations_per_minute"),
    *("churn_per_minute", "empty_since_s", "rebalanced_s"),
)
OWN = (
    "{{.Headline}}|{{.Evidence}}|{{.Owner}}|{{.Result.Word}}|{{range .Result.Partitions}}"
    '{{.Word}} {{.Why}} {{.Ends}} {{.Since.UTC.Format "15:04:05"}}{{.Second}}|{{with .Figures}}'
    "{{.Records}} from {{.Commit}} to {{.LogEnd}} {{.Generations}}{{end}}{{end}}|"
    "{{.Result.Members.Count}}"
)


def judged(*, decides: bool = True) -> ClusterBoard:
    """A group that has read partition 0, and 40 of 100 of partition 1, twenty minutes ago."""
    commits: list[Commit] = [
        ("billing", "orders", number, offset, SINCE_S * 1000)
        for number, offset in enumerate((100, 40))
    ]
    windows = windows_of(ENDS, commits)
    for now_s in range(SINCE_S, NOW_S + 1, 60):
        board = cluster_board(windows, ENDS, now_s=now_s)
        board = with_words(board, windows, {}, decides=decides)
    return board


def due(board: ClusterBoard, event: Event = "open") -> DueMessage:
    notice = Notice("n", event, "id-1", SINCE_S * 1000, NOW_S * 1000, Status.ERR)
    beside = Beside(board.numbers, board.judgement, board.life)
    subject, place = Subject("local", "billing"), (board.verdicts, 0)
    return DueMessage(subject, notice, place, owner="team-payments", beside=beside)


def message(*, decides: bool = True, event: Event = "open") -> Message:
    return compose([due(judged(decides=decides), event)])


def test_a_message_says_the_word_and_the_evidence() -> None:
    said = message()

    assert headline(said) == "billing has stopped (STOP)"
    assert evidence(said) == WHY
    assert [each.opinion.word for each in said.result.partitions] == ["STOP"]
    assert evidence(message(event="close")) == ""


def test_where_burrow_decides_messages_are_as_ever() -> None:
    said = message(decides=False)

    assert headline(said) == "billing has stopped, stalled or gone back (ERR)"
    assert evidence(said) == said.result.word == ""


def test_the_other_opinion_is_told_where_it_differs() -> None:
    board = judged()
    assert board.judgement is not None
    fine = np.full_like(board.judgement.burrow, Status.OK)

    said = compose([due(replace(board, judgement=replace(board.judgement, burrow=fine)))])

    assert evidence(said) == f"{WHY} Burrow's rules would say OK."


def test_a_word_that_only_a_policy_wants_told_is_bad_all_the_same() -> None:
    board = judged()
    assert board.judgement is not None
    words = np.array([Word.OK, Word.NEVER], np.uint8)
    never = replace(
        board.judgement,
        word=words,
        before=words,
        group_word=words[1:],
        pages=np.array([Status.WARN], np.uint8),
        alarm=np.array([Status.OK, Status.WARN], np.uint8),
    )
    status = np.array([Status.OK, Status.OK], np.uint8)
    partitions = replace(board.verdicts.partitions, status=status)
    groups = replace(board.verdicts.groups, status=status[1:])
    verdicts = replace(board.verdicts, partitions=partitions, groups=groups)

    said = compose([due(replace(board, verdicts=verdicts, judgement=never))])

    assert headline(said) == "billing has not committed anything yet (NEVER)"
    assert [each.partition for each in said.result.partitions] == [1]
    assert said.result.status is Status.WARN


def test_a_message_goes_to_the_owner_of_what_pages_and_speaks_of_that() -> None:
    """The word of the other partition is worse, but its policy does not page about it."""
    mirror = Policy("mirror", owner="team-mirror", pages=frozenset({"STALL"}), notify=("chat",))
    payments = Policy("payments", owner="team-payments", notify=("pager",))
    board = judged()
    assert board.judgement is not None
    words = np.array([Word.AHEAD, Word.STOP], np.uint8)
    policies = LinePolicies((mirror, payments), np.array([0, 1], np.int32))
    alarm = alarms(words, words, board.judgement.since_s, NOW_S, policies)
    said = replace(board.judgement, word=words, before=words, alarm=alarm)
    board = replace(board, judgement=said, policies=policies)

    route = Routing.on(board, Silences((), "local", NOW_S), NOW_S).of(0)
    sent = compose([due(board)])

    assert route.owner == "team-payments"
    assert [route.lets_open(each, 0) for each in ("pager", "chat")] == [True, False]
    assert headline(sent) == "billing has stopped (STOP)"
    assert evidence(sent).startswith("orders:1 is STOP")


def test_a_message_says_that_nobody_is_there_and_who_was_last() -> None:
    board = judged()
    life = GroupLife(
        **{name: np.zeros(1) for name in OF_GROUPS} | {"empty_since_s": np.array([SINCE_S + 5.0])},
        is_subscribed=np.zeros(2, np.uint8),
        has_left=np.zeros(2, np.bool_),
        last_owner=np.array([0, 1], np.int32),
        last_client=np.array([0, 2], np.int32),
    )
    verdicts = replace(board.verdicts, owners=("", "/10.0.0.1", "biller"))

    said = compose([due(replace(board, verdicts=verdicts, life=life))])

    assert evidence(said) == (
        f"{WHY} Its group has had no members since 2023-11-14T21:53:25Z. /10.0.0.1 (biller) read "
        "it last."
    )


def test_every_class_of_notifier_says_word_evidence_and_owner(tmp_path: Path) -> None:
    said, url = message(), "http://localhost/"
    slack = SlackNotifier(name="n", class_name="slack", webhook_url=Secret(url))
    alerts = AlertmanagerNotifier(name="n", class_name="alertmanager", url=url)

    text = SlackSender(slack, CONFIG).write(said).decode()
    ((alert, *_),) = map(json.loads, AlertmanagerSender(alerts, CONFIG).write(said))
    about = alert["annotations"]

    assert WHY in text
    assert "team-payments" in text
    assert "STOP   orders:1" in text
    assert WHY in about["description"]
    assert (about["status"], about["owner"]) == ("STOP", "team-payments")
    assert rendered(tmp_path, said) == (
        f"billing has stopped (STOP)|{WHY}|team-payments|STOP|STOP "
        f"{WHY.partition('Z. ')[2]} 22:04:20|60 from 40 to 100 <nil>|0"
    )


def rendered(folder: Path, said: Message) -> str:
    """By a template of class http."""
    (folder / "own.tmpl").write_text(OWN)
    name = str(folder / "own.tmpl")
    url = "http://localhost/"
    sender = HttpSender(HttpNotifier(name="n", class_name="http", url_open=url, template_open=name))
    return sender._body(said).decode()  # noqa: SLF001 - what it would send


def test_a_digest_has_words_and_owners() -> None:
    lines = compose([due(judged()), due(judged())]).digest

    assert [(line.word, line.owner) for line in lines] == [("STOP", "team-payments")] * 2
