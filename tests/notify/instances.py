"""A Warren that notifies, in this process: boards come from the test, and so does its clock."""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from notify.receiver import in_threads
from support.config_files import MINIMAL, load_text
from support.waiting import eventually

from warren.config import Config
from warren.leadership.leadership import leadership
from warren.model.board import Board
from warren.notify.message import Sender
from warren.notify.notifying import Notifying


def configured(folder: Path, *notifiers: str, minimal: str = MINIMAL) -> Config:
    state = f'\n[general]\nstate-dir = "{folder}"\n'
    return load_text(folder, minimal + state + "".join(notifiers)).config


class Instance:
    """A process that notifies, with receivers that remember; its clock is the caller's."""

    def __init__(self, config: Config, receivers: Mapping[str, Sender]) -> None:
        self.board = Board(0)
        self.lock = leadership(config)
        self.notifying = Notifying(config, lambda: self.board, self.lock, receivers)
        self._turns = itertools.count(step=10_000)

    def look(self, board: Board) -> None:
        """One round with that board, until everything it asks for was sent and noted."""
        self.board = board
        self.notifying.look(next(self._turns), board.moment_ms)
        eventually(lambda: not any(each.health().queued for each in self.notifying.deliveries))
        self.notifying.note_delivered(board.moment_ms)


@contextmanager
def instance(config: Config, receivers: Mapping[str, Sender]) -> Iterator[Instance]:
    made = Instance(config, receivers)
    deliveries = [each.run for each in made.notifying.deliveries]
    with in_threads([made.lock.run, *deliveries]):
        eventually(lambda: made.lock.leads)
        made.notifying.take_over()
        yield made


def outcomes(current: Instance, module: str) -> dict[str, int]:
    """What the metric warren_notifier_outcomes_total tells, but for zeros."""
    health = {each.name: each.health() for each in current.notifying.deliveries}
    counted = health[module].outcomes
    assert isinstance(counted, Mapping)
    return {outcome: count for outcome, count in counted.items() if count}
