"""Writes scenarios: what happens to a group, what has to be said of it, and its true numbers.

A scenario is a list of events (see `support.scenario_log`). Here it is told in sentences such as
"the log grows", "the group follows it", "then it is silent"; lags and ages are worked out from it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import Any

from support.scenario_log import ROUNDING

GROUP, TOPIC = "billing", "orders"
ANY_PACE = math.inf


class Dial:
    """The numbers of a situation: those it was reported with, or any of the same kind."""

    def __init__(self, chance: Random | None = None) -> None:
        self._chance = chance

    def number(self, usual: float, low: float, high: float) -> float:
        """Every order of magnitude is as likely."""
        if self._chance is None:
            return usual
        drawn = math.exp(self._chance.uniform(math.log(low), math.log(high)))
        return round(drawn, 1) if drawn >= 2 else round(drawn, 3)

    def whole(self, usual: int, low: int, high: int) -> int:
        return usual if self._chance is None else round(self.number(usual, low, high))

    def one_of(self, usual: Any, *others: Any) -> Any:
        return usual if self._chance is None else self._chance.choice([usual, *others])

    def chance(self, *, usual: bool) -> bool:
        return usual if self._chance is None else self._chance.random() < 0.5

    def jitter(self) -> float:
        """Between -1 and 1."""
        return self._chance.uniform(-1, 1) if self._chance else 0.0


@dataclass
class LogLine:
    """Where a log ended, and what was committed of it, at any time."""

    pieces: list[tuple[float, int, float]]  # from when on, the end, and how fast it grows
    start: list[tuple[float, int]]
    commits: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def end_at(self, at_s: float) -> int:
        since, end, rate = next(each for each in reversed(self.pieces) if each[0] <= at_s)
        return end + math.floor(rate * (at_s - since) + ROUNDING)

    def committed_at(self, at_s: float, group: str) -> int:
        return next(offset for when, offset in reversed(self.commits[group]) if when <= at_s)

    def written_at(self, offset: int) -> float:
        """When the record at this offset came; a log that was cut off counts from then on."""
        ends = [*(piece[0] for piece in self.pieces[1:]), math.inf]
        for (since, end, rate), until in reversed([*zip(self.pieces, ends, strict=True)]):
            if end <= offset and rate > 0:
                came = since + (offset + 1 - end - ROUNDING) / rate
                if came <= until:
                    return came
            if end <= offset:
                return until
        return 0.0


class Scene:
    """A scenario in the making."""

    def __init__(
        self,
        about: str,
        until: float,
        *,
        refresh_s: float = 10,
        policy: dict[str, Any] | None = None,
    ) -> None:
        self.about, self.until = about, until
        self.settings: dict[str, Any] = {"offset_refresh_s": refresh_s}
        if policy:
            self.settings["policy"] = {GROUP: policy}
        self.topics: dict[str, dict[str, int]] = {}
        self.logs: dict[tuple[str, int], LogLine] = {}
        self.events: list[list[Any]] = []
        self.expected: dict[str, list[list[Any]]] = {}

    # What happens.

    def topic(
        self, partitions: int = 1, *, start: int = 0, end: int = 0, name: str = TOPIC
    ) -> "Scene":
        self.topics[name] = {"partitions": partitions, "start": start, "end": end}
        for each in range(partitions):
            self.logs[name, each] = LogLine([(0.0, end, 0.0)], [(0.0, start)])
        return self

    def members(
        self,
        at: float,
        *ids: str,
        topics: Sequence[str] = (TOPIC,),
        group: str = GROUP,
        assigned: Mapping[str, Mapping[str, Sequence[int]]] = MappingProxyType({}),
    ) -> "Scene":
        """A generation of these members; they share all partitions unless it is said otherwise."""
        members = {
            one: {
                "client": f"{group}-{one}",
                "host": f"/10.0.0.{place + 1}",
                "subscribed": [*topics],
                "assigned": assigned.get(one, self._share(topics, place, len(ids))),
            }
            for place, one in enumerate(ids)
        }
        self.events.append([at, "members", group, members])
        return self

    def _share(self, topics: Sequence[str], place: int, count: int) -> dict[str, list[int]]:
        return {
            name: [*range(place, self.topics[name]["partitions"], count)]
            for name in topics
            if name in self.topics
        }

    def grow(self, at: float, rate: float, partition: int = 0, topic: str = TOPIC) -> "Scene":
        log = self.logs[topic, partition]
        log.pieces.append((at, log.end_at(at), rate))
        self.events.append([at, "grow", topic, partition, rate])
        return self

    def end(self, at: float, offset: int, partition: int = 0, topic: str = TOPIC) -> "Scene":
        self.logs[topic, partition].pieces.append((at, offset, 0.0))
        self.events.append([at, "end", topic, partition, offset])
        return self

    def start(self, at: float, offset: int, partition: int = 0, topic: str = TOPIC) -> "Scene":
        self.logs[topic, partition].start.append((at, offset))
        self.events.append([at, "start", topic, partition, offset])
        return self

    def happens(self, at: float, *what: Any) -> "Scene":
        self.events.append([at, *what])
        return self

    def commit(
        self, at: float, offset: int, partition: int = 0, topic: str = TOPIC, group: str = GROUP
    ) -> "Scene":
        at = round(at, 3)
        self.logs[topic, partition].commits.setdefault(group, []).append((at, offset))
        self.events.append([at, "commit", group, topic, partition, offset])
        return self

    def follow(
        self,
        begin: float,
        until: float,
        every: float,
        *,
        pace: float = ANY_PACE,
        behind_s: float = 0.0,
        partition: int = 0,
        topic: str = TOPIC,
        group: str = GROUP,
        at: int | None = None,
        dial: Dial | None = None,
    ) -> "Scene":
        """Read all there is, or so many records a second, and commit every so often.

        `at` is where it begins to read, else after its last commit; `behind_s`: what it commits was
        all there was so long ago.
        """
        log = self.logs[topic, partition]
        before = log.commits.get(group)
        position = float(at if at is not None else before[-1][1] if before else 0)
        last, when = begin, begin + every
        while when < until:
            now = max(when - behind_s, 0)
            position = min(max(log.end_at(now), position), position + pace * (when - last))
            position = min(position, log.end_at(when))
            self.commit(when, int(position), partition, topic, group)
            last = when
            when += every * (1 + (0.3 * dial.jitter() if dial else 0.0))
        return self

    def stand(
        self,
        begin: float,
        until: float,
        every: float,
        *,
        partition: int = 0,
        topic: str = TOPIC,
        group: str = GROUP,
    ) -> "Scene":
        """Commit the last offset again and again."""
        log = self.logs[topic, partition]
        offset = log.commits[group][-1][1]
        when = begin + every
        while when < until:
            self.commit(when, offset, partition, topic, group)
            when += every
        return self

    # What must come out.

    def says(
        self,
        begin: float,
        end: float,
        *words: str,
        partition: int = 0,
        topic: str = TOPIC,
        group: str = GROUP,
    ) -> "Scene":
        self.expected.setdefault("says", []).append([begin, end, group, topic, partition, [*words]])
        return self

    def told(self, begin: float, end: float, group: str = GROUP) -> "Scene":
        self.expected.setdefault("told", []).append([group, begin, end])
        return self

    def quiet(self, begin: float, end: float, group: str = GROUP) -> "Scene":
        self.expected.setdefault("quiet", []).append([group, begin, end])
        return self

    def sound(self, begin: float = 0, end: float | None = None, group: str = GROUP) -> "Scene":
        """Every partition that has a commit by then is OK, and nobody is told anything."""
        end = self.until if end is None else end
        for (topic, partition), log in self.logs.items():
            if group in log.commits:
                first = max(begin, log.commits[group][0][0] + 2 * self.settings["offset_refresh_s"])
                self.says(first, end, "OK", partition=partition, topic=topic, group=group)
        return self.quiet(begin, end, group)

    def lag(self, at: float, partition: int = 0, topic: str = TOPIC, group: str = GROUP) -> "Scene":
        at = int(at)
        truth = self.lag_at(at, partition, topic, group)
        self.expected.setdefault("lag", []).append([at, group, topic, partition, truth])
        return self

    def age(self, at: float, partition: int = 0, topic: str = TOPIC, group: str = GROUP) -> "Scene":
        log, at = self.logs[topic, partition], int(at)
        truth = 0.0
        if self.lag_at(at, partition, topic, group):
            truth = at - log.written_at(self._next(log, at, group))
        self.expected.setdefault("age", []).append([at, group, topic, partition, round(truth, 3)])
        return self

    def lag_at(self, at: float, partition: int, topic: str, group: str) -> int:
        log = self.logs[topic, partition]
        return max(log.end_at(at) - self._next(log, at, group), 0)

    @staticmethod
    def _next(log: LogLine, at: float, group: str) -> int:
        start = next(offset for when, offset in reversed(log.start) if when <= at)
        return max(log.committed_at(at, group), start)

    def scenario(self, name: str) -> dict[str, Any]:
        events = sorted(self.events, key=lambda event: event[0])
        assert all(before[0] <= after[0] for before, after in pairwise(events))
        head = {"id": name, "about": self.about, "settings": self.settings}
        return (
            head | {"topics": self.topics, "until": self.until} | self.expected | {"events": events}
        )
