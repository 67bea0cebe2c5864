"""Whatever Warren does, putting a report returns at once, and what became of it is counted."""

import json
import logging
import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.servers.loopback import free_port
from support.waiting import eventually
from warren_listener.outbox import MOST_WAITING, Counts, Outbox
from warren_listener.progress_reports import Reporter

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


def taken(receiver: HttpReceiver) -> list[dict[str, Any]]:
    """All reports that were taken, in order."""
    return [each for got in receiver.got if got.status == 200 for each in json.loads(got.body)]


def read_to(reports: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    return {
        (topic, number): offset
        for each in reports
        for topic, partitions in each.get("offsets", {}).items()
        for number, offset in partitions.items()
    }


@pytest.mark.parametrize("largest", [2**20, 20_000, 4_000])
def test_each_failure_arrives_however_little_fits_into_a_request(largest: int) -> None:
    """Warren takes 1 MiB, and a proxy before it perhaps less."""
    reporter, text = Reporter(application="app"), "Ошибка: диск переполнен\n" * 1000
    with http_receiver() as warren, outbox(warren.url) as box:
        warren.largest = largest
        for number in range(120):
            failed = reporter.terminated(f"q{number}", "id", str(number), text, number)
            box.put(str(number), failed, lives=False)
        counts = counts_when(box, lambda counts: counts.sent == 120)

    assert (counts.refused, counts.dropped) == (0, 0)
    assert [each["group"] for each in taken(warren)] == [f"q{number}" for number in range(120)]
    assert all(each["query"]["error"].startswith("Ошибка") for each in taken(warren))


@pytest.mark.parametrize(
    "offsets",
    [
        {"orders": {str(number): number for number in range(25_000)}},
        {f"a-topic-with-a-long-name-{number:0100}": {"0": number} for number in range(8_900)},
    ],
    ids=["partitions", "topics"],
)
def test_a_query_with_very_many_partitions_is_reported_in_parts(
    offsets: dict[str, dict[str, int]],
) -> None:
    with http_receiver() as warren, outbox(warren.url) as box:
        warren.largest = 2**20
        box.put("run", {**report(1), "offsets": offsets, "complete": True}, lives=True)
        eventually(lambda: len(read_to(taken(warren))), len(read_to([{"offsets": offsets}])))

    parts = taken(warren)
    assert read_to(parts) == read_to([{"offsets": offsets}])
    assert [got.status for got in warren.got] == [200] * len(parts)
    assert max(len(read_to([part])) for part in parts) <= 10_000
    assert not any(part["complete"] for part in parts)


def test_what_can_be_no_smaller_is_refused() -> None:
    with http_receiver() as warren, outbox(warren.url) as box:
        warren.largest = 10
        put(box, 0, 2)

        counts = counts_when(box, lambda counts: counts.refused == 2)

    assert counts.problem == "Warren answers 413: "


def test_a_report_says_when_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warren_listener.outbox.time.time", lambda: 1e9)
    with http_receiver() as warren, outbox(warren.url) as box:
        put(box, 1, 2)
        counts_when(box, lambda counts: counts.sent)

    assert [(each["time"], each["sent"]) for each in taken(warren)] == [(1, 10**12)]


@contextmanager
def trickling() -> Iterator[str]:
    """A server whose answer never comes to its end, though something comes all the time."""
    is_over = threading.Event()

    def serve() -> None:
        client, _ = server.accept()
        with client, suppress(OSError):
            client.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not is_over.wait(0.05):
                client.sendall(b"a")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            is_over.set()
            thread.join()


def test_a_warren_that_trickles_is_given_up_in_time() -> None:
    with trickling() as url, outbox(url, timeout_s=0.3) as box:
        put(box, 0, 1)

        counts = counts_when(box, lambda counts: counts.problem)

    assert counts.problem.endswith("timed out")


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, 86_401])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    why = " is .*; it must be over 0 and at most 86400"
    with pytest.raises(ValueError, match=f"timeout_s{why}"):
        Outbox("http://warren", timeout_s=seconds)
    with pytest.raises(ValueError, match=f"every_s{why}"):
        Outbox("http://warren", every_s=seconds)


@pytest.mark.parametrize("url", ["warren:8000", "ftp://warren", "http://", "", "http://[::1"])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Outbox(url)
