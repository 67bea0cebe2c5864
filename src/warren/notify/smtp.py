"""One mail to one SMTP server: TLS where it is offered, log-in, delivery, and what went wrong."""

import smtplib
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from email.message import EmailMessage

import structlog

from warren.config import EmailNotifier
from warren.errors import SendFailed
from warren.notify.tls import tls_context, why

log = structlog.get_logger()

TIMEOUT_S = 10
TLS_PORT = 465
HELLO = "localhost"  # what Burrow says; asking for our own full name can take as long as it likes


def deliver(notifier: EmailNotifier, mail: EmailMessage, receivers: Sequence[str]) -> str:
    """Send to all receivers; return the server's answer, or raise SendFailed."""
    where = f"{notifier.server}:{notifier.port}"
    with _failures_of(where), _connected(notifier) as server:
        _log_in(server, notifier, where)
        sender = mail["From"].addresses[0].addr_spec
        refused = server.send_message(mail, sender, list(receivers))
    if refused:
        told = ", ".join(f"{name} ({_said(*answer)})" for name, answer in refused.items())
        log.warning("a mail did not go to all", notifier=notifier.name, refused=told)
        return f"{where} took it, but not for {told}"
    return f"{where} took it for {', '.join(receivers)}"


@contextmanager
def _connected(notifier: EmailNotifier) -> Iterator[smtplib.SMTP]:
    """TLS from the start on port 465, else as soon as the server offers it."""
    context = tls_context(notifier.extra_ca, noverify=notifier.noverify)
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
            server.quit()  # it has the mail: a late complaint changes nothing
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
        problem += _said(error.smtp_code, error.smtp_error)
        raise SendFailed(problem, retry=_is_passing(error.smtp_code)) from error


@contextmanager
def _failures_of(where: str) -> Iterator[None]:
    """Every way of SMTP to fail, as one line for a person."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        answers = {_said(*answer): answer[0] for answer in error.recipients.values()}
        passing = any(map(_is_passing, answers.values()))
        raise SendFailed(f"{where} takes nobody: {', '.join(answers)}", retry=passing) from error
    except smtplib.SMTPResponseException as error:
        said = _said(error.smtp_code, error.smtp_error)
        raise SendFailed(f"{where} answered {said}", retry=_is_passing(error.smtp_code)) from error
    except smtplib.SMTPServerDisconnected as error:
        late = isinstance(error.__context__, TimeoutError)
        problem = f"did not answer within {TIMEOUT_S} s" if late else f"hung up: {error}"
        raise SendFailed(f"{where} {problem}", retry=True) from error
    except smtplib.SMTPNotSupportedError as error:
        raise SendFailed(f"{where} cannot: {error}", retry=False) from error
    except OSError as error:  # SMTPException too; certificates and unreachable hosts
        raise SendFailed(f"cannot reach {where}: {why(error)}", retry=True) from error


def _is_passing(code: int) -> bool:
    return code < 500  # 4xx: try again later; 5xx: never


def _said(code: int, text: bytes | str) -> str:
    shown = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(shown.split())}"
