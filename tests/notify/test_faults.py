"""Whatever is wrong with one notifier: a log line, a count, and the others are not affected."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from notify.instances import configured, instance, outcomes
from notify.sample_verdicts import NOW_MS, board_of, statuses
from structlog.testing import capture_logs
from support.certificates import make_certificates
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.servers.smtp import USER, smtp_server
from support.waiting import eventually

from warren.model.status import Status
from warren.notify.senders.choose import make_sender

GOOD = "Subject: {{.Group}}\n\n{{.Result.Status}}\n"
# Fails on groups of one name only, so that no trial finds it.
BAD = 'Subject: {{if eq .Group "billing"}}{{index .Result.Partitions 7}}{{end}}'
DIVIDING = 'Subject: {{if eq .Group "billing"}}{{divide 1 0}}{{end}}'

AGAIN, LATER = {"failed": 1}, {"failed": 1, "dropped": 1}  # at once, or when a round asks again
EXPECTED = {
    "bad-template": (LATER, "bad:1: function 'index' failed: index out of range"),
    "dividing": (LATER, "dividing:1: function 'divide' failed: "),
    "unreachable": (AGAIN, "cannot reach http://127.0.0.1:"),
    "500s": (AGAIN, "answered 500 Internal Server Error: ouch"),
    "timeout": (AGAIN, "did not answer within 1 s"),
    "password": (LATER, "answered 401 Unauthorized: who are you?"),
    "expired": (AGAIN, "its certificate is not accepted: certificate has expired"),
    "smtp-password": (LATER, f"refuses user {USER}: 535 "),
    "smtp-expired": (AGAIN, "its certificate is not accepted: certificate has expired"),
}


def hook(name: str, url: str, template: Path, more: str = "") -> str:
    return f"""
    [notifier.{name}]
    class-name = "http"
    url-open = "{url}"
    template-open = "{template}"
    timeout = {1 if name == "timeout" else 5}
    {more}
    """


def mail(name: str, port: int, template: Path, ca: Path) -> str:
    return f"""
    [notifier.{name}]
    class-name = "email"
    server = "127.0.0.1"
    port = {port}
    from = "burrow@example.com"
    to = "ops@example.com"
    auth-type = "plain"
    username = "{USER}"
    password = "wrong"
    extra-ca = "{ca}"
    template-open = "{template}"
    """


@contextmanager
def everything_wrong(folder: Path) -> Iterator[tuple[list[str], HttpReceiver]]:
    """Notifiers, a fault each, and the receiver of the one that is well."""
    files = {"good": GOOD, "bad": BAD, "dividing": DIVIDING}
    good, bad, dividing = (folder / name for name in files)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "old").mkdir()
    old_ca, ca = folder / "old/ca.pem", folder / "ca.pem"
    old_pem, pem = make_certificates(old_ca, timedelta(minutes=-5)), make_certificates(ca)
    with ExitStack() as servers:
        well, failing, silent, guarded = (servers.enter_context(http_receiver()) for _ in range(4))
        expired = servers.enter_context(http_receiver(old_pem))
        post = servers.enter_context(smtp_server(pem, log_in=True))
        old_post = servers.enter_context(smtp_server(old_pem))
        nobody = servers.enter_context(socket.socket())
        nobody.bind(("127.0.0.1", 0))
        failing.status, failing.answer = 500, b"ouch"
        guarded.status, guarded.answer = 401, b"who are you?"
        silent.may_answer.clear()
        notifiers = [
            hook("well", well.url, good),
            hook("bad-template", well.url, bad),
            hook("dividing", well.url, dividing),
            hook("unreachable", f"http://127.0.0.1:{nobody.getsockname()[1]}", good),
            hook("500s", failing.url, good),
            hook("timeout", silent.url, good),
            hook("password", guarded.url, good, 'username = "u"\npassword = "wrong"'),
            hook("expired", expired.url, good, f'extra-ca = "{old_ca}"'),
            mail("smtp-password", post.port, good, ca),
            mail("smtp-expired", old_post.port, good, old_ca),
        ]
        yield notifiers, well


def test_every_fault_is_told_and_counted_and_the_others_go_on(tmp_path: Path) -> None:
    with everything_wrong(tmp_path) as (notifiers, well):
        config = configured(tmp_path, *notifiers)
        senders: dict[str, Any] = {
            name: make_sender(each, config) for name, each in config.notifiers.items()
        }
        with capture_logs() as logged, instance(config, senders) as current:
            current.board = board_of({"local": statuses({"billing": Status.ERR})}, NOW_MS)
            current.notifying.look(0, NOW_MS)
            eventually(lambda: outcomes(current, "well") == {"sent": 1})
            eventually(lambda: all(outcomes(current, name).get("failed") for name in EXPECTED))
            counted = {name: outcomes(current, name) for name in EXPECTED}

    lines: dict[str, list[str]] = {}
    for line in logged:
        if line["event"] == "notification failed":
            assert (line["log_level"], line["group"]) == ("warning", "billing")
            lines.setdefault(line["name"], []).append(line["problem"])
    wrong = {
        name: (counted[name], lines.get(name))
        for name, (outcome, problem) in EXPECTED.items()
        # At least: some are tried again before the slowest has failed.
        if any(counted[name].get(each, 0) < number for each, number in outcome.items())
        or counted[name].keys() - {*outcome, "retried"}
        or not any(problem in each for each in lines.get(name, []))
    }
    assert wrong == {}
    assert [each.body for each in well.got] == ["Subject: billing\n\nERR\n"]
