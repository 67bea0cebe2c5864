"""Messages on their way: in order, again after failures, in digests when they are too many."""

import weakref
from collections.abc import Mapping

import pytest
from notify.receiver import Receiver, running
from notify.sample_verdicts import statuses
from support.waiting import eventually

from warren.errors import SendFailed
from warren.model.status import Status
from warren.notify.delivery import LAST_PAUSE_S, Delivery, MessagePace
from warren.notify.due_message import DueMessage
from warren.notify.incidents import Notice
from warren.notify.message import Event, Subject

DOWN = SendFailed("connection refused", retry=True)
WRONG = SendFailed("401 Unauthorized", retry=False)


def wanted(
    groups: str | list[str], *events: Event, cluster: str = "local"
) -> dict[Subject, list[DueMessage]]:
    """What a round asks for; `wanted("g", "close", "open")` is a close, then a new opening."""
    names = [groups] if isinstance(groups, str) else groups
    verdicts = statuses(dict.fromkeys(names, Status.ERR))
    return {
        subject: [
            DueMessage(
                subject, Notice("m", event, f"{event}-{name}", 1, 2, Status.ERR), (verdicts, at)
            )
            for event in events
        ]
        for at, name in enumerate(names)
        for subject in [Subject(cluster, name)]
    }


def delivery(receiver: Receiver, max_per_minute: int = 0) -> Delivery:
    return Delivery("m", receiver, max_per_minute, lambda: True, lambda: None)


def outcomes(delivery: Delivery) -> dict[str, int]:
    counted = delivery.health().outcomes
    assert isinstance(counted, Mapping)
    return {outcome: count for outcome, count in counted.items() if count}


def test_messages_come_in_the_order_they_were_asked_for() -> None:
    receiver = Receiver()
    module = delivery(receiver)
    module.update("local", wanted("a", "close", "open") | wanted("b", "open"))

    with running(module):
        eventually(lambda: len(receiver.got) == 3)

    assert [each for each in receiver.heard if each.endswith(" a")] == ["close a", "open a"]
    assert receiver.heard[0] == "close a"
    assert outcomes(module) == {"sent": 3}
    assert len(module.take_delivered()) == 3
    assert module.take_delivered() == []


def test_what_fails_is_sent_again_until_it_is_taken() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: receiver.attempts == 1)
        assert module.take_delivered() == []
        receiver.refusal = None
        eventually(lambda: receiver.heard == ["open a"])

    assert outcomes(module) == {"sent": 1, "failed": 1, "retried": 1}
    assert module.problem == ""


def test_retries_wait_longer_each_time() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: receiver.attempts == 2)
        eventually(lambda: outcomes(module).get("failed") == 2)
        assert receiver.attempts == 2  # the third is a second away at least

    assert module.problem == "connection refused"


def test_what_cannot_work_is_dropped_until_a_round_asks_again() -> None:
    receiver = Receiver(WRONG)
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: outcomes(module).get("dropped") == 1)
        receiver.refusal = None
        module.update("local", wanted("a", "open"))
        eventually(lambda: receiver.heard == ["open a"])

    assert outcomes(module) == {"sent": 1, "failed": 1, "dropped": 1}


def test_a_group_that_recovered_before_anybody_heard_of_it_is_not_mentioned() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: receiver.attempts == 1)
        module.update("local", {})
        receiver.refusal = None
        module.update("local", wanted("b", "open"))
        eventually(lambda: receiver.heard == ["open b"])

    assert outcomes(module) == {"sent": 1, "failed": 1, "superseded": 1}


def test_a_round_leaves_alone_what_other_clusters_wait_to_tell() -> None:
    receiver = Receiver()
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))
    module.update("remote", wanted("b", "open", cluster="remote"))
    module.update("remote", {})

    with running(module):
        eventually(lambda: receiver.heard == ["open a"])


