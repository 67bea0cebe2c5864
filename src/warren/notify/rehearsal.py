"""Notifiers tried before anything starts: a wrong template is found now, not at night."""

from collections.abc import Iterator

from warren.config import Config, Loaded, Notifier
from warren.errors import ConfigError, SendFailed
from warren.notify.message import Event
from warren.notify.sample import sample
from warren.notify.senders import sender

# Any moment does: what is written is thrown away.
NOW_MS = 1_700_000_000_000


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
    for event in events(notifier):
        try:
            made.write(sample(event, NOW_MS))
        except SendFailed as error:
            yield _placed(prefix, error)


def _placed(prefix: str, error: SendFailed) -> str:
    text = str(error)
    return text if text.startswith(prefix) else f"{prefix}: {text}"
