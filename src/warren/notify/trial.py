"""`warren notify-test`: a made-up incident through the real notifier."""

import time
from collections.abc import Callable
from contextlib import closing

from warren.config import Config
from warren.errors import NotifierUnknown, SendFailed
from warren.notify.message import Event, Sender
from warren.notify.rehearsal import events
from warren.notify.sample import sample
from warren.notify.senders import sender


def try_notifier(config: Config, name: str, tell: Callable[[str], object]) -> None:
    """Send a sample open, and a close if the notifier sends those; tell what the receiver says."""
    notifier = config.notifiers.get(name.lower())
    if notifier is None:
        raise NotifierUnknown(name, config.notifiers)
    with closing(sender(notifier, config)) as made:
        for event in events(notifier):
            tell(f"{event}: {_answer(made, event, notifier.name)}")
    if not notifier.send_close:
        tell("close: not sent, as send-close is not set")


def _answer(made: Sender, event: Event, name: str) -> str:
    try:
        return made.send(sample(event, int(time.time() * 1000)))
    except SendFailed as error:
        raise SendFailed(f"notifier {name}, {event}: {error}", retry=error.retry) from error
