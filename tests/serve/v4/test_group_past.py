"""Requests for history: which are passed on to the pipeline's process, and what comes back."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Actions, Running, ask, running
from support.waiting import eventually

from warren.model.history_question import HistoryQuestion
from warren.model.period import Period

ENDS = {"orders": [100]}
COMMITS = [("billing", "orders", 0, 90, NOW_S * 1000)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("history"), CONFIG + "[history]\n") as started:
        yield started


def test_without_the_section_there_is_none(tmp_path: Path) -> None:
    with running(tmp_path) as started:
        answer = ask(started.port, "/v4/history?cluster=local&group=billing")

    assert answer.status == 404
    assert "[history]" in answer.json["message"]


def test_what_the_pipeline_says_is_passed_on(server: Running) -> None:
    query = "cluster=local&group=bil%2Fling&since=1700000000000&until=2023-11-15&partitions=7"
    answer = ask(server.port, f"/v4/history?{query}")

    assert (answer.status, answer.json["message"]) == (503, "Spark is not up yet")
    assert server.actions.asked[-1] == HistoryQuestion(
        "local", "bil/ling", Period(1700000000000, 1700006400000), partitions=7
    )


def test_history_that_fails_is_a_line_of_the_log_with_its_path(tmp_path: Path) -> None:
    class Failing(Actions):
        def group_history(self, question: HistoryQuestion) -> str:
            super().group_history(question)
            return '{"code": 500, "answer": {"error": true, "message": "the table is damaged"}}'

    with running(tmp_path, CONFIG + "[history]\n", Failing()) as failing, capture_logs() as logged:
        answer = ask(failing.port, "/v4/history?cluster=local&group=billing")
        eventually(lambda: len(logged), 1)

    assert (answer.status, answer.json["message"]) == (500, "the table is damaged")
    assert [(line["log_level"], line["path"]) for line in logged] == [
        ("error", "/v4/history?cluster=local&group=billing")
    ]


def test_others_are_answered_while_spark_works(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    class Slow(Actions):
        def group_history(self, _question: HistoryQuestion) -> str:
            asked.set()
            go_on.wait(20)
            return '{"code":404,"answer":{"error":true,"message":"nothing is kept"}}'

    with running(tmp_path, CONFIG + "[history]\n", Slow()) as started, ThreadPoolExecutor() as pool:
        path = "/v4/history?cluster=local&group=billing"
        waiting = [pool.submit(ask, started.port, path) for _ in range(3)]
        assert asked.wait(20)
        others = {ask(started.port, "/v4/groups").status for _ in range(10)}
        go_on.set()
        told = {each.result(20).status for each in waiting}

    assert (others, told) == ({200}, {404})


def test_changes_and_recent_hours_do_not_wait_behind_slow_history(tmp_path: Path) -> None:
    go_on = threading.Event()
    asked = threading.Semaphore(0)

    class Slow(Actions):
        def recent_history(self, question: HistoryQuestion) -> str:
            told = '{"code":200,"answer":{"moments":1}}'
            return told if question.group == "recent" else ""

        def group_history(self, _question: HistoryQuestion) -> str:
            asked.release()
            go_on.wait(60)
            return '{"code":404,"answer":{"error":true,"message":"nothing is kept"}}'

    path = "/v4/history?cluster=local&group="
    with (
        running(tmp_path, CONFIG + "[history]\n", Slow()) as started,
        ThreadPoolExecutor(24) as pool,
    ):
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
        waiting = [pool.submit(ask, started.port, f"{path}old") for _ in range(20)]
        for _ in range(4):  # all that one worker passes on at a time
            assert asked.acquire(timeout=20)
        try:
            deleted = [
                ask(started.port, "/v3/kafka/local/consumer/billing", "DELETE").status
                for _ in range(6)
            ]
            recent = {ask(started.port, f"{path}recent").status for _ in range(6)}
        finally:
            go_on.set()
        told = {each.result(60).status for each in waiting}

    assert (deleted, recent, told) == ([200] * 6, {200}, {404})


def test_what_cannot_be_meant_is_refused(server: Running) -> None:
    cases = {
        "cluster=other&group=g": 404,
        "cluster=local": 400,
        "cluster=local&group=g&since=soon": 400,
        "cluster=local&group=g&since=1h&until=2h": 400,
        "cluster=local&group=g&partitions=-1": 400,
    }

    wrong = {
        query: answer.status
        for query, expected in cases.items()
        if (answer := ask(server.port, f"/v4/history?{query}")).status != expected
    }

    assert wrong == {}
