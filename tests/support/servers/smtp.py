"""A real SMTP server on loopback: STARTTLS or TLS from the start, PLAIN and CRAM-MD5."""

import contextlib
import hmac
import ssl
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from support.servers.loopback import free_port

USER, PASSWORD = "warren", "correct horse"


@dataclass
class Mail:
    sender: str
    receivers: list[str]
    content: bytes
    is_encrypted: bool
    mechanism: str  # of the log-in

    @property
    def message(self) -> EmailMessage:
        message = message_from_bytes(self.content, policy=default)
        assert isinstance(message, EmailMessage)
        return message

    @property
    def text(self) -> str:
        return str(self.message.get_content()).replace("\r\n", "\n")


@dataclass
class SmtpServer:
    """What it was told to answer, and what it got."""

    port: int = 0
    refused: set[str] = field(default_factory=set)  # receivers
    answer: str = "250 OK, taken"
    got: list[Mail] = field(default_factory=list)
    mechanism: str = ""

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name, as those below
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: object
    ) -> str:
        if address in self.refused:
            return "550 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        sender, receivers = envelope.mail_from or "", list(map(str, envelope.rcpt_tos))
        assert server.transport is not None
        encrypted = server.transport.get_extra_info("ssl_object") is not None
        self.got.append(Mail(sender, receivers, envelope.content, encrypted, self.mechanism))
        return self.answer

    async def auth_CRAM__MD5(self, server: SMTP, _args: list[str]) -> AuthResult:  # noqa: N802
        challenge = b"<1.2@localhost>"
        answer = await server.challenge_auth(challenge)
        expected = hmac.new(PASSWORD.encode(), challenge, "md5").hexdigest()
        self.mechanism = "CRAM-MD5"
        return AuthResult(success=answer == f"{USER} {expected}".encode(), handled=False)

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        self.mechanism = mechanism
        right = LoginPassword(USER.encode(), PASSWORD.encode())
        # Handled here would mean answered here: a wrong password would get no answer at all.
        return AuthResult(success=data == right, handled=False)


@contextlib.contextmanager
def smtp_server(
    server_pem: Path | None = None, *, from_the_start: bool = False, log_in: bool = False
) -> Iterator[SmtpServer]:
    """`with smtp_server(pem, log_in=True) as server:`; with a key and chain it offers STARTTLS."""
    handler = SmtpServer(free_port())  # it cannot take any
    context = None
    if server_pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server_pem)
    if log_in:
        options = {"authenticator": handler.authenticate, "auth_required": True}
    else:
        options = {"auth_exclude_mechanism": ["PLAIN", "LOGIN", "CRAM-MD5"]}
    with warnings.catch_warnings():
        # aiosmtpd's words about itself, and that a log-in without TLS is not safe.
        warnings.filterwarnings("ignore", module="aiosmtpd")
        controller = Controller(
            handler,
            hostname="127.0.0.1",
            port=handler.port,
            ssl_context=context if from_the_start else None,
            tls_context=None if from_the_start else context,
            auth_require_tls=False,
            **options,  # type: ignore[arg-type]  # of different types
        )
        controller.start()
        try:
            yield handler
        finally:
            controller.stop()
