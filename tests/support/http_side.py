"""A real HTTP side on a free port, and how to ask it."""

import contextlib
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from warren import config
from warren.model.board import Board
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.offset_reports import Report
from warren.notify.silence_book import SilenceBook
from warren.pipeline.reported_offsets import ReportCheck
from warren.serve.http.channel import AddSilence, EndSilence, ListSilences, OfSilences
from warren.serve.http.listeners import Listener, bind
from warren.serve.http.workers import Serving, start

CONFIG = """
[httpserver.default]
address = "127.0.0.1:0"
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]
"""


class Actions:
    """Remembers what requests asked for."""

    def __init__(self) -> None:
        self.level = "info"
        self.deleted: list[tuple[str, str, str | None]] = []
        self.asked: list[HistoryQuestion | ReportQuestion] = []
        self.book = SilenceBook(config.Config())
        self.reports = ReportCheck(())

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        self.deleted.append((cluster, group, topic))

    def get_level(self) -> str:
        return self.level

    def set_level(self, level: str) -> None:
        self.level = level

    def silences(self, action: OfSilences) -> str:
        match action:
            case AddSilence(body, by):
                return self.book.add(body, by.address, by.token).encoded()
            case EndSilence(number, by):
                return self.book.end(number, by.address, by.token).encoded()
            case ListSilences(cluster, group):
                return self.book.listed(cluster, group).encoded()

    def report_offsets(self, reports: list[Report]) -> str:
        return msgspec.json.encode(self.reports.take(reports)).decode()

    def recent_history(self, _question: HistoryQuestion) -> str:
        return ""  # nothing is in memory

    def group_history(self, question: HistoryQuestion) -> str:
        self.asked.append(question)
        return '{"code":503,"answer":{"error":true,"message":"Spark is not up yet"}}'

    def history_progress(self, _ticket: str) -> Progress | None:
        return None

    def history_report(self, question: ReportQuestion) -> str:
        self.asked.append(question)
        return '{"code":503,"answer":{"error":true,"message":"Spark is not up yet"}}'


class Running(NamedTuple):
    serving: Serving
    listeners: list[Listener]
    actions: Actions

    @property
    def port(self) -> int:
        return self.listeners[0].port

    def publish(self, board: Board) -> None:
        """Publish, and wait until every worker answers from it."""
        self.serving.publish(board)
        assert self.serving.wait_taken(20)


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@contextlib.contextmanager
def running(folder: Path, text: str = CONFIG, actions: Actions | None = None) -> Iterator[Running]:
    file = folder / "burrow.toml"
    file.write_text(text)
    loaded = config.load(file, {}).config
    listeners = bind(loaded.httpservers)
    actions = actions or Actions()
    serving = start(loaded, listeners, actions)
    try:
        yield Running(serving, listeners, actions)
    finally:
        serving.stop()


def ask(
    port: int,
    path: str,
    method: str = "GET",
    body: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, fields, response.read())
