"""What /v4, the page and the terminal say of a query behind a group."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from support.boards import board
from support.command_line import ask, of
from support.http_side import Running, running
from support.http_side import ask as get
from support.reported import NOW_MS, NOW_S, consumer, judged, news, report

from warren.evaluate.judge import JudgeSettings
from warren.model.query_facts import QueryFacts
from warren.pipeline.reported_offsets import ReportCheck
from warren.serve.v4.query_words import about

MINUTE_MS = 60_000
BOOM = "[BOOM] <b>the target</b> is full"


@pytest.fixture(scope="module", params=[False, True], ids=["caching", "warren"])
def server(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A job that failed, one that lives, and a program that says nothing but offsets."""
    jobs = consumer()
    ended = news(has_ended=True, error=BOOM)
    orders = [("orders", 0, 40), ("orders", 1, 100)]
    ReportCheck([jobs]).take(
        [
            report(*orders, group="failed", query=news(), at_ms=NOW_MS - 2 * MINUTE_MS),
            report(group="failed", query=ended, at_ms=NOW_MS - MINUTE_MS),
            report(*orders, group="living", query=news()),
            report(*orders, group="plain"),
        ]
    )
    jobs.fold(jobs.collect())
    with running(tmp_path_factory.mktemp("queries")) as started:
        started.publish(board(local=judged(jobs, JudgeSettings(says_words=request.param))))
        yield started


def group(server: Running, name: str, path: str = "/v4/group") -> Any:
    return get(server.port, f"{path}?cluster=local&group={quote(name)}").json


def test_a_group_has_its_query_and_the_same_in_sentences(server: Running) -> None:
    failed, living, plain = (group(server, each) for each in ("failed", "living", "plain"))

    assert failed["query"]["ended_ms"] == NOW_MS - MINUTE_MS
    assert (failed["query"]["error"], failed["query"]["batch"]) == (BOOM, 7)
    assert failed["about_query"] == [
        "Its offsets come from the listener in its job, application app.",
        "The query: name q, id i, run 1.",
        "Batch 7 began 0 s ago.",
        f"It failed 60 s ago: {BOOM}.",
    ]
    assert living["about_query"][-1] == "Batch 7 began 0 s ago."
    assert plain["about_query"] == ["Its offsets come from reports over HTTP."]


def test_stop_is_explained_by_the_end_of_the_query(server: Running) -> None:
    explained = group(server, "failed", "/v4/explain")
    (reason,) = explained["reasons"]

    assert (explained["status"], reason["status"], reason["partition"]) == ("ERR", "STOP", 0)
    assert reason["why"] == f"Its query failed 60 s ago: {BOOM}; 60 messages wait."
    assert reason["change"] == "A new run that goes on reading ends STOP."
    assert all(
        each["status"] != "STOP" for each in group(server, "living", "/v4/explain")["reasons"]
    )


def test_the_terminal_says_it_too(server: Running) -> None:
    told = " ".join(ask("lag", "failed", "--url", of(server)).stdout.split())

    assert f"Its query failed 60 s ago: {BOOM}; 60 messages wait." in told
    assert "Its offsets come from the listener in its job, application app." in told


FACTS = QueryFacts(
    origin="checkpoint",
    place="file:/checkpoints/orders",
    id="i",
    seen_ms=NOW_MS,
    batch=1234,
    triggered_ms=NOW_MS - 90_000,
    batch_ms=1500,
    input_rate=1200.4,
    processed_rate=3000.0,
    state_rows=10_000,
    restarts=3,
)
TOLD: dict[str, dict[str, Any]] = {
    "Its offsets come from its checkpoint at file:/checkpoints/orders.": {},
    "The query: id i; it was restarted 3 times.": {},
    "The query: id i; it was restarted once.": {"restarts": 1},
    "Batch 1,234 began 90 s ago and took 1.5 s; 1,200 records a second arrived, it read 3,000 a "
    "second, its state has 10,000 rows.": {},
    "It ended 5 min ago, without an error.": {"ended_ms": NOW_MS - 5 * MINUTE_MS},
    "Its last error, 2 h ago: boom": {"error": "boom", "error_ms": NOW_MS - 120 * MINUTE_MS},
    "It reported last 10 min ago, and it would every 30 s if it ran.": {
        "every_s": 30.0,
        "seen_ms": NOW_MS - 10 * MINUTE_MS,
    },
}


def test_every_sentence() -> None:
    told = {
        wanted: about(msgspec.structs.replace(FACTS, **changes), NOW_S * 1000)
        for wanted, changes in TOLD.items()
    }

    assert {wanted: said for wanted, said in told.items() if wanted not in said} == {}
