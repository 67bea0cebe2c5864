"""`warren notify-test`: a made-up incident through the real notifier."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from warren.config import AlertmanagerNotifier, Config, HttpNotifier, Notifier, SlackNotifier
from warren.errors import NotifierUnknown, SendFailed
from warren.notify.message import Event, Sender
from warren.notify.rehearsal import events
from warren.notify.sample import sample
from warren.notify.senders import sender


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
