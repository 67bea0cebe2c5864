"""Silences over HTTP: who may change them, and what wrong requests get."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.http_side import CONFIG, Running, ask, running

BODY = json.dumps({"groups": ["billing"], "duration": "1h", "author": "ann"})
PATH = "/v4/silences"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("open")) as server:
        yield server


def test_a_silence_is_added_listed_at_once_and_ended(open_to_all: Running) -> None:
    port = open_to_all.port
    assert ask(port, PATH).json["silences"] == []

    made = ask(port, PATH, "POST", BODY, JSON)
    number = made.json["silence"]["id"]

    assert made.status == 200
    assert "board" in made.json
    assert [each["id"] for each in ask(port, PATH).json["silences"]] == [number]
    assert ask(port, f"{PATH}/{number}", "DELETE").status == 200
    assert ask(port, PATH).json["silences"] == []
    assert ask(port, f"{PATH}/{number}", "DELETE").status == 404


@pytest.mark.parametrize(
    "body", ["", "[]", '{"groups": ["("], "duration": "1h"}', "\x00", "{" * 99]
)
def test_a_wrong_request_gets_its_mistakes_and_changes_nothing(
    open_to_all: Running, body: str
) -> None:
    refused = ask(open_to_all.port, PATH, "POST", body, JSON)

    assert refused.status == 400
    assert refused.json["error"] is True
    assert refused.json["message"] == "; ".join(refused.json["mistakes"])
    assert ask(open_to_all.port, PATH).json["silences"] == []


def test_an_enormous_request_is_refused(open_to_all: Running) -> None:
    assert ask(open_to_all.port, PATH, "POST", BODY + " " * 70_000, JSON).status == 413


def test_changes_need_the_write_token(tmp_path: Path) -> None:
    config = CONFIG.replace(
        "[httpserver.default]", '[httpserver.default]\nread-token = "r"\nwrite-token = "w"'
    )
    reader, writer = ({"authorization": f"Bearer {token}"} for token in "rw")
    with running(tmp_path, config) as server:
        answers = [
            ask(server.port, PATH).status,
            ask(server.port, PATH, headers=reader).status,
            ask(server.port, PATH, "POST", BODY, JSON).status,
            ask(server.port, PATH, "POST", BODY, JSON | reader).status,
            ask(server.port, PATH, "POST", BODY, JSON | writer).status,
            ask(server.port, f"{PATH}/x", "DELETE", headers=reader).status,
            ask(server.port, f"{PATH}/x", "DELETE", headers=writer).status,
        ]

    assert answers == [401, 200, 401, 401, 200, 401, 404]


def test_the_log_says_from_where_a_change_came_and_with_whose_token(tmp_path: Path) -> None:
    config = CONFIG.replace("[httpserver.default]", '[httpserver.default]\nwrite-token = "w"')
    writer = JSON | {"authorization": "Bearer w"}
    with running(tmp_path, config) as server, capture_logs() as lines:
        made = ask(server.port, PATH, "POST", BODY, writer).json["silence"]["id"]
        ask(server.port, f"{PATH}/{made}", "DELETE", headers=writer)

    told = [line for line in lines if line["event"].startswith("silence ")]
    assert [(line["event"], line["token"]) for line in told] == [
        ("silence added", "write"),
        ("silence ended", "write"),
    ]
    assert {line["address"].partition(":")[0] for line in told} == {"127.0.0.1"}


def test_where_nothing_may_change_silences_can_only_be_read(tmp_path: Path) -> None:
    config = CONFIG.replace("[httpserver.default]", "[httpserver.default]\nallow-writes = false")
    with running(tmp_path, config) as server:
        assert ask(server.port, PATH).status == 200
        assert ask(server.port, PATH, "POST", BODY, JSON).status == 403
