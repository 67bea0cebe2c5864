"""Class email, against a real SMTP server."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.certificates import make_certificates
from support.messages import CONFIG, digest, message
from support.servers.smtp import PASSWORD, USER, SmtpServer, smtp_server

from warren.config import EmailNotifier, Secret
from warren.errors import SendFailed
from warren.model.status import Status
from warren.notify.message import Message
from warren.notify.senders import mail
from warren.notify.senders.mail import EmailSender

TEMPLATE = "Subject: {{.Group}} is {{.Result.Status}}\n\nlag {{.Result.TotalLag}}\n"
SHIPPED = Path(__file__).parents[3] / "config/default-email.tmpl"


class Mailing:
    """Sends through one server."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "mail.tmpl"
        self.ca = directory / "ca.pem"
        self.pem = make_certificates(self.ca)

    def sender(self, server: SmtpServer, template: str = TEMPLATE, **keys: Any) -> EmailSender:
        self._file.write_text(template)
        usual = {"sender": "burrow@example.com", "to": "ops@example.com", "server": "127.0.0.1"}
        usual |= {"template_open": str(self._file), "extra_ca": str(self.ca)}
        keys = {**usual, **keys}
        notifier = EmailNotifier(name="n", class_name="email", port=server.port, **keys)
        return EmailSender(notifier, CONFIG)

    def failure(self, server: SmtpServer, **keys: Any) -> SendFailed:
        with pytest.raises(SendFailed) as raised:
            self.sender(server, **keys).send(message())
        return raised.value


@pytest.fixture
def mailing(tmp_path: Path) -> Mailing:
    return Mailing(tmp_path)


@pytest.fixture
def server(mailing: Mailing) -> Iterator[SmtpServer]:
    with smtp_server(mailing.pem) as running:
        yield running


def test_a_mail_has_the_templates_subject_and_body(mailing: Mailing, server: SmtpServer) -> None:
    receivers = "ops@example.com, Büro <office@example.com>"

    answer = mailing.sender(server, to=receivers).send(message(group="größe"))

    mail = server.got[0]
    assert answer.endswith("accepted it for ops@example.com, office@example.com")
    assert (mail.sender, mail.receivers) == (
        "burrow@example.com",
        ["ops@example.com", "office@example.com"],
    )
    assert mail.message["Subject"] == "größe is ERR"
    assert mail.message["To"] == receivers
    assert mail.text == "\nlag 12354\n\n"
    assert mail.message.get_content_type() == "text/plain"
    assert mail.message["Date"] == "Tue, 14 Nov 2023 22:23:20 +0000"


def test_content_type_lines_become_a_header(mailing: Mailing, server: SmtpServer) -> None:
    template = (
        'Subject: s\nMIME-version: 1.0;\nContent-Type: text/html; charset="UTF-8";\n<b>é</b>\n'
    )

    mailing.sender(server, template).send(message())

    mail = server.got[0].message
    assert mail.get_content_type() == "text/html"
    assert server.got[0].text == "<b>é</b>\n\n"
    assert mail.get_all("MIME-Version") == ["1.0"]


def test_names_cannot_make_headers(mailing: Mailing, server: SmtpServer) -> None:
    evil = "g\r\nBcc: victim@example.com\r\nSubject: x\nContent-Type: text/html\n\n<b>\u2028\x85"

    mailing.sender(server, SHIPPED.read_text()).send(message(group=evil))

    mail = server.got[0]
    assert mail.receivers == ["ops@example.com"]
    assert mail.message["Bcc"] is None
    assert mail.message.get_content_type() == "text/plain"
    assert len(mail.message.get_all("Subject", [])) == 1
    assert mail.message["Subject"].startswith("[Warren] g  Bcc: victim@example.com  Subject: x")


def test_tls_begins_as_soon_as_it_is_offered(mailing: Mailing, server: SmtpServer) -> None:
    mailing.sender(server).send(message())

    assert server.got[0].is_encrypted


def test_without_tls_on_offer_it_goes_in_the_clear(mailing: Mailing) -> None:
    with smtp_server() as server:
        mailing.sender(server).send(message())

    assert not server.got[0].is_encrypted


def test_on_port_465_tls_is_there_from_the_start(
    mailing: Mailing, monkeypatch: pytest.MonkeyPatch
) -> None:
    with smtp_server(mailing.pem, from_the_start=True) as server:
        monkeypatch.setattr(mail, "TLS_PORT", server.port)  # a test may not open 465
        mailing.sender(server).send(message())

    assert server.got[0].is_encrypted


