"""Ten thousand groups go bad at once and recover: a few messages, and nobody is left out."""

import json
import re
from pathlib import Path

from notify.instances import configured, instance, outcomes
from notify.sample_verdicts import NOW_MS, board_of, statuses
from support.servers.http_receiver import Received, http_receiver
from support.servers.smtp import smtp_server

from warren.config import Config
from warren.model.status import Status
from warren.notify.senders.choose import make_sender

MINUTE = 60_000
RATE = 20  # messages a minute, if the configuration says nothing
NAMES = [f"group-{n:05}" for n in range(10_000)]
SLACK = """
[notifier.n]
class-name = "slack"
webhook-url = "{url}/services/T/B/X"
send-close = true
"""
ALERTMANAGER = """
[notifier.n]
class-name = "alertmanager"
url = "{url}"
send-close = true
"""
EMAIL = """
[notifier.n]
class-name = "email"
server = "127.0.0.1"
port = {port}
from = "burrow@example.com"
to = "ops@example.com"
send-close = true
template-open = "{template}"
template-close = "{template}"
"""


def go_bad_and_recover(config: Config) -> int:
    """How many messages that took."""
    with instance(config, {"n": make_sender(config.notifiers["n"], config)}) as current:
        for minute, status in enumerate((Status.ERR, Status.OK)):
            verdicts = statuses(dict.fromkeys(NAMES, status))
            current.look(board_of({"local": verdicts}, NOW_MS + minute * MINUTE))
        assert current.lock.load() == {}
        return outcomes(current, "n")["sent"]


def named(text: str) -> list[str]:
    return re.findall(r"group-\d{5}", text)


def test_alertmanager_is_told_of_every_group_in_requests_of_bearable_size(tmp_path: Path) -> None:
    with http_receiver() as receiver:
        sent = go_bad_and_recover(configured(tmp_path, ALERTMANAGER.format(url=receiver.url)))

    ended: dict[bool, set[str]] = {False: set(), True: set()}
    for alert in (alert for got in receiver.got for alert in json.loads(got.body)):
        if alert["labels"]["severity"] == "critical":
            is_over = alert["endsAt"] == "2023-11-14T22:14:20Z"
            ended[is_over].add(alert["labels"]["group"])
    assert sent <= RATE
    assert sorted(ended[False]) == sorted(ended[True]) == NAMES
    assert max(len(got.body) for got in receiver.got) < 500_000


def test_mails_name_every_group(tmp_path: Path) -> None:
    template = tmp_path / "mail"
    template.write_text("Subject: {{.Group}}\n")
    with smtp_server() as server:
        text = EMAIL.format(port=server.port, template=template)
        sent = go_bad_and_recover(configured(tmp_path, text))

    mails = [f"{mail.message['Subject']}\n{mail.text}" for mail in server.got]
    told = [name for mail in mails for name in named(mail)]
    assert sent == len(mails) <= RATE
    assert sorted(told) == sorted(NAMES * 2)


def all_text(got: Received) -> str:
    return "\n".join(str(block) for block in json.loads(got.body)["blocks"])


def test_slack_names_the_worst_and_says_how_many_more_there_are_and_where(tmp_path: Path) -> None:
    with http_receiver() as receiver:
        sent = go_bad_and_recover(configured(tmp_path, SLACK.format(url=receiver.url)))

    digests = [text for got in receiver.got if len(named(text := all_text(got))) > 2]
    singles = len(receiver.got) - len(digests)
    more = [re.search(r"and ([\d,]+) more groups", text) for text in digests]
    rest = sum(int(found[1].replace(",", "")) for found in more if found)
    listed = sum(len(set(named(text))) for text in digests)
    assert sent == len(receiver.got) <= RATE
    assert singles + listed + rest == 2 * len(NAMES)
