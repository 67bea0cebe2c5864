"""What works beside the pipeline, from the boards it publishes: notifiers, history, sinks."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from pyspark.sql import SparkSession

from warren.board import Board
from warren.config import Config
from warren.history.keeper import Keeper
from warren.history.upkeep import Upkeep
from warren.notify.companions import notifiers
from warren.sinks.stream import Sink

Boards = Callable[[], Board]  # the newest


class Companion(Protocol):
    """Runs in a thread of its own, and again after a while if it fails."""

    kind: str  # where the health answer lists it: "notifiers", "incidents", "history", "sinks"
    name: str
    problem: str  # what failed last
    restarts: int

    def run(self, stop: threading.Event) -> None: ...

    def health(self) -> Mapping[str, object]:
        """What the health answer tells of it: at any time, without waiting."""
        ...


def companions(config: Config, spark: SparkSession, boards: Boards) -> Iterator[Companion]:
    """Make all that a configuration asks for."""
    yield from notifiers(config, boards)
    if config.history:
        directory = config.history_directory
        yield Keeper(spark, directory, config.history, boards)
        yield Upkeep(spark, directory, config.history.history_days)
    for sink in config.sinks.values():
        yield Sink(spark, config, sink)


def describe(companions: list[Companion]) -> dict[str, object]:
    """Tell of each by kind and name: {"sinks": {"influx": {"problem": "", "outcomes": {...}}}}."""
    told: dict[str, dict[str, object]] = {}
    for each in companions:
        told.setdefault(each.kind, {})[each.name] = {
            "problem": each.problem,
            "restarts": each.restarts,
            **each.health(),
        }
    return dict(told)
