"""Who answers `warren history` and `warren report`: a history table, or a running Warren."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
import msgspec

from warren.errors import Unanswered, WarrenError
from warren.history import group_history
from warren.history.memory_queries import Kept
from warren.history.reader import Past
from warren.history.report.formats import from_tables
from warren.history.report.summary import Report, make
from warren.model.history_question import STEPS
from warren.model.tables import GROUP, LOG_END, PARTITION
from warren.terminal.remote import Remote
from warren.terminal.words import shown

Answer = dict[str, Any]  # as /v4/history answers
NOT_SHOWN = ("board", "heat_map")


class NothingKept(WarrenError):
    def __init__(self, group: str) -> None:
        super().__init__(f"history has nothing of {shown(group)}, its topic or partition then")


class Ambiguous(WarrenError):
    def __init__(self, group: str, clusters: list[str]) -> None:
        names = ", ".join(map(shown, clusters))
        super().__init__(f"{shown(group)} is a group of {names}; choose one with --cluster")


class PastSource(Protocol):
    def report(self, group: str, top: int) -> Report: ...

    def history(
        self, group: str, topic: str = "", partition: int | None = None, steps: int = STEPS
    ) -> Answer: ...


@dataclass(frozen=True)
class TablePast:
    """Reads the table itself."""

    past: Past

    def report(self, group: str, top: int) -> Report:
        with self.past.reading(group, (GROUP, LOG_END)) as kept:
            return make(kept, self.past.period, top)

    def history(
        self, group: str, topic: str = "", partition: int | None = None, steps: int = STEPS
    ) -> Answer:
        with self.past.reading(group, (GROUP, PARTITION)) as rows:
            kept = rows.together(topic, partition) if topic else rows
            return {
                "cluster": _only_one(kept, group),
                "group": group,
                **self.past.period._asdict(),
                **group_history.curve(kept, self.past.period, steps),
                "incidents": group_history.incidents(kept),
            }


def _only_one(kept: Kept, group: str) -> str:
    clusters = kept.clusters()
    if not clusters:
        raise NothingKept(group)
    if len(clusters) > 1:
        raise Ambiguous(group, clusters)
    return clusters[0]


@dataclass(frozen=True)
class RemotePast:
    """Requests it from a Warren, by whose clock `since` and `until` are read."""

    remote: Remote
    since: str
    until: str
    cluster: str = ""

    def report(self, group: str, top: int) -> Report:
        query = {"group": group, "cluster": self.cluster, "top": top}
        return from_tables(msgspec.json.decode(self._ask("/v4/report", query).content))

    def history(
        self, group: str, topic: str = "", partition: int | None = None, steps: int = STEPS
    ) -> Answer:
        query: dict[str, object] = {"group": group, "topic": topic, "steps": steps, "partitions": 0}
        if partition is not None:
            query["partition"] = partition
        found, refusals = [], list[Unanswered]()
        for cluster in self._places(group):
            try:
                answer = self._ask("/v4/history", query | {"cluster": cluster})
            except Unanswered as refusal:  # another cluster may have had the group
                refusals.append(refusal)
            else:
                found.append(msgspec.json.decode(answer.content, type=Answer))
        return self._the_one(group, found, refusals)

    def _the_one(self, group: str, found: list[Answer], refusals: list[Unanswered]) -> Answer:
        known = [answer for answer in found if answer["moments"]]
        if len(known) > 1:
            raise Ambiguous(group, [answer["cluster"] for answer in known])
        if not found and refusals:
            raise refusals[0]
        if not known:
            raise NothingKept(group)
        return {name: value for name, value in known[0].items() if name not in NOT_SHOWN}

    def _places(self, group: str) -> list[str]:
        """The clusters to ask: those that have the group now, or, if it is gone, all."""
        if self.cluster:
            return [self.cluster]
        clusters = self.remote.overview().clusters
        now = [each.name for each in clusters if group in each.group]
        return now or [each.name for each in clusters]

    def _ask(self, path: str, query: Mapping[str, object]) -> httpx.Response:
        everything = {"since": self.since, "until": self.until, **query}
        return self.remote.ask(path, {name: str(value) for name, value in everything.items()})
