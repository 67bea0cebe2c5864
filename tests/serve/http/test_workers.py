import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.boards import NOW_S, board, cluster_board, windows_of
from support.http_side import CONFIG, Actions, Running, ask, running
from support.waiting import eventually

from warren.config import load
from warren.model.board import Board
from warren.model.health import ClusterHealth, ConsumerHealth, Health
from warren.services import not_begun

ENDS = {"orders": [100]}
COMMITS = [("billing", "orders", 0, offset, NOW_S * 1000) for offset in (10, 90)]
BILLING = "/v3/kafka/local/consumer/billing"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as started:
        yield started


def test_requests_are_answered_before_anything_is_known(server: Running) -> None:
    answers = {path: ask(server.port, path).status for path in ("/burrow/admin", "/v3/kafka")}
    ready = ask(server.port, "/burrow/admin/ready")
    groups = ask(server.port, "/v3/kafka/local/consumer").json

    assert answers == {"/burrow/admin": 200, "/v3/kafka": 200}
    assert (ready.status, ready.body) == (503, b"STARTING")
    assert groups["consumers"] == []


def test_what_goes_on_before_anything_is_known_is_told(tmp_path: Path) -> None:
    """A configuration with everything, of which nothing has begun."""
    text = (
        CONFIG + '[consumer.local]\nclass-name = "kafka"\ncluster = "local"\n'
        'servers = ["localhost:9092"]\n[history]\n[sink.files]\nclass-name = "console"\n'
    )
    reading = ConsumerHealth("local", "catching up", records=30, remaining=1070, seconds_left=8.6)
    with running(tmp_path, text) as server:
        loaded = load(tmp_path / "burrow.toml", {}).config
        before = [ask(server.port, path).json for path in ("/v4/health", "/v4/overview")]
        server.publish(Board(0, health=not_begun(loaded)))
        begins = [ask(server.port, path).json for path in ("/v4/health", "/v4/overview")]
        absent = ask(server.port, "/v4/group?cluster=local&group=billing").json["message"]
        connecting = ConsumerHealth("local", "connecting")
        server.publish(
            Board(1, {}, Health(ready=False, spark="up", consumers={"local": connecting}))
        )
        asking = ask(server.port, "/v4/overview").json["starting"]
        server.publish(Board(1, {}, Health(ready=False, consumers={"local": reading})))
        reads = ask(server.port, "/v4/overview").json["starting"]
        server.publish(Board(2, {}, Health(ready=True, consumers={"local": reading})))
        ready = ask(server.port, "/v4/overview").json["starting"]

    spark = "Spark is starting; reading begins when it is up."
    assert [each["starting"] for each in (*before, *begins)] == [spark] * 4
    assert absent.endswith(f". {spark[:-1]}")
    assert begins[0]["consumers"]["local"]["state"] == "connecting"
    assert begins[0]["history"]["keeper"]["state"] == "begins when Spark is up"
    assert asking == "The brokers are being asked; nothing is read yet."
    assert reads == (
        "The offsets topics are being read: 30 of 1,100 commits. It takes about 9 s more."
    )
    assert ready == ""


def test_until_it_is_ready_it_says_how_far_it_is(server: Running) -> None:
    consumers = {
        "local": ConsumerHealth("local", "catching up", records=30, remaining=70, seconds_left=8.6),
        "other": ConsumerHealth("local", "caught up", records=5),
        "third": ConsumerHealth("local", "failed", problem="no broker answers"),
    }
    server.publish(Board(1, {}, Health(ready=False, consumers=consumers)))
    starting = ask(server.port, "/burrow/admin/ready")
    server.publish(Board(2, {}, Health(ready=True, consumers={"other": consumers["other"]})))
    ready = ask(server.port, "/burrow/admin/ready")
    clusters = {
        "a": ClusterHealth(problem="no broker answers: why"),
        "b": ClusterHealth(silent_brokers=[2, 3]),
        "c": ClusterHealth(),
    }
    server.publish(Board(3, {}, Health(ready=True, clusters=clusters)))
    lost = ask(server.port, "/burrow/admin/ready")
    filling = ConsumerHealth(
        "local", "caught up", backfill_partitions_left=3, backfill_problem="no broker answers"
    )
    server.publish(Board(4, {}, Health(ready=True, consumers={"local": filling})))
    backfill = ask(server.port, "/burrow/admin/ready")

    assert starting.status == 503
    assert starting.body.decode().splitlines() == [
        "STARTING",
        "consumer local: catching up, 30 records read, 70 to go, about 9 s",
        "consumer third: no broker answers",
    ]
    assert (ready.status, ready.body) == (200, b"READY")
    assert lost.status == 200
    assert lost.body.decode().splitlines() == [
        "READY",
        "cluster a: no broker answers: why",
        "cluster b: no answer from brokers 2, 3",
    ]
    assert backfill.body.decode().splitlines() == [
        "READY",
        "consumer local: backfill, 3 partitions to go: no broker answers",
    ]


