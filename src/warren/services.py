"""The threads that read boards: notifiers, history, sinks. They are started here."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from msgspec.structs import replace
from pyspark.sql import SparkSession

from warren.config import Config, HistorySettings
from warren.history.keeper import Keeper
from warren.history.refill import Refill
from warren.history.service import HistoryService
from warren.history.upkeep import Upkeep
from warren.leadership.leadership import Leadership, history_leadership, leadership
from warren.model.board import Board
from warren.model.health import (
    WAITING,
    ConsumerHealth,
    Health,
    HistoryHealth,
    IncidentsHealth,
    KeeperHealth,
    LockHealth,
    NotifierHealth,
    ServiceHealth,
    SinkHealth,
    on_standby,
)
from warren.notify.notifying import Notifying
from warren.notify.senders.choose import make_sender
from warren.notify.silence_book import SilenceBook
from warren.pipeline.snapshots import Snapshots
from warren.pipeline.threads import keep_running
from warren.sinks.stream import SinkStream

Boards = Callable[[], Board]  # the newest

POLL_S = 0.5


class Service(Protocol):
    """Runs in a thread of its own, and again after a while if it fails."""

    kind: str  # where the health answer lists it: "notifiers", "incidents", "history", "sinks"
    name: str
    problem: str  # what failed last
    restarts: int

    def run(self, stop: threading.Event) -> None: ...

    def health(self) -> ServiceHealth:
        """Its part of the health answer; callable at any time, never blocks."""
        ...


class BothSet(threading.Event):
    """Set when two other events are set."""

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
        self._leadership.run(BothSet(stop, self._finished) if self._finished else stop)

    def health(self) -> LockHealth:
        problem = self._leadership.problem or self.problem
        return LockHealth(problem, self.restarts, self._leadership.leads)


class StopOrLeadLost(threading.Event):
    """Set when this instance is stopped, or no longer leads."""

    def __init__(self, stop: threading.Event, lead: Leadership) -> None:
        super().__init__()
        self._stop, self._lead = stop, lead

    def is_set(self) -> bool:
        return self._stop.is_set() or not self._lead.leads

    def wait(self, timeout: float | None = None) -> bool:
        until = time.monotonic() + (math.inf if timeout is None else timeout)
        while not self.is_set() and (left := until - time.monotonic()) > 0:
            self._stop.wait(min(left, POLL_S))
        return self.is_set()


def not_begun(config: Config, restored: Health | None = None) -> Health:
    """The health before Spark is there, with what is known of a snapshot."""
    connecting = {
        name: ConsumerHealth(each.cluster, "connecting") for name, each in config.consumers.items()
    }
    keeper = KeeperHealth("", 0, state=WAITING)
    return replace(
        restored or Health(consumers=connecting),
        ready=False,
        spark="starting",
        notifiers=dict.fromkeys(config.notifiers, NotifierHealth("", 0, state=WAITING)),
        history=HistoryHealth(keeper=keeper) if config.history else None,
        sinks=dict.fromkeys(config.sinks, SinkHealth("", 0, state=WAITING)),
    )


class NotifierServices:
    """One service decides while it holds the lock; one for each notifier delivers."""

    def __init__(self, config: Config, boards: Boards, silences: SilenceBook | None = None) -> None:
        lead = leadership(config)
        senders = {
            name: make_sender(notifier, config) for name, notifier in config.notifiers.items()
        }
        self.rounds = Notifying(config, boards, lead, senders, silences)
        self.lock = Lock("incidents", lead, self.rounds.finished)

    def __iter__(self) -> Iterator[Service]:
        yield self.lock
        yield self.rounds
        yield from self.rounds.deliveries

    def add_to(self, health: Health) -> Health:
        return replace(
            health,
            incidents=IncidentsHealth(self.lock.health(), self.rounds.health()),
            notifiers={each.name: each.health() for each in self.rounds.deliveries},
        )


class HistoryServices:
    """Services that read history run everywhere, those that write it only on the leader."""

    def __init__(
        self,
        config: Config,
        settings: HistorySettings,
        spark: SparkSession,
        boards: Boards,
        reader: HistoryService,
    ) -> None:
        directory, interval_s = config.history_directory, settings.history_interval
        self.lead = history_leadership(config)
        self.lock = Lock("history", self.lead)
        self.refill = Refill(spark, reader.files, reader.recent, interval_s)
        self.keeper = Keeper(spark, directory, settings, boards, reader.recent.add)
        self.upkeep = Upkeep(spark, directory, settings.history_days)
        self.sinks = [SinkStream(spark, config, sink) for sink in config.sinks.values()]

    @property
    def everywhere(self) -> list[Service]:
        return [self.lock, self.refill]

    @property
    def where_led(self) -> list[Service]:
        return [self.keeper, self.upkeep, *self.sinks]

    def run_while_leading(self, writer: Service, stop: threading.Event) -> None:
        if self.lead.leads:
            writer.run(StopOrLeadLost(stop, self.lead))
        else:
            writer.problem = ""  # another instance does this now
            stop.wait(POLL_S)

    def add_to(self, health: Health) -> Health:
        keeper, upkeep = self.keeper.health(), self.upkeep.health()
        sinks = {each.name: each.health() for each in self.sinks}
        if not self.lead.leads:
            keeper, upkeep = on_standby(keeper), on_standby(upkeep)
            sinks = {name: on_standby(each) for name, each in sinks.items()}
        lock, recent = self.lock.health(), self.refill.health()
        return replace(health, history=HistoryHealth(lock, recent, keeper, upkeep), sinks=sinks)


class Services:
    """All services of a configuration; those that write history run only while we lead."""

    def __init__(
        self,
        config: Config,
        spark: SparkSession,
        boards: Boards,
        reader: HistoryService,
        silences: SilenceBook | None = None,
    ) -> None:
        self._notifiers = NotifierServices(config, boards, silences) if config.notifiers else None
        self._history = (
            HistoryServices(config, config.history, spark, boards, reader)
            if config.history
            else None
        )
        self._snapshots: Snapshots | None = None

    def start(self, stop: threading.Event, snapshots: Snapshots | None) -> list[threading.Thread]:
        """Start a thread for each service."""
        self._snapshots = snapshots
        history = self._history
        everywhere: list[Service] = [*(self._notifiers or ())]
        everywhere += history.everywhere if history else []
        everywhere += [snapshots] if snapshots else []
        works = [(each, each.run) for each in everywhere]
        if history:
            writers = history.where_led
            works += [(each, partial(history.run_while_leading, each)) for each in writers]
        return [keep_running(f"{each.kind} {each.name}", work, each, stop) for each, work in works]

    def add_to(self, health: Health) -> Health:
        """The same health with the part of each service."""
        health = replace(health, spark="up")
        if self._notifiers:
            health = self._notifiers.add_to(health)
        if self._history:
            health = self._history.add_to(health)
        if self._snapshots:
            health = replace(health, snapshots={self._snapshots.name: self._snapshots.health()})
        return health
