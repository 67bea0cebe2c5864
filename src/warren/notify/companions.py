"""All that a configuration's notifiers need, each to run in a thread of its own."""

import threading
from collections.abc import Callable, Iterator, Mapping

from warren.board import Board
from warren.config import Config
from warren.notify.delivery import Delivery
from warren.notify.leadership import Leadership, leadership
from warren.notify.notifying import Notifying
from warren.notify.senders import sender


class Both(threading.Event):
    """Set when two others are."""

    def __init__(self, first: threading.Event, second: threading.Event) -> None:
        super().__init__()
        self._first, self._second = first, second

    def is_set(self) -> bool:
        return self._first.is_set() and self._second.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._first.wait(timeout) and self._second.wait(timeout)


class Lock:
    """Keeps this instance trying to be the one that leads."""

    name = "lock"

    def __init__(
        self, kind: str, leadership: Leadership, finished: threading.Event | None = None
    ) -> None:
        self.kind = kind
        self.problem = ""
        self.restarts = 0
        self._leadership = leadership
        self._finished = finished  # nothing is left to save

    def run(self, stop: threading.Event) -> None:
        self._leadership.run(Both(stop, self._finished) if self._finished else stop)

    def health(self) -> Mapping[str, object]:
        leads = self._leadership.leads
        return {"problem": self._leadership.problem or self.problem, "leads": leads}


def notifiers(config: Config, boards: Callable[[], Board]) -> Iterator[Lock | Notifying | Delivery]:
    if not config.notifiers:
        return
    lead = leadership(config)
    senders = {name: sender(notifier, config) for name, notifier in config.notifiers.items()}
    notifying = Notifying(config, boards, lead, senders)
    yield Lock("incidents", lead, notifying.finished)
    yield notifying
    yield from notifying.deliveries