def test_a_round_while_a_message_is_on_its_way_does_not_send_it_twice() -> None:
    receiver = Receiver()
    receiver.answers.clear()
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: receiver.attempts == 1)
        module.update("local", wanted("a", "open"))
        receiver.answers.set()
        eventually(lambda: receiver.heard == ["open a"])
        module.update("local", wanted("a", "open"))  # the round did not know yet
        module.update("remote", wanted("b", "open", cluster="remote"))
        eventually(lambda: len(receiver.got) == 2)

    assert receiver.heard == ["open a", "open b"]


def test_a_receiver_that_hangs_delays_nobody_else() -> None:
    hanging, quick = Receiver(), Receiver()
    hanging.answers.clear()
    modules = [delivery(hanging), delivery(quick)]
    for module in modules:
        module.update("local", wanted("a", "open") | wanted("b", "open"))

    with running(*modules):
        eventually(lambda: hanging.attempts == 1 and len(quick.got) == 2)
        assert hanging.got == []
        hanging.answers.set()


def test_who_may_not_send_does_not() -> None:
    receiver, leads = Receiver(), [False]
    module = Delivery("m", receiver, 0, lambda: leads[0], lambda: None)
    module.update("local", wanted("a", "open"))

    with running(module):
        module.clear()
        leads[0] = True
        module.update("local", wanted("b", "open"))
        eventually(lambda: len(receiver.got) == 1)

    assert receiver.heard == ["open b"]


def many(count: int, *events: Event) -> dict[Subject, list[DueMessage]]:
    return wanted([f"group-{n:05}" for n in range(count)], *events)


def test_ten_thousand_groups_at_once_are_a_few_messages_and_a_digest() -> None:
    receiver = Receiver()
    module = delivery(receiver, max_per_minute=20)
    module.update("local", many(10_000, "open"))

    with running(module):
        eventually(lambda: not module.health().queued)

    *single, digest = receiver.got
    told = [each.group for each in single] + [line.group for line in digest.digest]
    assert len(single) == 18
    assert sorted(told) == [f"group-{n:05}" for n in range(10_000)]
    assert digest.result.status == Status.ERR
    assert digest.result.total_lag == 9_982 * 30
    assert outcomes(module) == {"sent": 19, "digested": 9_982}
    assert len(module.take_delivered()) == 10_000


def test_openings_and_closes_have_a_digest_each() -> None:
    receiver = Receiver()
    module = delivery(receiver, max_per_minute=2)
    module.update("local", many(5, "close", "open"))

    with running(module):
        eventually(lambda: len(receiver.got) == 2)

    assert [(each.event, len(each.digest)) for each in receiver.got] == [("close", 5), ("open", 5)]


def test_a_digest_that_fails_is_sent_again_whole() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver, max_per_minute=2)
    module.update("local", many(100, "open"))

    with running(module):
        eventually(lambda: receiver.attempts == 1)
        receiver.refusal = None
        eventually(lambda: not module.health().queued)

    assert [len(each.digest) for each in receiver.got] == [100]


def test_when_the_minute_is_used_up_the_rest_waits() -> None:
    receiver = Receiver()
    module = delivery(receiver, max_per_minute=1)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: receiver.heard == ["open a"])
        module.update("local", wanted("b", "open"))
        eventually(lambda: module.health().queued == 1)

    assert receiver.heard == ["open a"]


def test_a_close_that_waits_holds_on_to_what_it_says_and_no_more() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver)
    closes = wanted(["a", "b"], "close")
    place = next(iter(closes.values()))[0].place
    assert isinstance(place, tuple)
    verdicts = weakref.ref(place[0])
    module.update("local", closes)
    del closes, place

    assert verdicts() is None
    receiver.refusal = None
    with running(module):
        eventually(lambda: len(receiver.got) == 2)
    assert [each.result.total_lag for each in receiver.got] == [30, 30]


