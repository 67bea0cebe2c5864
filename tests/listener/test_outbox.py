"""Whatever Warren does, putting a report returns at once, and what became of it is counted."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.servers.loopback import free_port
from support.waiting import eventually
from warren_listener.outbox import MOST_WAITING, Counts, Outbox

OFFSETS = {"orders": {"0": 1}}


def report(number: int) -> dict[str, Any]:
    return {"group": "g", "time": number, "offsets": OFFSETS, "query": {"id": "q"}}


@contextmanager
def outbox(
    url: str, token: str = "", timeout_s: float = 2.0, every_s: float = 30.0
) -> Iterator[Outbox]:
    made = Outbox(url, token, timeout_s=timeout_s, every_s=every_s)
    made.start()
    try:
        yield made
    finally:
        made.stop()


def put(into: Outbox, first: int, last: int) -> None:
    for number in range(first, last):
        into.put(f"run-{number}", report(number), lives=False)


def counts_when(box: Outbox, is_so: Callable[[Counts], object]) -> Counts:
    """The counts as soon as they are so."""
    seen = eventually(lambda: next((each for each in [box.counts] if is_so(each)), None))
    assert seen is not None
    return seen


def times(receiver: HttpReceiver) -> list[int]:
    return [
        each["time"] for got in receiver.got if got.status == 200 for each in json.loads(got.body)
    ]


def test_reports_are_sent_in_order_with_the_token() -> None:
    with http_receiver() as warren, outbox(warren.url + "/", "secret") as box:
        put(box, 0, 250)
        eventually(lambda: box.counts.sent, 250)

    first = warren.got[0]
    assert (first.method, first.path) == ("POST", "/v4/offsets")
    assert first.headers["authorization"] == "Bearer secret"
    assert first.headers["content-type"] == "application/json"
    assert times(warren) == [*range(250)]
    assert len(warren.got) <= 250


def test_a_warren_that_hangs_holds_nobody_up_and_drops_are_counted() -> None:
    with http_receiver() as warren, outbox(warren.url, timeout_s=0.2) as box:
        warren.may_answer.clear()
        put(box, 0, 1)
        eventually(lambda: warren.got)

        put(box, 1, 2 * MOST_WAITING)  # returns though nothing is answered

        seen = counts_when(box, lambda counts: counts.problem)
        assert (seen.sent, seen.refused) == (0, 0)
        assert seen.dropped >= MOST_WAITING - 100
        assert seen.waiting <= MOST_WAITING
        assert "timed out" in seen.problem


def test_after_a_failure_the_newest_reports_are_sent_and_the_oldest_are_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    total = MOST_WAITING + 500
    with http_receiver() as warren, outbox(warren.url) as box:
        warren.status = 500
        put(box, 0, 1)
        eventually(lambda: box.counts.problem, "Warren answers 500")
        put(box, 1, total)

        warren.status = 200
        seen = counts_when(box, lambda counts: not counts.problem and not counts.waiting)

    assert seen.dropped >= total - MOST_WAITING - 100  # a request was on its way
    assert seen.sent == total - seen.dropped
    assert times(warren) == [*range(seen.dropped, total)]
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert "Warren answers 500; the job goes on" in warnings
    assert f"Warren takes reports again; {seen.dropped} were dropped so far" in warnings


def test_a_warren_that_is_not_there_is_no_harm() -> None:
    with outbox(f"http://127.0.0.1:{free_port()}") as box:
        put(box, 0, 5)

        seen = eventually(lambda: box.counts.problem)

    assert "refused" in seen


def test_what_warren_refuses_is_not_sent_again() -> None:
    part = {"error": True, "message": "1 refused", "refused": [{"item": 0, "why": "no"}]}
    cases = {
        (403, b'{"message": "this token may not report offsets"}'): "403: this token may not",
        (401, b"what?"): "Warren answers 401: ",
        (413, b""): "Warren answers 413: ",
        (400, json.dumps(part).encode()): "Warren answers 400: 1 refused",
    }
    with http_receiver() as warren, outbox(warren.url) as box:
        told = {}
        for refused, ((warren.status, warren.answer), why) in enumerate(cases.items(), 1):
            put(box, 0, 1)
            eventually(lambda: box.counts.refused, refused)
            told[why] = box.counts.problem

        assert [why for why, problem in told.items() if why not in problem] == []
        assert box.counts.waiting == 0
        assert len(warren.got) == len(cases)


def test_a_redirect_is_not_followed_so_the_token_goes_nowhere_else() -> None:
    with http_receiver() as other, http_receiver() as warren, outbox(warren.url, "secret") as box:
        warren.location = f"{other.url}/v4/offsets"
        put(box, 0, 1)

        assert "307" in eventually(lambda: box.counts.problem)
        assert other.got == []


def test_a_query_that_lives_is_repeated_and_one_that_has_ended_is_not() -> None:
    with http_receiver() as warren, outbox(warren.url, every_s=0.05) as box:
        box.put("living", report(1), lives=True)
        box.put("ended", report(2), lives=True)
        box.put("ended", report(3), lives=False)
        eventually(lambda: len(times(warren)) >= 7)

    sent = [each for got in warren.got for each in json.loads(got.body)]
    offsets, alive = sent[3], sent[4]
    assert [each["time"] for each in sent[:3]] == [1, 2, 3]
    assert (offsets["time"], offsets["offsets"], offsets["query"]) == (1, OFFSETS, None)
    assert alive["time"] > 10**12
    assert "offsets" not in alive
    assert alive["query"] == {"id": "q"}
    assert [each for each in sent[3:] if each["time"] in {2, 3}] == []


@pytest.mark.parametrize("url", ["warren:8000", "ftp://warren", "http://", "", "http://[::1"])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Outbox(url)
