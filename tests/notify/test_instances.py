"""Three instances notify: of one incident one open and one close are received, come what may."""

import json
import signal
import time
from pathlib import Path

import pytest
from support.contest import contest
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.servers.zookeeper import Zookeeper
from support.waiting import eventually

from warren.demo.broker import Broker

INSTANCE = Path(__file__).with_name("instance_process.py")
ROUNDS_S = 1.5  # in which whoever leads looks at the group at least once
SESSION_S = {"zookeeper": 2, "kafka": 6, "file": 0}
BUSY_S = 6  # a machine may be; documented are two at most

CONFIG = """
[general]
notifier-lock = "{lock}"
notifier-topic = "instances"
state-dir = "{folder}"
[zookeeper]
servers = ["{zookeeper}"]
timeout = 2
[cluster.local]
class-name = "kafka"
servers = ["{brokers}"]
[notifier.hook]
class-name = "http"
interval = 1
send-interval = 3600
send-close = true
url-open = "{url}/open"
url-close = "{url}/close"
template-open = "{folder}/template"
template-close = "{folder}/template"
"""


def told(receiver: HttpReceiver) -> list[str]:
    return [each.path for each in receiver.got]


def hold_on(receiver: HttpReceiver, expected: list[str]) -> None:
    """See that nothing else comes for some rounds."""
    until = time.monotonic() + ROUNDS_S
    while time.monotonic() < until:
        assert told(receiver) == expected
        time.sleep(0.1)


@pytest.mark.alone
@pytest.mark.parametrize("lock", ["zookeeper", "kafka", "file"])
def test_an_incident_is_opened_and_closed_once_though_who_leads_is_killed(
    lock: str, tmp_path: Path, broker: Broker
) -> None:
    (tmp_path / "template").write_text('{"id": "{{.ID}}"}')
    status = tmp_path / "status"
    status.write_text("ERR")
    with Zookeeper() as server, http_receiver() as receiver:
        places = {"zookeeper": server.address, "brokers": broker.bootstrap, "folder": tmp_path}
        config = CONFIG.format(lock=lock, url=receiver.url, **places)

        with contest(tmp_path, config, INSTANCE) as instances:
            first = instances.leader()
            eventually(lambda: told(receiver))
            hold_on(receiver, ["/open"])
            killed = instances.signal(first["pid"], signal.SIGKILL)
            second = instances.leader(after=killed, seconds=60)
            hold_on(receiver, ["/open"])
            if lock == "zookeeper":
                server.stop()
                eventually(lambda: instances.events("ceased"))
                back = time.monotonic()
                server.start()
                instances.leader(after=back)
                hold_on(receiver, ["/open"])
            status.write_text("OK")
            eventually(lambda: len(told(receiver)) > 1)
            hold_on(receiver, ["/open", "/close"])

    opened, closed = (json.loads(each.body)["id"] for each in receiver.got)
    assert second["pid"] != first["pid"]
    assert second["at"] - killed < SESSION_S[lock] + BUSY_S
    assert opened == closed


def test_a_message_whose_sender_is_killed_before_the_answer_comes_again_with_its_id(
    tmp_path: Path,
) -> None:
    """It cannot be known whether the receiver took it: at least once, and told apart by the id."""
    (tmp_path / "template").write_text('{"id": "{{.ID}}"}')
    status = tmp_path / "status"
    status.write_text("ERR")
    with http_receiver() as receiver:
        receiver.may_answer.clear()
        nowhere = {"zookeeper": "127.0.0.1:1", "brokers": "127.0.0.1:1", "folder": tmp_path}
        config = CONFIG.format(lock="file", url=receiver.url, **nowhere)

        with contest(tmp_path, config, INSTANCE) as instances:
            first = instances.leader()
            eventually(lambda: told(receiver))
            killed = instances.signal(first["pid"], signal.SIGKILL)
            receiver.may_answer.set()
            instances.leader(after=killed)
            eventually(lambda: len(told(receiver)) > 1)
            hold_on(receiver, ["/open", "/open"])
            status.write_text("OK")
            eventually(lambda: len(told(receiver)) > 2)
            hold_on(receiver, ["/open", "/open", "/close"])

    assert len({json.loads(each.body)["id"] for each in receiver.got}) == 1