def test_what_a_receiver_took_before_the_lead_was_lost_is_told_apart() -> None:
    receiver = Receiver()
    module = delivery(receiver)
    module.update("local", wanted("a", "open"))

    with running(module):
        eventually(lambda: len(receiver.got) == 1)
        receiver.answers.clear()
        module.update("local", wanted("b", "open"))
        eventually(lambda: receiver.attempts == 2)
        module.clear()
        module.stop_leading()
        receiver.answers.set()
        eventually(lambda: len(receiver.got) == 2)
        module.wait_for_answer(5)
        module.update("local", wanted("c", "open"))
        eventually(lambda: len(receiver.got) == 3)
        module.wait_for_answer(5)

    assert [each.subject.group for each in module.take_from_last_lead()] == ["a", "b"]
    assert [each.subject.group for each in module.take_delivered()] == ["c"]


def test_what_cannot_be_in_a_digest_comes_one_by_one_at_the_rate_there_is() -> None:
    receiver = Receiver()
    receiver.singly = {"close"}
    module = delivery(receiver, max_per_minute=4)
    closing = many(10, "close")
    module.update("local", closing)

    with running(module):
        eventually(lambda: len(receiver.got) == 4)
        eventually(lambda: module.health().queued == 6)

    assert [len(each.digest) for each in receiver.got] == [0] * 4
    assert len({each.group for each in receiver.got}) == 4


@pytest.mark.parametrize("by_id", [False, True])
def test_closes_that_are_refused_hold_back_no_opening(by_id: bool) -> None:  # noqa: FBT001  a case
    """Thirty that fail, one after the other, were minutes; of its own group no less."""
    receiver = Receiver(DOWN)
    receiver.refuses, receiver.by_id = {"close"}, by_id
    module = delivery(receiver)
    closes, again = many(30, "close"), wanted("group-00007", "close", "open")
    module.update("local", closes)

    with running(module):
        eventually(lambda: outcomes(module).get("failed", 0) >= 3)
        module.update("local", closes | again | wanted("other", "open"))
        eventually(lambda: {"open other", "open group-00007"} <= {*receiver.heard})
        assert module.problem == "connection refused"  # the closes still wait
        module.update("local", closes | again)  # by a round that does not know of it yet
        receiver.refusal = None
        eventually(lambda: not module.health().queued)

    assert ("close group-00007" in receiver.heard) == by_id
    assert len(receiver.heard) == 2 + 29 + by_id
    assert module.problem == ""


def test_a_close_comes_before_the_opening_if_it_is_taken_after_all() -> None:
    receiver = Receiver(DOWN)
    module = delivery(receiver)
    module.update("local", wanted("a", "close"))

    with running(module):
        eventually(lambda: outcomes(module).get("failed", 0) == 2)
        receiver.refusal = None
        module.update("local", wanted("a", "close", "open"))
        eventually(lambda: len(receiver.got) == 2)

    assert receiver.heard == ["close a", "open a"]


def test_a_receiver_that_is_down_is_not_asked_for_every_message() -> None:
    """One message that fails again and again slows down no other; different ones in a row do."""
    pauses = {}
    for name, messages in {"the same": [0] * 20, "different": range(20)}.items():
        pace = MessagePace()
        for number in messages:
            pace.slow_down((Subject("local", str(number)), "open", ""), 0)
        pauses[name] = pace.resume_s
    pace.reset()

    assert pauses["the same"] == 0
    assert LAST_PAUSE_S / 2 <= pauses["different"] <= LAST_PAUSE_S
    assert pace.resume_s == 0


def test_what_is_refused_uses_up_nothing_of_the_minute() -> None:
    receiver = Receiver(DOWN)
    receiver.refuses = {"close"}
    module = delivery(receiver, max_per_minute=1)
    module.update("local", wanted("a", "close"))

    with running(module):
        eventually(lambda: outcomes(module).get("failed", 0) == 1)
        module.update("local", wanted("a", "close") | wanted("b", "open"))
        eventually(lambda: receiver.heard == ["open b"])
