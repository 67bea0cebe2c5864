"""Notifiers tried before anything starts: a wrong template is found now, not at night."""

from collections.abc import Iterator

import msgspec

from warren.config import Config, Loaded, Notifier
from warren.errors import ConfigError, SendFailed
from warren.model import Status
from warren.notify.growth import LagRule
from warren.notify.message import Event, Message
from warren.notify.sample import NOW_MS, digest_of, sample, vanished
from warren.notify.senders import Writer, sender


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
