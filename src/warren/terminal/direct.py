"""Answers straight from a cluster: the whole pipeline in this process, and nothing left of it."""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren.app import Monitor, monitoring, spark_session
from warren.clients import kafka
from warren.config import Config, Logging, load
from warren.errors import ConfigError, Unanswered
from warren.model.health import Health
from warren.process import logs
from warren.terminal.ending import defer_signals
from warren.terminal.live_boards import BoardAnswers

Tell = Callable[[str], None]

CLUSTER = "kafka"  # as one is called that has no section
REACH_S, LOOK_S = 10.0, 2.0
ALL_DOWN = KafkaError._ALL_BROKERS_DOWN  # noqa: SLF001  # librdkafka's own codes
POLL_S = 0.2
STOP_S = 30.0


def config_of(bootstrap: str) -> Config:
    """As a configuration that names nothing but these brokers."""
    servers = [each.strip() for each in bootstrap.split(",") if each.strip()]
    source = {"class-name": "kafka", "servers": servers}
    tables = {
        "cluster": {CLUSTER: source},
        "consumer": {CLUSTER: {**source, "cluster": CLUSTER}},
    }
    with tempfile.TemporaryDirectory(prefix="warren-") as directory:
        file = Path(directory, "burrow.json")
        file.write_text(json.dumps(tables))
        try:
            return load(file, {}).config
        except ConfigError as error:
            problem = error.problems[0].partition(": ")[2] or error.problems[0]
            raise Unanswered("--bootstrap", problem) from error


@contextmanager
def reading(config: Config, tell: Tell) -> Iterator[BoardAnswers]:
    """Answers from the moment on when all is read that can be."""
    config = _only_reading(config)
    tell("Looking for the brokers")
    _reach(config)
    with (
        tempfile.TemporaryDirectory(prefix="warren-") as directory,
        logs.configured(Logging(filename=str(Path(directory, "warren.log")))),
        monitoring(config) as monitor,
        ExitStack() as stack,
    ):
        tell("Starting Spark")
        with defer_signals():
            spark = stack.enter_context(spark_session(config))
        stop = threading.Event()
        thread = threading.Thread(target=monitor.run, args=(spark, stop), name="monitor")
        thread.start()
        try:
            _wait(monitor, tell)
            yield BoardAnswers(config, lambda: monitor.board)
        finally:
            stop.set()
            thread.join(STOP_S)


def _only_reading(config: Config) -> Config:
    """What reading and judging need: nobody is notified, no history is kept, no port is opened."""
    return Config(
        spark=config.spark,
        client_profiles=config.client_profiles,
        tls=config.tls,
        sasl=config.sasl,
        iam=config.iam,
        clusters=config.clusters,
        consumers=config.consumers,
        storage=config.storage,
        evaluator=config.evaluator,
    )


def _reach(config: Config) -> None:
    """Raise, before Spark is started for it, if no cluster can be reached."""
    problems = {name: _problem(config, name) for name in config.clusters}
    if all(problems.values()):
        for name, problem in problems.items():
            servers = ", ".join(config.clusters[name].servers)
            raise Unanswered(f"cluster {name} ({servers})", f"cannot be reached: {problem}")


def _problem(config: Config, name: str) -> str:
    """Why a cluster does not answer; empty if it does."""
    said: list[KafkaError] = []
    cluster = config.clusters[name]
    settings = kafka.librdkafka(cluster.servers, config.connection(cluster))
    admin = AdminClient(settings | {"error_cb": said.append})
    deadline = time.monotonic() + REACH_S
    while True:
        try:
            admin.list_topics(timeout=LOOK_S)
        except KafkaException as error:
            admin.poll(0)  # brings the reason, such as a wrong password
            is_down = any(each.code() == ALL_DOWN for each in said)
            if is_down or time.monotonic() > deadline:
                reasons: list[str] = [each.str() for each in said if each.code() != ALL_DOWN]
                reason = reasons[-1] if reasons else str(error)
                return reason.partition(" (after ")[0]
        else:
            return ""


def _wait(monitor: Monitor, tell: Tell) -> None:
    """Wait for a board made of everything; one that stands still must not hold up the others."""
    while not (health := monitor.board.health).is_current_for_answers:
        tell(_progress(health))
        time.sleep(POLL_S)
    # That board may have been judged just before the last batch came in.
    last = monitor.board
    while monitor.board is last:
        time.sleep(POLL_S)


def _progress(health: Health) -> str:
    consumers = health.consumers.values()
    records = sum(each.records or 0 for each in consumers)
    remaining = sum(each.remaining or 0 for each in consumers)
    return f"Reading the commits: {records:,} records read, {remaining:,} to go"
