"""A group of a real broker goes bad and recovers: what a real HTTP receiver gets."""

import json
import socket
from pathlib import Path

from pyspark.sql import SparkSession
from support.kafka_clients import Kafka
from support.monitor import source, watching
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.waiting import eventually

from warren.demo.broker import Broker

TOPIC, GROUP, ANOTHER = "notified", "notified-first", "notified-second"
BODY = '{"group": "{{.Group}}", "id": "{{.ID}}", "status": "{{.Result.Status}}"}'


def notifier(name: str, url: str, template: Path) -> str:
    return f"""
    [notifier.{name}]
    class-name = "http"
    interval = 1
    send-once = true
    send-close = true
    group-allowlist = "^notified-"
    url-open = "{url}/open"
    url-close = "{url}/close"
    template-open = "{template}"
    template-close = "{template}"
    """


def heard(receiver: HttpReceiver) -> list[tuple[str, str]]:
    return [(each.path, json.loads(each.body)["status"]) for each in receiver.got]


def make_folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_an_incident_is_told_once_over_a_restart_though_another_receiver_is_down(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 100)
    template = tmp_path / "body.tmpl"
    template.write_text(BODY)
    with http_receiver() as receiver, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        deaf = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        config = (
            source("local", broker.bootstrap)
            + f'[general]\nstate-dir = "{tmp_path}"\n'
            + notifier("hook", receiver.url, template)
            + notifier("deaf", deaf, template)
        )

        with watching(spark, make_folder(tmp_path, "first"), config) as watched:
            eventually(watched.is_ready, expected=True, seconds=120)
            kafka.commit(GROUP, TOPIC, {0: 50})
            eventually(lambda: heard(receiver), [("/open", "ERR")])
            eventually(
                lambda: watched.metric(
                    'warren_notifier_outcomes_total{notifier="hook",outcome="sent"}'
                ),
                1.0,
            )
            eventually(lambda: bool(watched.logged("notification failed")), expected=True)
            failure = watched.logged("notification failed")[0]
            assert (failure["name"], failure["problem"]) == (
                "deaf",
                f"cannot reach {deaf}: connection refused",
            )

        with watching(spark, make_folder(tmp_path, "second"), config) as watched:
            eventually(watched.is_ready, expected=True, seconds=120)
            eventually(lambda: watched.health()["incidents"]["rounds"]["open"], 1)
            kafka.commit(GROUP, TOPIC, {0: 100})
            eventually(lambda: heard(receiver), [("/open", "ERR"), ("/close", "OK")])
            kafka.commit(ANOTHER, TOPIC, {0: 50})
            eventually(lambda: len(receiver.got), 3)
            kafka.delete_group(ANOTHER)
            eventually(lambda: len(receiver.got), 4)

    assert heard(receiver)[2:] == [("/open", "ERR"), ("/close", "NOTFOUND")]
    ids = [json.loads(each.body)["id"] for each in receiver.got]
    assert ids[0] == ids[1] != ids[2] == ids[3]
