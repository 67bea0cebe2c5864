"""Notifiers tried on a made-up incident: before anything starts, and by `warren notify-test`."""

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
from warren.notify.sample import NOW_MS, digest_of, sample, vanished
from warren.notify.senders.choose import Writer, sender


def rehearse(loaded: Loaded) -> None:
    """Write a sample of every message; raises ConfigError with every notifier that cannot."""
    problems = [
        problem
        for notifier in loaded.config.notifiers.values()
        for problem in _problems(notifier, loaded.config)
    ]
    if problems:
        raise ConfigError(loaded.path, problems)


def events(notifier: Notifier) -> Iterator[Event]:
    """What a notifier ever sends."""
    yield "open"
    if notifier.send_close:
        yield "close"


def _problems(notifier: Notifier, config: Config) -> Iterator[str]:
    prefix = f"notifier.{notifier.name}"
    try:
        made = sender(notifier, config)
    except SendFailed as error:
        yield _placed(prefix, error)
        return
    try:
        for message in _samples(notifier, made):
            made.write(message)
    except SendFailed as error:
        yield _placed(prefix, error)


def _samples(notifier: Notifier, made: Writer) -> Iterator[Message]:
    """Every kind of message that the notifier may have to write."""
    for event in events(notifier):
        yield sample(event, NOW_MS)
        if notifier.rate and made.digests(event):
            yield digest_of(event, NOW_MS)
    if notifier.send_close:
        yield vanished(NOW_MS)
    if notifier.threshold <= Status.OK:
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", id="", start_ms=0)
    if LagRule.of(notifier):
        yield msgspec.structs.replace(sample("close", NOW_MS), event="open", reason="lag is 9")


def _placed(prefix: str, error: SendFailed) -> str:
    text = str(error)
    return text if text.startswith(prefix) else f"{prefix}: {text}"


def try_notifier(config: Config, name: str, tell: Callable[[str], object]) -> None:
    """Send a sample open, and its close if there is any way to; tell what the receiver says."""
    notifier = config.notifiers.get(name.lower())
    if notifier is None:
        raise NotifierUnknown(name, config.notifiers)
    tried = _closing(notifier)
    with closing(sender(tried, config)) as made:
        for event in events(tried):
            tell(f"{event}: {_answer(made, event, notifier.name)}")
    if not tried.send_close:
        tell("close: not sent, as send-close is not set")


def _closing(notifier: Notifier) -> Notifier:
    """The same with closes, if it can write one: what was made up must not stay open."""
    match notifier:
        case SlackNotifier() | AlertmanagerNotifier():
            can_close = True
        case HttpNotifier():
            can_close = bool(notifier.url_close) and Path(notifier.template_close).is_file()
        case _:
            can_close = Path(notifier.template_close).is_file()
    return msgspec.structs.replace(notifier, send_close=notifier.send_close or can_close)


def _answer(made: Sender, event: Event, name: str) -> str:
    try:
        return made.send(sample(event, int(time.time() * 1000)))
    except SendFailed as error:
        raise SendFailed(f"notifier {name}, {event}: {error}", retry=error.retry) from error
