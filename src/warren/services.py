"""Starts the threads that read boards: notifiers, history, sinks."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Protocol

from pyspark.sql import SparkSession

from warren.config import Config, HistorySettings
from warren.history.keeper import Keeper
from warren.history.recent_hours import Recent
from warren.history.refill import Refill
from warren.history.service import HistoryService
from warren.history.upkeep import Upkeep
from warren.leadership.leadership import Leadership, history_leadership, leadership
from warren.model.board import Board
from warren.notify.delivery import Delivery
from warren.notify.notifying import Notifying
from warren.notify.senders.choose import make_sender
from warren.pipeline.threads import keep_running
from warren.sinks.stream import SinkStream


class BothSet(threading.Event):
    """Set when both of two events are set."""

    def __init__(self, first: threading.Event, second: threading.Event) -> None:
        super().__init__()
        self._first, self._second = first, second

    def is_set(self) -> bool:
        return self._first.is_set() and self._second.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._first.wait(timeout) and self._second.wait(timeout)


class Lock:
    """Runs the lock that decides whether this instance leads."""

    name = "lock"

    def __init__(
        self, kind: str, leadership: Leadership, finished: threading.Event | None = None
    ) -> None:
        self.kind = kind
        self.problem = ""
        self.restarts = 0
        self._leadership = leadership
        self._finished = finished  # set when nothing is left to save; the lock is held until then

    def run(self, stop: threading.Event) -> None:
        self._leadership.run(BothSet(stop, self._finished) if self._finished else stop)

    def health(self) -> Mapping[str, object]:
        leads = self._leadership.leads
        return {"problem": self._leadership.problem or self.problem, "leads": leads}


def notifiers(config: Config, boards: Callable[[], Board]) -> Iterator[Lock | Notifying | Delivery]:
    if not config.notifiers:
        return
    lead = leadership(config)
    senders = {name: make_sender(notifier, config) for name, notifier in config.notifiers.items()}
    notifying = Notifying(config, boards, lead, senders)
    yield Lock("incidents", lead, notifying.finished)
    yield notifying
    yield from notifying.deliveries


Boards = Callable[[], Board]  # the newest

POLL_S = 0.5


class Service(Protocol):
    """Runs in a thread of its own, and is restarted after a while if it fails."""

    kind: str  # where the health answer lists it: "notifiers", "incidents", "history", "sinks"
    name: str
    problem: str  # the last failure
    restarts: int

    def run(self, stop: threading.Event) -> None: ...

    def health(self) -> Mapping[str, object]:
        """Its part of the health answer; callable at any time, never blocks."""
        ...


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


def not_begun(
    config: Config, known: Mapping[str, object] = MappingProxyType({})
) -> dict[str, object]:
    """The health answer before Spark is there, with what is `known` of a snapshot."""
    consumers = {
        name: {"cluster": each.cluster, "state": "connecting"}
        for name, each in config.consumers.items()
    }
    kinds = {
        "notifiers": config.notifiers,
        "history": ["keeper"] if config.history else [],
        "sinks": config.sinks,
    }
    waiting = {"problem": "", "restarts": 0, "state": "begins when Spark is up"}
    return {
        "consumers": consumers,
        **known,
        **{kind: dict.fromkeys(names, waiting) for kind, names in kinds.items() if names},
        "ready": False,
        "spark": "starting",
    }


class Services:
    """All services of a configuration; those that write history run only while we lead."""

    def __init__(
        self, config: Config, spark: SparkSession, boards: Boards, reader: HistoryService
    ) -> None:
        self._everywhere: list[Service] = [*notifiers(config, boards)]
        self._where_led: list[Service] = []
        if config.history:
            self._lead = history_leadership(config)
            self._everywhere.append(Lock("history", self._lead))
            interval_s = config.history.history_interval
            self._everywhere.append(Refill(spark, reader.files, reader.recent, interval_s))
            self._where_led += _writers(config, config.history, spark, boards, reader.recent)

    def start(self, stop: threading.Event, others: Iterable[Service]) -> list[threading.Thread]:
        """Start a thread for each service; `others` are the caller's own."""
        self._everywhere += others
        works = [(each, each.run) for each in self._everywhere]
        works += [(each, partial(self._run_while_leading, each)) for each in self._where_led]
        return [keep_running(f"{each.kind} {each.name}", work, each, stop) for each, work in works]

    def describe(self) -> dict[str, object]:
        """Tell of each by kind and name: {"sinks": {"influx": {"problem": "", ...}}}."""
        told: dict[str, dict[str, object]] = {}
        for each in [*self._everywhere, *self._where_led]:
            health = each.health()
            if each in self._where_led and not self._lead.leads:
                health = {"state": "standby", "outcomes": health.get("outcomes", {})}
            about = {"problem": each.problem, "restarts": each.restarts, **health}
            told.setdefault(each.kind, {})[each.name] = about
        return dict(told)

    def _run_while_leading(self, service: Service, stop: threading.Event) -> None:
        if self._lead.leads:
            service.run(StopOrLeadLost(stop, self._lead))
        else:
            service.problem = ""  # another instance does this now
            stop.wait(POLL_S)


def _writers(
    config: Config, history: HistorySettings, spark: SparkSession, boards: Boards, recent: Recent
) -> Iterator[Service]:
    directory = config.history_directory
    yield Keeper(spark, directory, history, boards, recent.add)
    yield Upkeep(spark, directory, history.history_days)
    for sink in config.sinks.values():
        yield SinkStream(spark, config, sink)