def test_log_ins(mailing: Mailing) -> None:
    login: dict[str, Any] = {"username": USER, "password": Secret(PASSWORD)}
    with smtp_server(mailing.pem, log_in=True) as server:
        for auth_type in ("plain", "crammd5"):
            mailing.sender(server, auth_type=auth_type, **login).send(message())

    assert [mail.mechanism for mail in server.got] == ["PLAIN", "CRAM-MD5"]


def test_a_wrong_password_is_told_and_not_retried(mailing: Mailing) -> None:
    login = {"username": USER, "password": Secret("wrong")}
    with smtp_server(mailing.pem, log_in=True) as server:
        errors = [
            mailing.failure(server, auth_type=auth_type, **login)
            for auth_type in ("plain", "crammd5")
        ]

    for error in errors:
        assert str(error).startswith(f"127.0.0.1:{server.port} refuses user {USER}: 535 ")
        assert "wrong" not in str(error)
        assert not error.retry


def test_a_log_in_that_is_not_offered_is_told(mailing: Mailing, server: SmtpServer) -> None:
    error = mailing.failure(server, auth_type="plain", username=USER, password=Secret("x"))

    assert str(error) == f"127.0.0.1:{server.port} offers no log-in, not PLAIN"


def test_some_receivers_refused_stop_nobody_else(mailing: Mailing, server: SmtpServer) -> None:
    server.refused = {"gone@example.com"}

    answer = mailing.sender(server, to="gone@example.com,ops@example.com").send(message())

    assert server.got[0].receivers == ["ops@example.com"]
    assert answer.endswith("but not for gone@example.com (550 no such user here)")


def test_answers_of_the_server_are_told(mailing: Mailing, server: SmtpServer) -> None:
    told = {}
    for answer in ("451 try later", "554 no, thank you"):
        server.answer = answer
        error = mailing.failure(server)
        told[str(error).partition(" answered ")[2]] = error.retry
    server.refused = {"ops@example.com"}
    nobody = mailing.failure(server)

    assert told == {"451 try later": True, "554 no, thank you": False}
    assert str(nobody).endswith("refuses all receivers: 550 no such user here")
    assert not nobody.retry


def test_certificates_are_verified(mailing: Mailing, server: SmtpServer, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old_ca = tmp_path / "old/ca.pem"
    old_pem = make_certificates(old_ca, timedelta(minutes=-5))

    unknown = mailing.failure(server, extra_ca="")
    mailing.sender(server, extra_ca="", noverify=True).send(message())
    with smtp_server(old_pem) as old_server:
        expired = mailing.failure(old_server, extra_ca=str(old_ca))

    assert ": its certificate is not accepted: " in str(unknown)
    assert str(expired).endswith(": its certificate is not accepted: certificate has expired")
    assert expired.retry
    assert len(server.got) == 1


def test_a_server_that_is_not_there_or_does_not_answer(
    mailing: Mailing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "TIMEOUT_S", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        absent = mailing.failure(SmtpServer(port))
        silent.listen()
        late = mailing.failure(SmtpServer(port))

    assert str(absent) == f"cannot reach 127.0.0.1:{port}: connection refused"
    assert str(late) == f"127.0.0.1:{port} did not answer within 1 s"
    assert absent.retry
    assert late.retry


def test_a_template_without_a_subject_is_refused(mailing: Mailing) -> None:
    with pytest.raises(SendFailed, match=r"mail\.tmpl: a mail must begin with 'Subject:'"):
        mailing.sender(SmtpServer(1), "hello").write(message())


def test_a_lag_alert_says_why_though_the_template_does_not(mailing: Mailing) -> None:
    lag = message(status=Status.OK, reason="lag of 9 is above 5", partitions=())

    mail = mailing.sender(SmtpServer(1)).write(lag)

    assert mail.get_content() == "\nlag of 9 is above 5\n\nlag 0\n\n"


def test_a_digest_is_a_list(mailing: Mailing) -> None:
    def lines(given: Message) -> list[str]:
        return str(mailing.sender(SmtpServer(1)).write(given).get_content()).splitlines()

    assert lines(digest(count=2))[1:5] == [
        "local: 2 ERR",
        "",
        "ERR local group-0, lag 0, since 2023-11-14T22:13:20Z",
        "ERR local group-1, lag 1, since 2023-11-14T22:13:20Z",
    ]
    assert len(lines(digest(count=10_000))) > 10_000
    mail = mailing.sender(SmtpServer(1)).write(digest())
    assert mail["Subject"] == "[Warren] 3 consumer groups need attention"