def test_answers_come_from_the_board_that_was_published_last(server: Running) -> None:
    server.publish(board(local=cluster_board(windows_of(ENDS, COMMITS[:1]), ENDS)))
    before = ask(server.port, f"{BILLING}/lag").json
    server.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))
    after = ask(server.port, f"{BILLING}/lag").json

    assert (before["status"]["totallag"], after["status"]["totallag"]) == (90, 10)


def test_a_deleted_group_is_gone_for_the_next_request(tmp_path: Path) -> None:
    class Deleting(Actions):
        def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
            super().delete_group(cluster, group, topic)
            started.serving.publish(board(local=cluster_board(windows_of(ENDS, []), ENDS)))

    with running(tmp_path, actions=Deleting()) as started:
        started.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))

        known = ask(started.port, BILLING).status
        deleted = ask(started.port, BILLING, "DELETE").status
        unknown = [ask(started.port, BILLING).status for _ in range(20)]

        assert started.actions.deleted == [("local", "billing", None)]
    assert (known, deleted) == (200, 200)
    assert unknown == [404] * 20


def test_the_log_level_is_the_pipelines(server: Running) -> None:
    ask(server.port, "/v3/admin/loglevel", "POST", '{"level": "WARNING"}')

    assert ask(server.port, "/v3/admin/loglevel").json["level"] == "warn"
    assert server.actions.level == "warn"


def test_a_worker_that_dies_is_replaced_and_gets_the_board(server: Running) -> None:
    server.publish(board(local=cluster_board(windows_of(ENDS, COMMITS), ENDS)))

    for pid in server.serving.pids():
        os.kill(pid, signal.SIGKILL)
    answers = {ask(server.port, BILLING).status for _ in range(10)}

    assert answers == {200}


def test_a_result_for_one_that_died_is_not_given_to_its_replacement(tmp_path: Path) -> None:
    asked, answer = threading.Event(), threading.Event()

    class Slow(Actions):
        def get_level(self) -> str:
            if not asked.is_set():
                asked.set()
                answer.wait(20)
                return "of the first"
            return "of the second"

    with running(tmp_path, actions=Slow()) as server:
        with ThreadPoolExecutor() as pool, contextlib.suppress(OSError):
            first = pool.submit(ask, server.port, "/v3/admin/loglevel")
            assert asked.wait(20)
            for pid in server.serving.pids():
                os.kill(pid, signal.SIGKILL)
            first.exception(20)
        ask(server.port, "/burrow/admin")  # answered by a replacement
        answer.set()
        levels = {ask(server.port, "/v3/admin/loglevel").json["level"] for _ in range(10)}

    assert levels == {"of the second"}


def test_a_failure_says_nothing_of_its_cause(tmp_path: Path) -> None:
    class Failing(Actions):
        def get_level(self) -> str:
            raise ValueError("/secret/place")

    with running(tmp_path, actions=Failing()) as server, capture_logs() as logged:
        answer = ask(server.port, "/v3/admin/loglevel")
        eventually(lambda: len(logged), 2)

    assert (answer.status, answer.json["message"]) == (500, "it failed; the log says why")
    assert [line.get("action", line.get("path")) for line in logged] == [
        "get_level",
        "/v3/admin/loglevel",
    ]


