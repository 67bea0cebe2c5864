"""Class alertmanager, against a real Alertmanager."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.messages import digest, message
from support.servers.alertmanager import Alertmanager, alertmanager
from support.waiting import eventually

from warren.config import AlertmanagerNotifier, Config, FrozenMap, General
from warren.errors import SendFailed
from warren.model.status import Status
from warren.notify.message import Message
from warren.notify.senders.alertmanager import AlertmanagerSender

CONFIG = Config(general=General(external_url="https://warren.example.com"))
STARTED_S = int(time.time()) - 60
WAIT_S = 10.0


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    with alertmanager(tmp_path_factory.mktemp("alertmanager")) as running:
        yield running


class Sending:
    """One process of Warren: it begins anew when it is made anew."""

    def __init__(self, url: str, **keys: Any) -> None:
        notifier = AlertmanagerNotifier(name="n", class_name="alertmanager", url=url, **keys)
        self.sender = AlertmanagerSender(notifier, CONFIG)

    def send(self, given: Message) -> str:
        now = {"start_ms": STARTED_S * 1000, "now_ms": int(time.time() * 1000)}
        lines = tuple(
            msgspec.structs.replace(line, start_ms=STARTED_S * 1000) for line in given.digest
        )
        return self.sender.send(msgspec.structs.replace(given, digest=lines, **now))


@pytest.fixture
def start(receiver: Alertmanager) -> Iterator[Callable[..., Sending]]:
    started: list[Sending] = []

    def begin(**keys: Any) -> Sending:
        started.append(Sending(receiver.url, **keys))
        return started[-1]

    yield begin
    for each in started:
        each.sender.close()


def firing(receiver: Alertmanager, **labels: str) -> list[dict[str, Any]]:
    return [alert for alert in receiver.alerts() if labels.items() <= alert["labels"].items()]


def severities(receiver: Alertmanager, group: str) -> list[str]:
    return [alert["labels"]["severity"] for alert in firing(receiver, group=group)]


def wait_until_over(receiver: Alertmanager, **labels: str) -> None:
    """An alert ends with the second."""
    eventually(lambda: firing(receiver, **labels), [], WAIT_S)


def test_an_alert_fires_and_is_resolved(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    sending = start(extras=FrozenMap({"team": "billing"}))

    answer = sending.send(message("open", "shop"))
    (alert,) = firing(receiver, group="shop")
    sending.send(message("close", "shop"))

    assert answer.startswith("200 OK")
    assert alert["labels"] == {
        "alertname": "KafkaConsumerGroupStatus",
        "cluster": "local",
        "group": "shop",
        "severity": "critical",
        "team": "billing",
    }
    assert alert["annotations"]["summary"] == "shop has stopped, stalled or gone back (ERR)"
    assert "STOP   orders:3  lag 12,345" in alert["annotations"]["description"]
    assert alert["annotations"]["total_lag"] == "12354"
    assert alert["generatorURL"] == "https://warren.example.com/#/group/local/shop"
    assert datetime.fromisoformat(alert["startsAt"]) == datetime.fromtimestamp(STARTED_S, UTC)
    wait_until_over(receiver, group="shop")


def test_an_alert_lasts_well_beyond_its_next_repetition(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    start(interval=600).send(message("open", "patient"))

    (alert,) = firing(receiver, group="patient")
    left = datetime.fromisoformat(alert["endsAt"]) - datetime.now(UTC)
    assert 2_000 < left.total_seconds() < 2_401


def test_a_group_that_gets_worse_has_one_alert(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    sending = start()

    sending.send(message("open", "worse", Status.WARN))
    before = severities(receiver, "worse")
    sending.send(message("open", "worse", Status.ERR))

    assert before == ["warning"]
    wait_until_over(receiver, group="worse", severity="warning")
    assert severities(receiver, "worse") == ["critical"]


def test_a_close_after_a_restart_resolves_what_another_process_opened(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    start().send(message("open", "restarted", Status.WARN))
    start().send(message("close", "restarted"))

    wait_until_over(receiver, group="restarted")


def test_a_close_resolves_what_another_instance_told_in_between(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    first = start()
    first.send(message("open", "taken over", Status.WARN))
    start().send(message("open", "taken over", Status.ERR))
    first.send(message("close", "taken over"))

    wait_until_over(receiver, group="taken over")


def test_a_group_that_gets_worse_after_a_restart_has_one_alert(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    start().send(message("open", "worse later", Status.WARN))
    start().send(message("open", "worse later", Status.ERR))

    wait_until_over(receiver, group="worse later", severity="warning")
    assert severities(receiver, "worse later") == ["critical"]


def test_a_good_group_that_was_told_of_has_one_alert_when_it_is_bad(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    start(threshold=1).send(message("open", "told of", Status.OK))
    before = severities(receiver, "told of")
    start(threshold=1).send(message("open", "told of", Status.ERR))

    assert before == ["info"]
    wait_until_over(receiver, group="told of", severity="info")
    assert severities(receiver, "told of") == ["critical"]


def test_a_lag_alert_stands_beside_the_verdict(
    receiver: Alertmanager, start: Callable[..., Sending]
) -> None:
    sending = start()
    lag = message("open", "both", Status.OK, "lag of 9 is above 5", ())

    sending.send(message("open", "both"))
    sending.send(lag)
    both = [alert["labels"]["alertname"] for alert in firing(receiver, group="both")]
    over = message("close", "both", Status.OK, "lag of 1 is no longer above 5", ())
    sending.send(over)

    assert both == ["KafkaConsumerGroupLag", "KafkaConsumerGroupStatus"]
    wait_until_over(receiver, alertname="KafkaConsumerGroupLag", group="both")
    assert severities(receiver, "both") == ["critical"]


def test_a_digest_is_all_its_alerts(receiver: Alertmanager, start: Callable[..., Sending]) -> None:
    sending = start(extras=FrozenMap({"from": "digest"}))

    sending.send(digest(count=1_000))
    opened = len(firing(receiver, **{"from": "digest"}))
    sending.send(digest("close", count=1_000))

    sizes = [len(body) for body in sending.sender.write(digest(count=1_000))]
    assert (len(sizes), max(sizes) < 500_000) == (4, True)  # two alerts a group, 500 a request
    assert opened == 1_000
    wait_until_over(receiver, **{"from": "digest"})


def test_what_alertmanager_refuses_is_told(start: Callable[..., Sending]) -> None:
    sending = start(extras=FrozenMap({"no-label": "x"}))

    with pytest.raises(SendFailed, match="answered 400 Bad Request") as raised:
        sending.send(message())

    assert not raised.value.retry


def test_a_template_is_the_description(tmp_path: Path) -> None:
    file = tmp_path / "a.tmpl"
    file.write_text("{{.Group}} in words")
    sending = Sending("http://localhost:1", template_open=str(file))

    (body,) = sending.sender.write(message(group="g"))
    alert, *_ = msgspec.json.decode(body)

    assert alert["annotations"]["description"] == "g in words"


def test_only_the_close_of_a_lag_alert_leaves_a_later_incident_alone(
    start: Callable[..., Sending],
) -> None:
    plain, labelled = start().sender, start(extras=FrozenMap({"incident": "any"})).sender

    assert [plain.closes_by_id(lag=lag) for lag in (False, True)] == [False, True]
    assert not labelled.closes_by_id(lag=True)
