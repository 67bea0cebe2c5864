"""Class `email`: mail sent by SMTP; the user's template holds its headers and its body.

Lines that begin with `Subject: `, `Content-Type: ` and `MIME-version: ` become headers wherever
they stand, as in Burrow. So a name must never begin a line of its own: line breaks in names are
taken out before the template sees them.
"""

import re
import smtplib
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses, make_msgid

import msgspec
import structlog

from warren.clients.tls import notifier_context, why
from warren.config import Config, EmailNotifier
from warren.errors import SendFailed, TemplateFailed
from warren.model.kafka_names import readable
from warren.notify.message import Event, Message, PartitionResult
from warren.notify.templates import template_files
from warren.notify.wording import digest_line, digest_summary, headline, page_url

log = structlog.get_logger()

TIMEOUT_S = 10
TLS_PORT = 465
HELLO = "localhost"  # as Burrow; a look-up of our own full name can take very long


def deliver(notifier: EmailNotifier, mail: EmailMessage, receivers: Sequence[str]) -> str:
    """Send to all receivers; return the server's reply, or raise SendFailed."""
    where = f"{notifier.server}:{notifier.port}"
    with _failures_of(where), _connect(notifier) as server:
        _log_in(server, notifier, where)
        sender = mail["From"].addresses[0].addr_spec
        refused = server.send_message(mail, sender, list(receivers))
    if refused:
        refusals = ", ".join(f"{name} ({_reply(*reply)})" for name, reply in refused.items())
        log.warning("a mail did not reach all receivers", notifier=notifier.name, refused=refusals)
        return f"{where} accepted it, but not for {refusals}"
    return f"{where} accepted it for {', '.join(receivers)}"


@contextmanager
def _connect(notifier: EmailNotifier) -> Iterator[smtplib.SMTP]:
    """TLS from the start on port 465, else as soon as the server offers it."""
    context = notifier_context(notifier.extra_ca, noverify=notifier.noverify)
    host = notifier.server.strip("[]")
    if notifier.port == TLS_PORT:
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            host, notifier.port, HELLO, timeout=TIMEOUT_S, context=context
        )
    else:
        server = smtplib.SMTP(host, notifier.port, HELLO, timeout=TIMEOUT_S)
    try:
        server.ehlo_or_helo_if_needed()
        if notifier.port != TLS_PORT and server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
        yield server
        with suppress(smtplib.SMTPException, OSError):
            server.quit()  # it has accepted the mail: a later error changes nothing
    finally:
        server.close()


def _log_in(server: smtplib.SMTP, notifier: EmailNotifier, where: str) -> None:
    if not notifier.auth_type:
        return
    is_plain = notifier.auth_type == "plain"
    is_safe = isinstance(server.sock, ssl.SSLSocket)
    if is_plain and not is_safe and notifier.server not in {"localhost", "127.0.0.1", "[::1]"}:
        problem = f"{where} offers no TLS, and a plain log-in would show the password to everybody"
        raise SendFailed(problem, retry=False)
    offered = server.esmtp_features.get("auth", "").upper().split()
    mechanism = "PLAIN" if is_plain else "CRAM-MD5"
    if mechanism not in offered:
        text = f"only {' '.join(offered)}" if offered else "no log-in"
        raise SendFailed(f"{where} offers {text}, not {mechanism}", retry=False)
    server.user, server.password = notifier.username, notifier.password.reveal()
    try:
        server.auth(mechanism, server.auth_plain if is_plain else server.auth_cram_md5)
    except smtplib.SMTPAuthenticationError as error:
        problem = f"{where} refuses user {notifier.username}: "
        problem += _reply(error.smtp_code, error.smtp_error)
        raise SendFailed(problem, retry=_is_temporary(error.smtp_code)) from error


