"""Odd paths, methods and bodies are answered as Burrow answers them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from compat.raw_http import Got, ask, important

from warren import config
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.offset_reports import Report
from warren.serve.http.channel import OfSilences
from warren.serve.http.listeners import bind
from warren.serve.http.workers import start

RECORDING = json.loads(Path(__file__).with_name("burrow-routes.json").read_text())

# Each is a line of docs/differences.md.
DIFFERENT = {
    "GET /": "the page",
    "GET /v3/kafka/%zz": "a malformed escape stands for itself",
}


class Levels:
    level = "info"

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        pass

    def get_level(self) -> str:
        return self.level

    def set_level(self, level: str) -> None:
        self.level = level

    def silences(self, _action: OfSilences) -> str:
        raise NotImplementedError  # Burrow has none

    def report_offsets(self, _reports: list[Report]) -> str:
        raise NotImplementedError  # Burrow takes none

    def recent_history(self, _question: HistoryQuestion) -> str:
        raise NotImplementedError

    def group_history(self, _question: HistoryQuestion) -> str:
        raise NotImplementedError

    def history_progress(self, _ticket: str) -> Progress | None:
        raise NotImplementedError

    def history_report(self, _question: ReportQuestion) -> str:
        raise NotImplementedError


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    file = tmp_path_factory.mktemp("routes") / "burrow.toml"
    file.write_text(RECORDING["config"])
    loaded = config.load(file, {}).config
    server = msgspec.structs.replace(loaded.httpservers["default"], address="127.0.0.1:0")
    listeners = bind({"default": server})
    serving = start(loaded, listeners, Levels())
    yield listeners[0].port
    serving.stop()


def test_odd_requests_are_answered_as_recorded(port: int) -> None:
    wrong = {}
    for recorded in RECORDING["answers"]:
        method, path, sent = (recorded[name] for name in ("method", "path", "body_sent"))

        status, headers, body = ask(port, method, path, sent)

        got = Got(status, headers, re.sub(r'"host":"[^"]*"', '"host":"vm"', body))
        expected = Got(recorded["status"], important(recorded["headers"]), recorded["body"])
        if got != expected:
            wrong[f"{method} {path} {sent}".strip()] = (got, expected)

    assert {case: both for case, both in wrong.items() if case not in DIFFERENT} == {}
    assert sorted(wrong) == sorted(DIFFERENT)
