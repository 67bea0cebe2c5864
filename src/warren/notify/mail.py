"""Class `email`: a mail made by the user's template, headers and body in one text.

Lines that begin with `Subject: `, `Content-Type: ` and `MIME-version: ` become headers wherever
they stand, as in Burrow. So a name must never begin a line of its own: line breaks in names are
taken out before the template sees them.
"""

import re
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses, make_msgid

import msgspec

from warren.config import Config, EmailNotifier
from warren.errors import SendFailed, TemplateFailed
from warren.notify import templates
from warren.notify.message import Event, Message, PartitionResult
from warren.notify.page import page_url
from warren.notify.smtp import deliver
from warren.notify.template_data import readable
from warren.notify.wording import digest_line, digest_summary, headline

SUBJECT, CONTENT_TYPE, MIME_VERSION = "Subject: ", "Content-Type: ", "MIME-version: "
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class EmailSender:
    def __init__(self, notifier: EmailNotifier, config: Config) -> None:
        self._notifier = notifier
        self._page = page_url(config)
        self._sender = addresses(notifier, "from", notifier.sender)[0]
        self._receivers = addresses(notifier, "to", notifier.to)
        self._templates = templates.of_files(notifier, self._page)

    def send(self, message: Message) -> str:
        receivers = [address.addr_spec for address in self._receivers]
        return deliver(self._notifier, self.write(message), receivers)

    def digests(self, event: Event) -> bool:  # noqa: ARG002  of all kinds
        return True

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  people read it last, as the last word
        return False

    def close(self) -> None:
        """Every mail has a connection of its own."""

    def write(self, message: Message) -> EmailMessage:
        message = _on_one_line(message)
        mail = self._digest(message) if message.digest else self._group(message)
        mail["From"] = self._sender
        mail["To"] = self._receivers
        mail["Date"] = format_datetime(datetime.fromtimestamp(message.now_ms / 1000, UTC))
        # Without a domain it would look for our own, which can take as long as it likes.
        mail["Message-ID"] = make_msgid(domain=self._sender.domain or "localhost")
        return mail

    def _group(self, message: Message) -> EmailMessage:
        template = self._templates[message.event]
        text = template.render(message)
        if not text.startswith(SUBJECT):
            raise TemplateFailed(template.where, f"a mail must begin with {SUBJECT.strip()!r}")
        if message.reason and message.reason not in text:
            # Templates made for Burrow do not know of lag alerts.
            subject, _, body = text.partition("\n")
            text = f"{subject}\n\n{message.reason}\n{body}"
        return mail_of(text)

    def _digest(self, message: Message) -> EmailMessage:
        head = [f"{SUBJECT}[Warren] {headline(message)}", "", digest_summary(message), ""]
        return mail_of("\n".join([*head, *map(digest_line, message.digest), "", self._page]))


def mail_of(text: str) -> EmailMessage:
    """Part a rendered template into headers and body."""
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
        problem = f"{text!r} is no list of mail addresses such as ops@example.com"
        raise SendFailed(f"notifier.{notifier.name}.{key}: {problem}", retry=False) from reason
    return found


def _on_one_line(message: Message) -> Message:
    """Take the line breaks out of everything that has a name of somebody's choice."""
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
        result=result,
        digest=tuple(
            replace(line, cluster=_clean(line.cluster), group=_clean(line.group))
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
