"""Class `slack`: an incoming webhook, and messages made of blocks.

Slack refuses messages with too many blocks or too long texts, so everything is cut to its limits.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from warren.config import Config, SlackNotifier
from warren.model.counted_nouns import counted
from warren.model.go_json import encode
from warren.model.kafka_names import readable
from warren.model.status import Status
from warren.notify.message import Event, Message
from warren.notify.plain_numbers import waiting
from warren.notify.senders.http_requests import Requests
from warren.notify.templates import template_files
from warren.notify.wording import (
    digest_line,
    digest_summary,
    evidence,
    group_url,
    headline,
    page_url,
    partition_line,
    utc,
    verdict,
    worst,
)

HEADER_CHARACTERS, FIELD_CHARACTERS, SECTION_CHARACTERS = 150, 2000, 3000
DIGEST_SECTIONS = 20  # of the 50 blocks a message may have
PARTITIONS = 10

Block = Mapping[str, object]


class SlackSender:
    def __init__(self, notifier: SlackNotifier, config: Config) -> None:
        self._url = notifier.webhook_url.reveal()
        self._page = page_url(config)
        self._templates = template_files.of_files(notifier)
        self._requests = Requests(notifier)

    def send(self, message: Message) -> str:
        return self._requests.send("POST", self._url, self.write(message))

    def write(self, message: Message) -> bytes:
        template = None if message.digest else self._templates.get(message.event)
        return template.render(message).encode() if template else encode(self._payload(message))

    def digests(self, event: Event) -> bool:  # noqa: ARG002  of all kinds
        return True

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  people believe the message they read last
        return False

    def close(self) -> None:
        self._requests.close()

    def _payload(self, message: Message) -> dict[str, object]:
        """`text` is shown in phone notifications; `blocks` are the message."""
        title = f"{_signal(message)} {headline(message)}"
        about = _digest(message, self._page) if message.digest else _group(message)
        blocks = [_header(title), *about]
        if link := group_url(self._page, message.cluster, message.group):
            blocks.append(_section(f"<{link}|Open in Warren>"))
        return {"text": escaped(title), "blocks": blocks}


def escaped(text: str) -> str:
    """Escape Slack's markup in names: <!channel> would notify everybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, characters: int) -> str:
    """Shorten an escaped text, but not in the middle of an escape."""
    if len(text) <= characters:
        return text
    return re.sub(r"&[a-z]*$", "", text[: characters - 1]) + "…"


def _signal(message: Message) -> str:
    if message.event == "close":
        return ":large_green_circle:"
    is_error = message.result.status is Status.ERR and not message.reason
    return ":red_circle:" if is_error else ":large_yellow_circle:"


def _group(message: Message) -> Iterator[Block]:
    result = message.result
    since = f"<!date^{message.start_ms // 1000}^{{date_short_pretty}} {{time}}|"
    fields = {
        "Group": _code(message.group),
        "Cluster": _code(message.cluster),
        "Status": verdict(result),
        "Total lag": f"{result.total_lag:,}",
        "Since": f"{since}{utc(message.start_ms)}>" if message.start_ms else "just now",
        "Bad partitions": f"{len(result.partitions):,} of {result.total_partitions:,}",
    }
    if message.owner:
        fields["Owner"] = _code(message.owner)
    texts = (_mrkdwn(f"*{name}*\n{value}", FIELD_CHARACTERS) for name, value in fields.items())
    yield {"type": "section", "fields": list(texts)}
    if message.reason:
        yield _section(escaped(readable(message.reason)))
    for text in (evidence(message), waiting(message)):
        if text:
            yield _section(escaped(text))
    if result.partitions:
        yield _section(_listed(map(partition_line, worst(message, PARTITIONS))))
    if (rest := len(result.partitions) - PARTITIONS) > 0:
        yield _section(f"and {counted(rest, 'more partition')}")


def _digest(message: Message, page: str) -> Iterator[Block]:
    """As many lines as fit, the worst first; then how many more there are, with a link."""
    yield _section(escaped(digest_summary(message)))
    lines = sorted(message.digest, key=lambda line: (-line.status, -line.total_lag))
    texts, shown = [escaped(digest_line(line)) for line in lines], 0
    for _ in range(DIGEST_SECTIONS):
        fits, length = 0, 0
        for text in texts[shown:]:
            length += min(len(text), FIELD_CHARACTERS) + 1
            if length > SECTION_CHARACTERS - 10:  # for the code fence
                break
            fits += 1
        if fits:
            yield _section(_fenced(cut(t, FIELD_CHARACTERS) for t in texts[shown : shown + fits]))
        shown += fits
    if (rest := len(texts) - shown) > 0:
        more = counted(rest, "more group")
        yield _section(f"and {more}, <{page}|listed in Warren>" if page else f"and {more}")


def _header(text: str) -> Block:
    plain = {"type": "plain_text", "text": cut(escaped(text), HEADER_CHARACTERS), "emoji": True}
    return {"type": "header", "text": plain}


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text, SECTION_CHARACTERS)}


def _mrkdwn(text: str, characters: int) -> Block:
    return {"type": "mrkdwn", "text": cut(text, characters)}


def _code(name: str) -> str:
    return f"`{_without_ticks(escaped(readable(name)))[: FIELD_CHARACTERS - 50]}`"


def _listed(lines: Iterable[str]) -> str:
    return _fenced(cut(escaped(line), 250) for line in lines)


def _fenced(lines: Iterable[str]) -> str:
    return "```" + _without_ticks("\n".join(lines)) + "```"


def _without_ticks(text: str) -> str:
    """A backtick would end the code block around a name."""
    return text.replace("`", "'")
