"""What has changed from board to board: statuses, generations and problems, and since when.

It sees every board that is published, in the pipeline's process, so all workers tell the same. It
begins anew with each start: what has not changed since then has been so at least since then.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from warren.model.arrays import AnyArray, Bytes, Ints
from warren.model.board import Board, ClusterBoard
from warren.model.health import Health
from warren.model.kafka_names import readable
from warren.model.status import Status

MOST = 500  # of each kind; older ones are forgotten
NO_GENERATION = -1
NAMES = {int(status): status.name for status in Status if status}
# Services with a name each, and services of which there is one.
NAMED = ("clusters", "consumers", "notifiers", "sinks", "snapshots")
SINGLE = (
    *("incidents.lock", "incidents.rounds"),
    *("history.lock", "history.recent", "history.keeper", "history.upkeep"),
)


class StatusChange(msgspec.Struct):
    """`before` is null for a new group, `after` for one that is gone."""

    cluster: str
    group: str
    before: str | None
    after: str | None
    moment_ms: int


class Rebalance(msgspec.Struct):
    """A generation that has begun; the last one, if several began between two boards."""

    cluster: str
    group: str
    generation: int
    moment_ms: int


class Changes(msgspec.Struct):
    """As a board's file has them, the oldest first."""

    statuses: list[StatusChange] = []
    rebalances: list[Rebalance] = []
    complete_since_ms: int = 0  # every later change of status is listed; 0: none is forgotten
    problems_since_ms: dict[str, int] = {}  # by kind and name, as in "sinks.influx"


@dataclass(frozen=True)
class _Seen:
    """One cluster on one board."""

    cluster: str
    at_ms: int
    names: tuple[str, ...]
    status: Bytes
    generation: Ints
    since_ms: Ints
    began_ms: int  # the first board with this cluster

    def places(self, names: tuple[str, ...]) -> Ints:
        """Where these groups are; -1 for one that is not there."""
        if names == self.names:
            return np.arange(len(names))
        number = {name: at for at, name in enumerate(self.names)}
        return np.fromiter((number.get(name, -1) for name in names), np.int64, len(names))

    def statuses(self, places: Ints) -> Ints:
        """0 for a group that is not there."""
        return np.append(self.status, 0)[places].astype(np.int64)


class ChangeLog:
    def __init__(self) -> None:
        self._clusters: dict[str, _Seen] = {}
        self._statuses: deque[StatusChange] = deque()
        self._complete_since_ms = 0
        self._rebalances: deque[Rebalance] = deque(maxlen=MOST)
        self._problems: dict[str, tuple[str, int]] = {}

    def note(self, board: Board) -> dict[str, dict[str, AnyArray]]:
        """Compare with the board before; for each cluster, columns that the file has besides."""
        self._note_problems(board.health, board.moment_ms)
        for name in self._clusters.keys() - board.clusters.keys():
            del self._clusters[name]
        columns = {
            name: self._note_cluster(name, cluster, board.moment_ms)
            for name, cluster in board.clusters.items()
        }
        if not board.health.ready:  # what is still to be read would look like changes
            self._clusters = {}
        return columns

    def listed(self) -> Changes:
        since = {name: since_ms for name, (_, since_ms) in self._problems.items()}
        return Changes([*self._statuses], [*self._rebalances], self._complete_since_ms, since)

    def _note_cluster(self, name: str, cluster: ClusterBoard, at_ms: int) -> dict[str, AnyArray]:
        verdicts, before = cluster.verdicts, self._clusters.get(name)
        status, since_ms = verdicts.groups.status, np.full(len(verdicts.names), at_ms)
        began_ms = before.began_ms if before else at_ms
        generation = _generations(cluster)
        now = _Seen(name, at_ms, verdicts.names, status.copy(), generation, since_ms, began_ms)
        if before is not None:
            places = before.places(now.names)
            was = before.statuses(places)
            same = np.flatnonzero(was == status)
            since_ms[same] = before.since_ms[places[same]]
            self._keep(_status_changes(before, now, was))
            self._rebalances.extend(_rebalances(before, now, places))
        self._clusters[name] = now
        return {
            "group_generation": generation,
            "group_since_ms": since_ms,
            "watched_since_ms": np.array([began_ms]),
        }

    def _keep(self, changes: Iterator[StatusChange]) -> None:
        for each in changes:
            self._statuses.append(each)
            if len(self._statuses) > MOST:
                self._complete_since_ms = self._statuses.popleft().moment_ms

    def _note_problems(self, health: Health, now_ms: int) -> None:
        found = dict(_problems(health))
        self._problems = {
            name: (text, self._problems[name][1] if name in self._problems else now_ms)
            for name, text in found.items()
        }


def _status_changes(before: _Seen, now: _Seen, was: Ints) -> Iterator[StatusChange]:
    """Of the groups that are there, then of those that are gone."""
    for at in np.flatnonzero(was != now.status).tolist():
        old, new = _name(int(was[at])), _name(int(now.status[at]))
        yield StatusChange(now.cluster, readable(now.names[at]), old, new, now.at_ms)
    gone = set[str]() if before.names == now.names else {*before.names}.difference(now.names)
    for name, status in zip(before.names, before.status.tolist(), strict=True) if gone else ():
        if name in gone:
            yield StatusChange(now.cluster, readable(name), _name(status), None, now.at_ms)


def _rebalances(before: _Seen, now: _Seen, places: Ints) -> Iterator[Rebalance]:
    known = np.flatnonzero((places >= 0) & (now.generation != NO_GENERATION))
    old = before.generation[places[known]]
    for at in known[(old != NO_GENERATION) & (old != now.generation[known])].tolist():
        name = readable(now.names[at])
        yield Rebalance(now.cluster, name, int(now.generation[at]), now.at_ms)


def _generations(cluster: ClusterBoard) -> Ints:
    names, known = cluster.verdicts.names, cluster.generations
    if not known:
        return np.full(len(names), NO_GENERATION, np.int64)
    return np.fromiter((known.get(name, NO_GENERATION) for name in names), np.int64, len(names))


def _name(status: int) -> str | None:
    """Not of NOTFOUND; what is no status cannot be told, but does not stop the log."""
    return NAMES.get(status)


def _problems(health: Health) -> Iterator[tuple[str, str]]:
    """What does not work now, by kind and name."""
    for kind in NAMED:
        each: Any
        for name, each in getattr(health, kind).items():
            if each.problem:
                yield f"{kind}.{name}", each.problem
    for path in SINGLE:
        kind, _, part = path.partition(".")
        service = getattr(health, kind)
        found: Any = attrgetter(part)(service) if service else None
        if found is not None and found.problem:
            yield path, found.problem
