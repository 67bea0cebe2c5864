"""`warren serve` as a process: what stands in its way, how it ends, brokers behind a log-in."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kafka_clients import Kafka
from support.monitor import Site, source
from support.serve_process import HTTP, Served, served
from support.servers.secure_broker import SecureBroker
from support.waiting import eventually

from warren.demo.broker import Broker

Outcome = tuple[int, str, list[str], list[str]]
CLEAN: Outcome = (0, "Stopped Warren", [], ["burrow.toml", "err", "out"])


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def test_what_stands_in_the_way_is_one_line_and_leaves_nothing(
    tmp_path: Path, taken_port: int
) -> None:
    cluster = source("local", "127.0.0.1:1")
    cases = {
        "busy": (HTTP.format(port=taken_port) + cluster, "address already in use"),
        "pidfile": (
            f'[general]\npidfile = "{tmp_path}/live.pid"\n' + HTTP.format(port=0) + cluster,
            "live.pid",
        ),
        "certificate": (
            f'[tls.mine]\ncafile = "{tmp_path}/none.pem"\n[client-profile.p]\ntls = "mine"\n'
            + HTTP.format(port=0)
            + source("local", "127.0.0.1:1", 'client-profile = "p"'),
            "none.pem",
        ),
    }
    (tmp_path / "live.pid").write_text(str(os.getpid()))

    outcomes = {}
    for name, (config, word) in cases.items():
        (tmp_path / name).mkdir()
        with served(tmp_path / name, config) as started:
            code = started.process.wait(60)
            told = [line for line in started.err.splitlines() if line.startswith("warren: ")]
            outcomes[name] = (
                code,
                len(told),
                word in "".join(told),
                "Traceback" in started.err,
                (tmp_path / name / "burrow.pid").exists(),
                started.left(),
            )

    assert outcomes == dict.fromkeys(cases, (1, 1, True, False, False, []))
    assert (tmp_path / "live.pid").read_text() == str(os.getpid())


def test_ctrl_c_ends_it_and_all_it_started(tmp_path: Path, broker: Broker) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic("served", 9)
    kafka.commit("serves", "served", {0: 3})

    with served(tmp_path, HTTP.format(port=0) + source("local", broker.bootstrap)) as started:
        site = started.site
        eventually(lambda: site.committed("local", "serves"), {"served": [3]})
        assert (tmp_path / "burrow.pid").read_text() == str(started.process.pid)
        outcome = ended(started, signal.SIGINT)

    assert outcome == CLEAN
    assert all({"level", "ts", "msg"} <= line.keys() for line in started.lines())
    assert [line for line in started.lines() if line["level"] not in {"info", "warn"}] == []


def ended(started: Served, number: signal.Signals) -> Outcome:
    """Its exit code and last words, the processes and the files it left."""
    assert started.left()
    started.process.send_signal(number)
    code = started.process.wait(60)
    words = started.err.splitlines()[-1].partition(" at ")[0]
    return code, words, started.left(), sorted(path.name for path in started.folder.iterdir())


@pytest.fixture(scope="module")
def secure_broker() -> Iterator[SecureBroker]:
    with SecureBroker(offsets_partitions=4) as broker:
        yield broker


def test_a_log_in_serves_both_clients_a_wrong_one_is_told_and_a_term_signal_ends_all(
    tmp_path: Path, secure_broker: SecureBroker
) -> None:
    kafka = Kafka(secure_broker.bootstrap)
    kafka.make_topic("secret", 9)
    kafka.commit("spies", "secret", {0: 3})
    config = secured("right", secure_broker, secure_broker.password)
    config += secured("wrong", secure_broker, "a guess")

    with served(tmp_path, HTTP.format(port=0) + config) as started:
        site = started.site
        eventually(lambda: "Authentication failed" in problem(site, "wrong"), expected=True)
        # The commit comes through Spark's client; the lag takes librdkafka's, too.
        eventually(lambda: site.committed("right", "spies"), {"secret": [3]})
        assert site.group("right", "spies")["totallag"] == 6
        assert problem(site, "right") == ""
        outcome = ended(started, signal.SIGTERM)

    assert outcome == CLEAN
    told = started.out + started.err
    assert [secret for secret in (secure_broker.password, "a guess") if secret in told] == []


def problem(site: Site, cluster: str) -> str:
    health = site.health().get("clusters", {})
    return str(health[cluster]["problem"]) if cluster in health else ""


def secured(name: str, broker: SecureBroker, password: str) -> str:
    profile = f'client-profile = "{name}"'
    return (
        f'[client-profile.{name}]\ntls = "{name}"\nsasl = "{name}"\n'
        f'[tls.{name}]\ncafile = "{broker.ca}"\n'
        f'[sasl.{name}]\nmechanism = "SCRAM-SHA-512"\nusername = "{broker.user}"\n'
        f'password = "{password}"\n'
        + source(name, broker.secure_bootstrap, profile, on_cluster=(profile,))
    )
