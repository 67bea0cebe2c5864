"""Tries notifiers with a sample incident: at startup, and for `warren notify-test`."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from warren.config import (
    AlertmanagerNotifier,
    Config,
    HttpNotifier,
    Loaded,
    Notifier,
    SlackNotifier,
)
from warren.errors import ConfigError, NotifierUnknown, SendFailed
from warren.model.status import Status
from warren.notify.lag_rules import LagRule
from warren.notify.message import (
    Event,
    Message,
    Sender,
)
from warren.notify.sample import NOW_MS, sample, sample_digest, sample_gone
from warren.notify.senders.choose import Writer, make_sender


def rehearse(loaded: Loaded) -> None:
    """Write a sample of every message; raises ConfigError with all notifiers that fail."""
    problems = [
        problem
        for notifier in loaded.config.notifiers.values()
        for problem in _problems(notifier, loaded.config)
    ]
    if problems:
        raise ConfigError(loaded.path, problems)


def events(notifier: Notifier) -> Iterator[Event]:
    """The events that a notifier sends."""
    yield "open"
    if notifier.send_close:
        yield "close"


def _problems(notifier: Notifier, config: Config) -> Iterator[str]:
    prefix = f"notifier.{notifier.name}"
    try:
        sender = make_sender(notifier, config)
    except SendFailed as error:
        yield _with_prefix(prefix, error)
        return
    try:
        for message in _samples(notifier, sender):
            sender.write(message)
    except SendFailed as error:
        yield _with_prefix(prefix, error)


def _samples(notifier: Notifier, sender: Writer) -> Iterator[Message]:
    """Every kind of message that the notifier may write."""
    for event in events(notifier):
        yield sample(event, NOW_MS)
        if notifier.rate and sender.digests(event):
            yield sample_digest(event, NOW_MS)
    if notifier.send_close:
        yield sample_gone(NOW_MS)
    if notifier.threshold <= Status.OK:
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", id="", start_ms=0)
    if LagRule.of(notifier):
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", reason="lag is 9")


def _with_prefix(prefix: str, error: SendFailed) -> str:
    text = str(error)
    return text if text.startswith(prefix) else f"{prefix}: {text}"


def try_notifier(config: Config, name: str, report: Callable[[str], object]) -> None:
    """Send a sample opening, and its close if possible; report the receiver's replies."""
    notifier = config.notifiers.get(name.lower())
    if notifier is None:
        raise NotifierUnknown(name, config.notifiers)
    tried = _with_close(notifier)
    with closing(make_sender(tried, config)) as sender:
        for event in events(tried):
            report(f"{event}: {_reply(sender, event, notifier.name)}")
    if not tried.send_close:
        report("close: not sent, as send-close is not set")


def _with_close(notifier: Notifier) -> Notifier:
    """The notifier with closes, if it can write one: the sample must not stay open."""
    match notifier:
        case SlackNotifier() | AlertmanagerNotifier():
            can_close = True
        case HttpNotifier():
            can_close = bool(notifier.url_close) and Path(notifier.template_close).is_file()
        case _:
            can_close = Path(notifier.template_close).is_file()
    return msgspec.structs.replace(notifier, send_close=notifier.send_close or can_close)


def _reply(sender: Sender, event: Event, name: str) -> str:
    try:
        return sender.send(sample(event, int(time.time() * 1000)))
    except SendFailed as error:
        raise SendFailed(f"notifier {name}, {event}: {error}", retry=error.retry) from error
