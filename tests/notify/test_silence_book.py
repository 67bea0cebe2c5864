"""Silences that requests add and end, and those of the configuration."""

import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from warren.config import Config, General, SilenceSettings
from warren.notify.silence_book import MOST, Reply, SilenceBook

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z


def book(state: Path | None, now_s: float = NOW, *configured: SilenceSettings) -> SilenceBook:
    general = General(state_dir=str(state) if state else "")
    config = Config(general=general, silences={each.name: each for each in configured})
    return SilenceBook(config, lambda: now_s)


def body(**request: Any) -> str:
    return json.dumps({"groups": ["billing.*"], "duration": "2h"} | request)


def added(reply: Reply) -> dict[str, Any]:
    assert reply.code == 200, reply
    silence = reply.answer["silence"]
    assert isinstance(silence, dict)
    return silence


def test_a_silence_lasts_over_a_restart_until_its_end(tmp_path: Path) -> None:
    first = book(tmp_path)
    silence = added(first.add(body(owners=["team"], comment="upgrade", author="ann")))

    again, later = book(tmp_path, NOW + 7199), book(tmp_path, NOW + 7200)

    assert silence["end"] == "2027-01-15T10:00:00Z"
    assert [each.id for each in again.all()] == [silence["id"]]
    assert again.all()[0].groups == ("billing.*",)
    assert again.all() == first.all()
    assert later.all() == []
    assert first.add(body()).answer["kept_over_restarts"] is True


def test_ending_a_silence_lasts_too(tmp_path: Path) -> None:
    silence = added(book(tmp_path).add(body()))
    configured = SilenceSettings(name="night", hours="02:00-04:00")

    ended = book(tmp_path).end(silence["id"])

    assert ended.code == 200
    assert book(tmp_path).all() == []
    assert book(tmp_path).end(silence["id"]).code == 404
    assert book(tmp_path, NOW, configured).end("night").code == 409


def test_without_a_state_directory_it_says_that_it_is_not_kept() -> None:
    assert book(None).add(body()).answer["kept_over_restarts"] is False


def test_what_changes_is_logged_with_who_and_what(tmp_path: Path) -> None:
    with capture_logs() as lines:
        silence = added(
            book(tmp_path).add(body(author="ann", comment="why"), "10.0.0.1:7", "write")
        )
        book(tmp_path).end(silence["id"], "10.0.0.2:8")

    assert [line["event"] for line in lines] == ["silence added", "silence ended"]
    assert [line["author"] for line in lines] == ["ann", "ann"]
    assert [(line["address"], line["token"]) for line in lines] == [
        ("10.0.0.1:7", "write"),
        ("10.0.0.2:8", "none"),
    ]
    assert lines[0]["groups"] == ("billing.*",) or lines[0]["groups"] == ["billing.*"]
    assert lines[1]["id"] == silence["id"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"groups": "x"}', '{"group": ["x"], "duration": "1h"}', "null", "\udcff"],
)
def test_what_is_no_request_is_refused(tmp_path: Path, text: str) -> None:
    one = book(tmp_path)

    assert one.add(text).code == 400
    assert one.all() == []
    assert not (tmp_path / "silences.json").exists()


def test_all_mistakes_are_listed_and_nothing_changes(tmp_path: Path) -> None:
    one = book(tmp_path)
    request = {
        "groups": ["(", "fine"],
        "owners": ["*"],
        "begin": "tomorrow",
        "duration": "1x",
        "comment": "x" * 2000,
    }

    reply = one.add(json.dumps(request))

    assert reply.code == 400
    mistakes = reply.answer["mistakes"]
    assert isinstance(mistakes, list)
    assert [each.partition(":")[0] for each in mistakes] == [
        "groups", "owners", "comment", "begin", "duration"
    ]  # fmt: skip
    assert one.all() == []


@pytest.mark.parametrize(
    "request_",
    [
        {"groups": []},
        {"duration": ""},
        {"end": "2027-01-15T09:00:00Z"},  # and a duration
        {"duration": "", "end": "2027-01-15T08:00:00Z"},  # now
        {"duration": "", "end": "2027-01-16", "begin": "2027-01-17"},
        {"duration": "0"},
        {"groups": ["x"] * 101},
    ],
)
def test_a_silence_needs_matchers_and_an_end(tmp_path: Path, request_: dict[str, Any]) -> None:
    assert book(tmp_path).add(body(**request_)).code == 400


def test_there_are_only_so_many(tmp_path: Path) -> None:
    one = book(tmp_path)
    for _ in range(MOST):
        one.add(body())

    assert one.add(body()).code == 429
    assert len(one.all()) == MOST


def test_a_file_that_cannot_be_read_does_not_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "silences.json").write_text('[{"id": 3}]')

    assert book(tmp_path).all() == []


def test_maintenance_windows_hold_in_their_hours_only() -> None:
    configured = SilenceSettings(name="w", hours="fri 08:00-09:00", groups=("billing",))
    (silence,) = book(None, NOW, configured).all()

    assert silence.holds(NOW)  # a Friday at eight
    assert not silence.holds(NOW + 3600)
    assert silence.holds(NOW + 7 * 86_400)
    assert book(None, NOW, configured).listed().answer["silences"] != []
