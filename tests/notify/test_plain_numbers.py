"""What messages say of numbers, and that they say nothing of what is not known."""

from typing import Any

import msgspec
import numpy as np
from notify.sample_verdicts import NOW_MS, Part, verdicts_of
from support.some_numbers import NAN, NEVER, Given, some_numbers

from warren.model.numbers import UNKNOWN, Method
from warren.model.status import Status
from warren.notify import plain_numbers
from warren.notify.due_message import Beside, DueMessage, compose, group_result
from warren.notify.incidents import Notice
from warren.notify.message import NOT_KNOWN, Measures, Message, Subject
from warren.notify.sample import sample, sample_digest, sample_gone
from warren.notify.wording import digest_line, partition_line

MINUTES: dict[str, Any] = {"age_s": 725.0, "age_low_s": 700.0, "age_high_s": 745.0}


def said(**given: Any) -> str:
    message = sample("open", NOW_MS)
    result = msgspec.structs.replace(message.result, numbers=Measures(**given))
    return plain_numbers.waiting(msgspec.structs.replace(message, result=result))


def test_one_sentence_says_what_is_known() -> None:
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "nothing is known": ({}, ""),
        "nothing is unread": (
            {"lag": 0, "age_s": 0.0, "drain_low_s": 0.0, "drain_high_s": 0.0},
            "",
        ),
        "everything": (
            {**MINUTES, "lag": 2808, "lag_low": 2700, "lag_high": 2900}
            | {"drain_low_s": 241.0, "drain_high_s": 349.0, "margin_s": 7300.0, "lost": 12},
            (
                "The oldest unread message is 12 min old (11 to 13), 2,808 wait (2,700 to 2,900), "
                "at this pace read in 4 to 6 min, retention takes it in 2 h, 12 were lost unread "
                "to retention"
            ),
        ),
        "exactly": (
            {"age_s": 30.0, "age_low_s": 30.0, "age_high_s": 30.0, "lag": 1, "lag_low": 1}
            | {"lag_high": 1, "drain_low_s": 60.0, "drain_high_s": 60.0, "lost": 1},
            (
                "The oldest unread message is 30 s old, 1 waits, at this pace read in 60 s, 1 was "
                "lost unread to retention"
            ),
        ),
        "only the lag": ({"lag": 7}, "7 wait"),
        "never": (
            {"lag": 7, "drain_low_s": NEVER, "drain_high_s": NEVER},
            "7 wait, at this pace never read",
        ),
        "perhaps never": (
            {"lag": 7, "drain_low_s": 3 * 3600.0, "drain_high_s": NEVER},
            "7 wait, at this pace read in 3 h at best, perhaps never",
        ),
        "older than what is remembered": (
            {"age_s": 9 * 86_400.0, "age_low_s": 9 * 86_400.0, "age_high_s": NEVER},
            "The oldest unread message is 9 days old (at least 9)",
        ),
        "a guess without an end": (
            {"age_s": NEVER, "age_low_s": 7200.0, "age_high_s": NEVER},
            "The oldest unread message is at least 2 h old",
        ),
        "by a producer's clock": (
            {**MINUTES, "age_method": "by_clock"},
            "The oldest unread message is 12 min old (11 to 13, by its timestamp)",
        ),
        "retention is far away": ({"lag": 7, "margin_s": 5 * 86_400.0}, "7 wait"),
        "retention is faster than the group": (
            {"lag": 7, "drain_low_s": 8 * 86_400.0, "drain_high_s": NEVER}
            | {"margin_s": 5 * 86_400.0},
            (
                "7 wait, at this pace read in 8 days at best, perhaps never, retention takes it in "
                "5 days"
            ),
        ),
        "nothing is ever lost": ({"lag": 7, "margin_s": NEVER, "lost": 0}, "7 wait"),
        "its offsets expire": (
            {"lag": 7, "offsets_expire_s": 72_000.0},
            "7 wait, the brokers forget its offsets in 20 h",
        ),
        "its offsets stay for a while": ({"lag": 7, "offsets_expire_s": 172_800.0}, "7 wait"),
        "its offsets stay": ({"lag": 7, "offsets_expire_s": NEVER}, "7 wait"),
        "absurd": (
            {"lag": 2**63 - 1, "age_s": 8.64e37, "age_low_s": 0.0},
            (
                f"The oldest unread message is {round(8.64e37 / 86_400):,} days old (at least 0), "
                "9,223,372,036,854,775,807 wait"
            ),
        ),
    }

    found = {name: (said(**given), text) for name, (given, text) in cases.items()}

    assert {name: text for name, (text, expected) in found.items() if text != expected} == {}


def test_a_group_that_is_well_or_gone_and_a_digest_have_no_sentence() -> None:
    messages = (sample("close", NOW_MS), sample_gone(NOW_MS), sample_digest("open", NOW_MS))

    assert [plain_numbers.waiting(message) for message in messages] == ["", "", ""]


def test_a_message_has_the_numbers_of_its_group_and_partitions() -> None:
    verdicts = verdicts_of({"a": [Part()], "b": [Part(Status.STOP, 5), Part(Status.WARN, 7)]})
    numbers = some_numbers(
        verdicts,
        {"lag": [0, 5, 7], "age_s": [0, 61, NAN], "age_method": [0, 1, 3], "lost": [0, 2, UNKNOWN]},
        {"lag": [0, 12], "margin_s": [NEVER, 60], "age_s": [0, 61], "age_method": [0, 1]},
    )
    notice = Notice("m", "open", "id", 1, 2, Status.ERR)
    due = DueMessage(Subject("local", "b"), notice, (verdicts, 1), beside=Beside(numbers))

    result = due.message().result

    assert result.numbers == Measures(lag=12, margin_s=60.0, age_s=61.0, age_method="by_ends")
    assert [each.numbers for each in result.partitions] == [
        Measures(lag=5, age_s=61.0, age_method="by_ends", lost=2),
        Measures(lag=7),
    ]
    assert due.with_result().beside.numbers is None
    assert due.with_result().message().result == result
    assert compose([due, due]).digest[0].numbers == result.numbers
    assert group_result("local", verdicts, 1).numbers == NOT_KNOWN


def test_lines_say_how_old_the_oldest_is_if_that_is_known() -> None:
    message: Message = sample("open", NOW_MS)
    partition = message.result.partitions[0]
    line = sample_digest("open", NOW_MS).digest[0]

    assert partition_line(partition) == (
        "STOP   sample-topic:1  lag 4,200, oldest 10 min old (10 to 11)  sample-client"
    )
    unknown = msgspec.structs.replace(partition, numbers=NOT_KNOWN)
    assert partition_line(unknown) == "STOP   sample-topic:1  lag 4,200  sample-client"
    assert "oldest" not in digest_line(line)
    old = msgspec.structs.replace(line, numbers=Measures(**MINUTES))
    assert "lag 5,500, oldest 12 min old (11 to 13), since" in digest_line(old)


def test_numbers_of_a_board_are_plain_numbers_for_templates() -> None:
    verdicts = verdicts_of({"a": [Part(Status.STOP, 5)]})
    given: Given = {"age_s": [0.1], "drain_low_s": [NEVER], "age_method": [Method.BY_CLOCK]}

    group = group_result("local", verdicts, 0, Beside(some_numbers(verdicts, {}, given)))

    assert msgspec.structs.asdict(group.numbers) == {
        **dict.fromkeys(Measures.__struct_fields__),
        "age_s": 0.1,  # not 0.10000000149011612
        "drain_low_s": NEVER,
        "age_method": "by_clock",
    }
    assert not isinstance(group.numbers.age_s, np.floating)
