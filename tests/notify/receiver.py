"""A receiver at the far end of a delivery, that does as it is told and remembers what it got."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from warren.errors import SendFailed
from warren.notify.delivery import Delivery
from warren.notify.message import Event, Message


class Receiver:
    def __init__(self, refusal: SendFailed | None = None) -> None:
        self.got: list[Message] = []
        self.attempts = 0
        self.by_id = False  # closes name their incident
        self.refusal = refusal
        self.refuses: set[Event] = {"open", "close"}
        self.singly: set[Event] = set()  # takes these one by one
        self.answers = threading.Event()  # unset: a message that comes in waits
        self.answers.set()

    def send(self, message: Message) -> str:
        self.attempts += 1
        assert self.answers.wait(20)
        if self.refusal is not None and message.event in self.refuses:
            raise self.refusal
        self.got.append(message)
        return "200 OK"

    def digests(self, event: Event) -> bool:
        return event not in self.singly

    def closes_by_id(self, *, lag: bool) -> bool:  # noqa: ARG002  whatever it is about
        return self.by_id

    def close(self) -> None:
        pass

    @property
    def heard(self) -> list[str]:
        return [f"{each.event} {each.group}" for each in self.got]


@contextmanager
def running(*deliveries: Delivery) -> Iterator[None]:
    with in_threads([each.run for each in deliveries]):
        yield


@contextmanager
def in_threads(works: Sequence[Callable[[threading.Event], None]]) -> Iterator[None]:
    """Run them until the block ends; all must end soon then."""
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=(stop,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(3)
    assert not any(thread.is_alive() for thread in threads)
