import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import msgspec
import pytest
from serve.boards import NOW_S, board, cluster_board, windows_of

from warren import config
from warren.board import Board
from warren.errors import StartError
from warren.serve.listeners import bind
from warren.serve.serving import Serving, start

CONFIG = """
[httpserver.default]
address = "127.0.0.1:0"
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]
"""


class Actions:
    """Does what requests ask for, to a board of its own."""

    def __init__(self) -> None:
        self.serving: Serving | None = None
        self.level = "info"

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        assert self.serving
        assert (cluster, topic) == ("local", None)
        windows = windows_of({"orders": [100]}, [])
        del group
        self.serving.publish(board(local=cluster_board(windows, {"orders": [100]})))

    def get_level(self) -> str:
        return self.level

    def set_level(self, level: str) -> None:
        self.level = level


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Serving, int]]:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG)
    settings = config.load(file, {}).config
    listeners = bind(settings.httpservers)
    actions = Actions()
    serving = start(settings, listeners, actions)
    actions.serving = serving
    yield serving, listeners[0].port
    serving.stop()


def ask(port: int, path: str, method: str = "GET", body: str | None = None) -> tuple[int, bytes]:
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read()


def publish(serving: Serving, made: Board) -> None:
    """Publish, and wait until every worker answers from it."""
    serving.publish(made)
    assert serving.wait_taken(20)


def test_requests_are_answered_before_anything_is_known(server: tuple[Serving, int]) -> None:
    _, port = server

    answers = {path: ask(port, path)[0] for path in ("/burrow/admin", "/burrow/admin/ready")}
    groups = msgspec.json.decode(ask(port, "/v3/kafka/local/consumer")[1])

    assert answers == {"/burrow/admin": 200, "/burrow/admin/ready": 503}
    assert groups["consumers"] == []


def test_answers_come_from_the_board_that_was_published_last(server: tuple[Serving, int]) -> None:
    serving, port = server
    ends = {"orders": [100]}
    commits = [("billing", "orders", 0, offset, NOW_S * 1000) for offset in (10, 90)]

    publish(serving, board(local=cluster_board(windows_of(ends, commits[:1]), ends)))
    before = msgspec.json.decode(ask(port, "/v3/kafka/local/consumer/billing/lag")[1])
    publish(serving, board(local=cluster_board(windows_of(ends, commits), ends)))
    after = msgspec.json.decode(ask(port, "/v3/kafka/local/consumer/billing/lag")[1])

    assert (before["status"]["totallag"], after["status"]["totallag"]) == (90, 10)


def test_a_deleted_group_is_gone_for_the_next_request(server: tuple[Serving, int]) -> None:
    serving, port = server
    ends = {"orders": [100]}
    commits = [("billing", "orders", 0, 10, NOW_S * 1000)]
    publish(serving, board(local=cluster_board(windows_of(ends, commits), ends)))
    path = "/v3/kafka/local/consumer/billing"

    known, _ = ask(port, path)
    deleted, _ = ask(port, path, "DELETE")
    unknown = [ask(port, path)[0] for _ in range(20)]

    assert (known, deleted) == (200, 200)
    assert unknown == [404] * 20


def test_the_log_level_is_the_pipelines(server: tuple[Serving, int]) -> None:
    _, port = server

    ask(port, "/v3/admin/loglevel", "POST", '{"level": "WARNING"}')
    _, body = ask(port, "/v3/admin/loglevel")

    assert msgspec.json.decode(body)["level"] == "warn"


def test_a_worker_that_dies_is_replaced_and_gets_the_board(server: tuple[Serving, int]) -> None:
    serving, port = server
    ends = {"orders": [100]}
    commits = [("billing", "orders", 0, 10, NOW_S * 1000)]
    publish(serving, board(local=cluster_board(windows_of(ends, commits), ends)))

    for pid in serving.pids():
        os.kill(pid, signal.SIGKILL)
    answers = {ask(port, "/v3/kafka/local/consumer/billing")[0] for _ in range(10)}

    assert answers == {200}


def test_stopping_takes_less_than_a_second_and_frees_the_port(tmp_path: Path) -> None:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG)
    settings = config.load(file, {}).config
    listeners = bind(settings.httpservers)
    port = listeners[0].port
    serving = start(settings, listeners, Actions())
    ask(port, "/burrow/admin")
    began = time.monotonic()

    serving.stop()

    assert time.monotonic() - began < 1
    with pytest.raises(ConnectionRefusedError):
        ask(port, "/burrow/admin")


PARENT = """
import sys
from pathlib import Path
import structlog
from warren import config
from warren.serve.listeners import bind
from warren.serve.serving import start
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
settings = config.load(Path(sys.argv[1]), {}).config
listeners = bind(settings.httpservers)
serving = start(settings, listeners, None)
print(listeners[0].port, flush=True)
input()
"""


def test_no_worker_outlives_a_pipeline_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "burrow.toml"
    file.write_text(CONFIG)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert parent.stdin
    assert parent.stdout
    with parent.stdin, parent.stdout:
        port = int(parent.stdout.readline())
        assert ask(port, "/burrow/admin")[0] == 200

        parent.kill()
        parent.wait()

        assert parent.stdout.read() == b""  # the workers had it too, and it ends with the last
    with pytest.raises(ConnectionRefusedError):
        ask(port, "/burrow/admin")


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        file = tmp_path / "burrow.toml"
        file.write_text(CONFIG.replace(":0", f":{port}"))
        servers = config.load(file, {}).config.httpservers

        with pytest.raises(StartError) as raised:
            bind(servers)

    expected = f"cannot listen on 127.0.0.1:{port} (httpserver.default): address already in use"
    assert str(raised.value) == expected
