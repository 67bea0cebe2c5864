"""Silences over HTTP: who may change them, and what wrong requests get."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.boards import NOW_S, board, cluster_board, windows_of
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


def test_the_groups_that_are_silenced_now_are_listed(tmp_path: Path) -> None:
    commits = [(group, "orders", 0, 5, NOW_S * 1000) for group in ("audit", "bill.1", "bill-1")]
    ends: dict[str, list[int | None]] = {"orders": [9]}
    silences: list[dict[str, object]] = [
        {"groups": ["bill\\.1"], "kind": "acknowledgement", "author": "ann"},
        {"groups": ["bill.*"], "clusters": ["elsewhere"]},
        {"groups": ["audit"], "begin": "2100-01-01T00:00:00Z"},
        {"groups": ["bill-1"], "owners": ["team"]},
    ]
    with running(tmp_path) as server:
        server.publish(board(local=cluster_board(windows_of(ends, commits), ends)))
        for silence in silences:
            ask(server.port, PATH, "POST", json.dumps(silence | {"duration": "1h"}), JSON)
        answer = ask(server.port, f"{PATH}?groups=true").json
        plain = ask(server.port, PATH).json

    kinds = [each["kind"] for each in answer["silences"]]
    first = answer["silences"][0]["id"]
    assert kinds == ["acknowledgement", "silence", "silence", "silence"]
    assert answer["groups"] == [{"cluster": "local", "group": "bill.1", "silence": first}]
    assert "groups" not in plain


@pytest.mark.parametrize(
    "body",
    [
        *("", "[]", '{"groups": ["("], "duration": "1h"}', "\x00", "{" * 99),
        '{"groups": ["billing"], "duration": "1h", "kind": "joke"}',
    ],
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


ROLES = {
    'read-token = "r"\nwrite-token = "w"\nsilence-token = "s"\nreport-token = "p"': {
        "": (401, 401, 401, 401, 401),
        "r": (200, 401, 401, 401, 403),
        "w": (200, 200, 404, 200, 400),
        "s": (200, 200, 404, 403, 403),
        "p": (403, 403, 403, 403, 400),
    },
    'silence-token = "s"': {
        "": (200, 401, 401, 200, 400),
        "s": (200, 200, 404, 200, 400),
    },
    'silence-token = "s"\nallow-writes = false': {"s": (200, 403, 403, 403, 403)},
}


@pytest.mark.parametrize("tokens", ROLES, ids=lambda each: each.replace("\n", " "))
def test_silencing_is_a_right_of_its_own(tmp_path: Path, tokens: str) -> None:
    config = CONFIG.replace("[httpserver.default]", f"[httpserver.default]\n{tokens}")
    told = {}
    with running(tmp_path, config) as server:
        for token in ROLES[tokens]:
            own = {"authorization": f"Bearer {token}"} if token else {}
            told[token] = (
                ask(server.port, PATH, headers=own).status,
                ask(server.port, PATH, "POST", BODY, JSON | own).status,
                ask(server.port, f"{PATH}/x", "DELETE", headers=own).status,
                ask(server.port, "/v3/kafka/local/consumer/x", "DELETE", headers=own).status,
                ask(server.port, "/v4/offsets", "POST", "{}", JSON | own).status,
            )

    assert told == ROLES[tokens]


def test_the_log_says_from_where_a_change_came_and_with_whose_token(tmp_path: Path) -> None:
    tokens = 'write-token = "w"\nsilence-token = "s"'
    config = CONFIG.replace("[httpserver.default]", f"[httpserver.default]\n{tokens}")
    with running(tmp_path, config) as server, capture_logs() as lines:
        for token in "ws":
            own = JSON | {"authorization": f"Bearer {token}"}
            made = ask(server.port, PATH, "POST", BODY, own).json["silence"]["id"]
            ask(server.port, f"{PATH}/{made}", "DELETE", headers=own)

    told = [line for line in lines if line["event"].startswith("silence ")]
    assert [(line["event"], line["token"]) for line in told] == [
        ("silence added", "write"),
        ("silence ended", "write"),
        ("silence added", "silence"),
        ("silence ended", "silence"),
    ]
    assert {line["address"].partition(":")[0] for line in told} == {"127.0.0.1"}


def test_where_nothing_may_change_silences_can_only_be_read(tmp_path: Path) -> None:
    config = CONFIG.replace("[httpserver.default]", "[httpserver.default]\nallow-writes = false")
    with running(tmp_path, config) as server:
        assert ask(server.port, PATH).status == 200
        assert ask(server.port, PATH, "POST", BODY, JSON).status == 403