@contextmanager
def _failures_of(where: str) -> Iterator[None]:
    """Turn every SMTP failure into SendFailed, in one readable line."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        replies = {_reply(*reply): reply[0] for reply in error.recipients.values()}
        is_temporary = any(map(_is_temporary, replies.values()))
        problem = f"{where} refuses all receivers: {', '.join(replies)}"
        raise SendFailed(problem, retry=is_temporary) from error
    except smtplib.SMTPResponseException as error:
        problem = f"{where} answered {_reply(error.smtp_code, error.smtp_error)}"
        raise SendFailed(problem, retry=_is_temporary(error.smtp_code)) from error
    except smtplib.SMTPServerDisconnected as error:
        is_late = isinstance(error.__context__, TimeoutError)
        problem = f"did not answer within {TIMEOUT_S} s" if is_late else f"hung up: {error}"
        raise SendFailed(f"{where} {problem}", retry=True) from error
    except smtplib.SMTPNotSupportedError as error:
        raise SendFailed(f"{where} does not support it: {error}", retry=False) from error
    except OSError as error:  # SMTPException too; certificates and unreachable hosts
        raise SendFailed(f"cannot reach {where}: {why(error)}", retry=True) from error


def _is_temporary(code: int) -> bool:
    return code < 500  # 4xx: try again later; 5xx: never


def _reply(code: int, text: bytes | str) -> str:
    shown = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(shown.split())}"


SUBJECT, CONTENT_TYPE, MIME_VERSION = "Subject: ", "Content-Type: ", "MIME-version: "
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class EmailSender:
    def __init__(self, notifier: EmailNotifier, config: Config) -> None:
        self._notifier = notifier
        self._page = page_url(config)
        self._sender = addresses(notifier, "from", notifier.sender)[0]
        self._receivers = addresses(notifier, "to", notifier.to)
        self._templates = template_files.of_files(notifier, self._page)

    def send(self, message: Message) -> str:
        receivers = [address.addr_spec for address in self._receivers]
        return deliver(self._notifier, self.write(message), receivers)

    def digests(self, event: Event) -> bool:  # noqa: ARG002  of all kinds
        return True

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  people believe the message they read last
        return False

    def close(self) -> None:
        """Every mail has a connection of its own."""

    def write(self, message: Message) -> EmailMessage:
        message = _on_one_line(message)
        mail = self._digest(message) if message.digest else self._group(message)
        mail["From"] = self._sender
        mail["To"] = self._receivers
        mail["Date"] = format_datetime(datetime.fromtimestamp(message.now_ms / 1000, UTC))
        # Without a domain it would look up our own, which can take very long.
        mail["Message-ID"] = make_msgid(domain=self._sender.domain or "localhost")
        return mail

    def _group(self, message: Message) -> EmailMessage:
        template = self._templates[message.event]
        text = template.render(message)
        if not text.startswith(SUBJECT):
            raise TemplateFailed(template.where, f"a mail must begin with {SUBJECT.strip()!r}")
        if message.reason and message.reason not in text:
            # Burrow's templates do not mention lag alerts.
            subject, _, body = text.partition("\n")
            text = f"{subject}\n\n{message.reason}\n{body}"
        return mail_of(text)

    def _digest(self, message: Message) -> EmailMessage:
        head = [f"{SUBJECT}[Warren] {headline(message)}", "", digest_summary(message), ""]
        return mail_of("\n".join([*head, *map(digest_line, message.digest), "", self._page]))


def mail_of(text: str) -> EmailMessage:
    """Split a rendered template into headers and body."""
    subject, content_type, body = "", "text/plain", ""
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        if line.startswith(SUBJECT) and not subject:
            subject = line.removeprefix(SUBJECT)
        elif line.startswith(CONTENT_TYPE):
            content_type = line.removeprefix(CONTENT_TYPE)
        elif not line.startswith(MIME_VERSION):  # there is only one version
            body += f"{line}\n"
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = _BREAKS.sub(" ", subject).strip()
    kind, _, subtype = re.split(r"[;\s]", content_type.strip(), maxsplit=1)[0].partition("/")
    if kind.lower() == "text" and subtype:
        mail.set_content(body, subtype=subtype, cte="quoted-printable")
    else:
        mail.set_content(body.encode(), kind or "text", subtype or "plain", cte="base64")
    return mail


def addresses(notifier: EmailNotifier, key: str, text: str) -> list[Address]:
    """Read a list of mail addresses, with or without names; raises SendFailed."""
    try:
        found = [Address(name, addr_spec=spec) for name, spec in getaddresses([text]) if spec]
    except (ValueError, IndexError) as error:
        found = []
        reason: Exception | None = error
    else:
        reason = None
    if not found or not all(address.domain for address in found):
        problem = f"{text!r} is not a list of mail addresses such as ops@example.com"
        raise SendFailed(f"notifier.{notifier.name}.{key}: {problem}", retry=False) from reason
    return found


def _on_one_line(message: Message) -> Message:
    """Remove line breaks from all names: people choose them."""
    result, replace = message.result, msgspec.structs.replace
    result = replace(
        result,
        cluster=_clean(result.cluster),
        group=_clean(result.group),
        partitions=tuple(map(_clean_partition, result.partitions)),
        maxlag=_clean_partition(result.maxlag) if result.maxlag else None,
    )
    return replace(
        message,
        cluster=_clean(message.cluster),
        group=_clean(message.group),
        reason=_clean(message.reason),
        owner=_clean(message.owner),
        result=result,
        digest=tuple(
            replace(
                line,
                cluster=_clean(line.cluster),
                group=_clean(line.group),
                owner=_clean(line.owner),
            )
            for line in message.digest
        ),
    )


def _clean_partition(partition: PartitionResult) -> PartitionResult:
    return msgspec.structs.replace(
        partition,
        topic=_clean(partition.topic),
        owner=_clean(partition.owner),
        client_id=_clean(partition.client_id),
    )


def _clean(text: str) -> str:
    return _BREAKS.sub(" ", readable(text))
