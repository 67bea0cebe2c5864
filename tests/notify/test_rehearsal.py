"""Notifiers are tried before anything starts, and by `warren notify-test`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.config_files import MINIMAL
from support.servers.http_receiver import HttpReceiver, http_receiver

from warren.cli import main

SHIPPED = Path(__file__).parents[2] / "config"
ZOOKEEPER = '[zookeeper]\nservers = ["127.0.0.1:2181"]\n'


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as running:
        yield running


def run(directory: Path, notifier: str, *command: str) -> Result:
    (directory / "burrow.toml").write_text(MINIMAL + ZOOKEEPER + notifier)
    return CliRunner().invoke(main, [*command, "--config-dir", str(directory)])


def oncall(url: str, template: Path, close: bool = True) -> str:  # noqa: FBT001, FBT002
    closing = f'send-close = true\nurl-close = "{url}/over"\ntemplate-close = "{template}"\n'
    return f"""
[notifier.OnCall]
class-name = "http"
url-open = "{url}/begun"
template-open = "{template}"
{closing if close else ""}
"""


def test_a_sample_open_and_close_are_sent(receiver: HttpReceiver, tmp_path: Path) -> None:
    notifier = oncall(receiver.url, SHIPPED / "default-http-post.tmpl")

    result = run(tmp_path, notifier, "notify-test", "oncall")

    assert result.exit_code == 0, result.output
    assert result.stdout == "open: 200 OK: ok\nclose: 200 OK: ok\n"
    assert [got.path for got in receiver.got] == ["/begun", "/over"]
    assert "sample-group" in receiver.got[0].body


def test_no_close_is_sent_where_none_would_be(receiver: HttpReceiver, tmp_path: Path) -> None:
    notifier = oncall(receiver.url, SHIPPED / "default-http-post.tmpl", close=False)

    result = run(tmp_path, notifier, "notify-test", "oncall")

    assert result.stdout.endswith("close: not sent, as send-close is not set\n")
    assert len(receiver.got) == 1


@pytest.mark.parametrize("notifier", ["slack", "alertmanager", "http"])
def test_what_was_made_up_does_not_stay_open(
    receiver: HttpReceiver, tmp_path: Path, notifier: str
) -> None:
    closing = oncall(receiver.url, SHIPPED / "default-http-post.tmpl")
    keys = {
        "slack": f'[notifier.oncall]\nclass-name = "slack"\nwebhook-url = "{receiver.url}/x"',
        "alertmanager": f'[notifier.oncall]\nclass-name = "alertmanager"\nurl = "{receiver.url}"',
        "http": closing.replace("send-close = true", "send-close = false"),
    }

    result = run(tmp_path, keys[notifier], "notify-test", "oncall")

    assert result.stdout == "open: 200 OK: ok\nclose: 200 OK: ok\n"
    assert len(receiver.got) == 2


def test_every_kind_of_message_is_tried_at_the_start(tmp_path: Path) -> None:
    template = tmp_path / "first.tmpl"
    template.write_text("{{with index .Result.Partitions 0}}{{.Topic}}{{end}}")
    gone = tmp_path / "gone.tmpl"
    gone.write_text("{{if not .Result.TotalPartitions}}{{.Nothing}}{{end}}")
    notifiers = f"""
[notifier.bad]
class-name = "null"
template-open = "{template}"
[notifier.lag]
class-name = "null"
template-open = "{template}"
lag-above = 5
[notifier.good]
class-name = "null"
template-open = "{template}"
threshold = 1
[notifier.gone]
class-name = "null"
template-open = "{template}"
template-close = "{gone}"
send-close = true
[notifier.digest]
class-name = "http"
template-open = "{template}"
url-open = "{{{{if .Group}}}}http://localhost{{{{end}}}}"
max-per-minute = 5
"""

    result = run(tmp_path, notifiers, "check-config")

    told = [line.split(": ", 3)[2:] for line in result.stderr.splitlines() if "notifier." in line]
    index = f"{template}:1: function 'index' failed: index out of range"
    assert told == [
        ["notifier.gone", f"{gone}:1: there is no field Nothing in the message"],
        ["notifier.good", index],
        ["notifier.lag", index],
    ]


def test_a_receiver_that_refuses_is_told_in_a_line(receiver: HttpReceiver, tmp_path: Path) -> None:
    receiver.status, receiver.answer = 500, b"ouch"
    notifier = oncall(receiver.url, SHIPPED / "default-http-post.tmpl")

    result = run(tmp_path, notifier, "notify-test", "oncall")

    assert result.exit_code == 1
    answer = f"{receiver.url} answered 500 Internal Server Error: ouch"
    assert result.stderr == f"warren: notifier oncall, open: {answer}\n"


def test_an_unknown_name_is_told_with_the_known_ones(tmp_path: Path) -> None:
    notifier = oncall("http://localhost:1", SHIPPED / "default-http-post.tmpl")

    result = run(tmp_path, notifier, "notify-test", "onkall")

    assert result.exit_code == 1
    assert result.stderr == (
        "warren: there is no section [notifier.onkall]; the notifiers are: oncall\n"
    )


def test_what_would_fail_at_night_is_found_at_the_start(tmp_path: Path) -> None:
    template = tmp_path / "bad.tmpl"
    template.write_text("fine\n{{.Ident}}")
    mail = tmp_path / "mail.tmpl"
    mail.write_text("no subject")
    notifiers = f"""
[notifier.a]
class-name = "http"
url-open = "http://localhost/{{{{.Cluster}}}}"
template-open = "{template}"
[notifier.b]
class-name = "http"
url-open = "alerts.example.com/x"
template-open = "{mail}"
[notifier.c]
class-name = "http"
url-open = "http://localhost/{{{{.Nothing}}}}"
template-open = "{mail}"
[notifier.d]
class-name = "email"
server = "localhost"
port = 25
from = "burrow@example.com"
to = "ops@example.com"
template-open = "{mail}"
[notifier.e]
class-name = "email"
server = "localhost"
port = 25
from = "burrow"
to = "ops@example.com"
template-open = "{mail}"
[notifier.f]
class-name = "null"
template-open = "{template}"
[notifier.g]
class-name = "slack"
webhook-url = "http://localhost/"
template-open = "{template}"
"""

    result = run(tmp_path, notifiers, "check-config")

    file = tmp_path / "burrow.toml"
    told = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    no_field = f"{template}:2: there is no field Ident in the message"
    no_address = "'burrow' is not a list of mail addresses such as ops@example.com"
    assert result.exit_code == 1
    assert told == [
        f"warren: {file}: notifier.a: {no_field}",
        f"warren: {file}: notifier.b: not a valid URL: it must begin with http://host",
        f"warren: {file}: notifier.c.url-open:1: there is no field Nothing in the message",
        f"warren: {file}: notifier.d: {mail}: a mail must begin with 'Subject:'",
        f"warren: {file}: notifier.e.from: {no_address}",
        f"warren: {file}: notifier.f: {no_field}",
        f"warren: {file}: notifier.g: {no_field}",
    ]
