"""Makes the sender of a notifier, by its class."""

from typing import Protocol

from warren.config import (
    AlertmanagerNotifier,
    Config,
    EmailNotifier,
    HttpNotifier,
    Notifier,
    SlackNotifier,
)
from warren.notify.message import Event, Message, Sender
from warren.notify.senders.alertmanager import AlertmanagerSender
from warren.notify.senders.mail import EmailSender
from warren.notify.senders.slack import SlackSender
from warren.notify.senders.webhook import HttpSender
from warren.notify.templates import template_files


class Writer(Sender, Protocol):
    """A Sender that can also show what it would send."""

    def write(self, message: Message) -> object:
        """Raise SendFailed if the message cannot be written."""
        ...


class NullSender:
    """Class `null`: templates are checked, nothing is sent."""

    def __init__(self, notifier: Notifier) -> None:
        self._templates = template_files.of_files(notifier)

    def send(self, message: Message) -> str:  # noqa: ARG002  sends nothing
        return "class null sends nothing"

    def digests(self, event: Event) -> bool:  # noqa: ARG002  of all kinds
        return True

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  nobody reads it
        return False

    def close(self) -> None:
        pass

    def write(self, message: Message) -> object:
        template = None if message.digest else self._templates.get(message.event)
        return template.render(message) if template else ""


def make_sender(notifier: Notifier, config: Config) -> Writer:
    """Raises SendFailed if the notifier's templates or addresses are wrong."""
    match notifier:
        case HttpNotifier():
            return HttpSender(notifier)
        case EmailNotifier():
            return EmailSender(notifier, config)
        case SlackNotifier():
            return SlackSender(notifier, config)
        case AlertmanagerNotifier():
            return AlertmanagerSender(notifier, config)
    return NullSender(notifier)