def test_what_cannot_be_answered_is_a_line_of_the_log_with_its_path(server: Running) -> None:
    commits = [*COMMITS, ("broken", "orders", 0, 90, NOW_S * 1000)]
    judged = cluster_board(windows_of(ENDS, commits), ENDS)
    server.publish(board(local=judged))
    groups = judged.verdicts.groups
    status = groups.status.copy()
    status[judged.verdicts.names.index("broken")] = 77  # of which no /v4 answer can be made
    verdicts = replace(judged.verdicts, groups=replace(groups, status=status))

    with (
        contextlib.closing(HTTPConnection("127.0.0.1", server.port, timeout=20)) as listener,
        capture_logs() as logged,
    ):
        listener.request("GET", "/v4/events")
        listener.getresponse().readline()  # it has begun when it fails
        server.publish(board(local=replace(judged, verdicts=verdicts)))
        eventually(lambda: len(logged), 1)
        answers = [ask(server.port, path) for path in ("/v4/overview", "/v4/groups?match=b")]
        eventually(lambda: len(logged), 3)

    paths = [(line["log_level"], line["method"], line["path"]) for line in logged]
    assert paths == [
        ("error", "GET", "/v4/events"),
        ("error", "GET", "/v4/overview"),
        ("error", "GET", "/v4/groups?match=b"),
    ]
    names = ("ValueError", "IndexError", "ValueError")
    assert all(name in line["exception"] for name, line in zip(names, logged, strict=True))
    assert {(each.status, each.json["error"], each.json["message"]) for each in answers} == {
        (500, True, "it could not be answered; the log says why")
    }
    assert ask(server.port, f"{BILLING}/lag").status == 200


def test_workers_know_no_passwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURROW_SASL_MINE_PASSWORD", "hush-hush")
    with running(tmp_path) as server:
        ask(server.port, "/burrow/admin")
        told = [Path(f"/proc/{pid}/environ").read_bytes() for pid in server.serving.pids()]

    assert all(b"hush-hush" not in each and b"PYTHONPATH" in each for each in told)


def test_workers_are_small() -> None:
    large = ("pyarrow", "cryptography", "pyspark", "httpx", "confluent_kafka")
    code = f"import sys, warren.serve.http.worker; print(sys.modules.keys() & {{*{large}}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_names_that_are_not_utf8_can_be_asked_for(server: Running) -> None:
    judged = cluster_board(windows_of(ENDS, COMMITS), ENDS)
    verdicts = replace(judged.verdicts, names=("b\udcffd",))  # as the windows name such a group
    server.publish(board(local=replace(judged, verdicts=verdicts)))

    groups = ask(server.port, "/v3/kafka/local/consumer").json["consumers"]
    found = ask(server.port, "/v3/kafka/local/consumer/b%FFd/lag").status

    assert (groups, found) == (["b\ufffdd"], 200)


@pytest.mark.alone
def test_stopping_takes_less_than_a_second_and_frees_the_port(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        port = server.port
        ask(port, "/burrow/admin")
        began = time.monotonic()

    assert time.monotonic() - began < 1
    with pytest.raises(ConnectionRefusedError):
        ask(port, "/burrow/admin")


@pytest.mark.alone
def test_workers_that_are_dead_or_stopped_do_not_hold_up_the_end(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        dead, stopped = server.serving.pids()
        os.kill(dead, signal.SIGKILL)
        os.kill(stopped, signal.SIGSTOP)
        began = time.monotonic()

    assert time.monotonic() - began < 2


PARENT = """
import sys
from pathlib import Path
import structlog
from warren import config
from warren.serve.http.listeners import bind
from warren.serve.http.workers import start
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
        assert ask(port, "/burrow/admin").status == 200

        parent.kill()
        parent.wait()

        assert parent.stdout.read() == b""  # the workers had it too, and it ends with the last
    with pytest.raises(ConnectionRefusedError):
        ask(port, "/burrow/admin")
