"""Stories with a known truth: a reader or several, and when their group is at fault.

A story is a scenario (see `support.scenario_log`). `support.story_kinds` has every kind of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from support.scenario_log import ROUNDING

GROUP, TOPIC = "billing", "orders"
LASTS_S = 7200
MEMBER = {"client": "app", "host": "/10.0.0.1", "subscribed": [TOPIC]}

Span = tuple[float, float]


class Fault(NamedTuple):
    """From when on somebody has to be told, at the latest when, and until when it lasts."""

    begin_s: float
    told_by_s: float
    end_s: float
    words: tuple[str, ...]  # any of them is a right name for it


@dataclass
class Story:
    kind: str
    scenario: dict[str, Any]
    faults: list[Fault] = field(default_factory=list)
    learns_until_s: float = 0.0  # what is said before is not counted


@dataclass
class Reader:
    """One partition's log and its reader; what it does follows from these numbers."""

    rate: list[tuple[float, float]]  # from when on, records a second
    every_s: float  # between commits
    jitter: float = 0.1
    capacity: float = math.inf  # records a second that it can read
    noise: float = 0.0  # of its capacity, up and down from commit to commit
    behind_s: float = 0.0  # it reads what was there so long ago
    silent: Sequence[Span] = field(default_factory=list)  # it neither reads nor commits
    stuck: Sequence[Span] = field(default_factory=list)  # it commits the same offset again
    slow: list[tuple[float, float]] = field(default_factory=list)  # from when on, less capacity
    back: list[tuple[float, int]] = field(default_factory=list)  # once, so many records back
    from_s: float = 0.0
    backlog: int = 0
    keeps_committing: bool = True  # also what it has committed already
    bursts: Sequence[tuple[float, int]] = field(default_factory=list)
    partition: int = 0

    def end(self, at_s: float) -> int:
        """As the log says it: whenever its pace changes it ends at a whole record."""
        total = self.backlog + sum(count for when, count in self.bursts if when <= at_s)
        for place, (since, rate) in enumerate(self.rate):
            until = self.rate[place + 1][0] if place + 1 < len(self.rate) else math.inf
            total += math.floor(rate * max(min(at_s, until) - since, 0) + ROUNDING)
        return total

    def events(self, chance: Random) -> list[list[Any]]:
        made: list[list[Any]] = []
        for at_s, rate in self.rate:
            made.append([at_s, "grow", TOPIC, self.partition, rate])
        for at_s, _ in self.bursts:
            made.append([at_s, "end", TOPIC, self.partition, self.end(at_s)])
            made.append([at_s, "grow", TOPIC, self.partition, self._rate_at(at_s)])
        return made + self._commits(chance)

    def _rate_at(self, at_s: float) -> float:
        return next((rate for since, rate in reversed(self.rate) if since <= at_s), 0.0)

    def _commits(self, chance: Random) -> list[list[Any]]:
        made: list[list[Any]] = []
        position, before, last = 0, self.from_s, -1
        back = [*self.back]
        at_s = self.from_s + self.every_s
        while at_s < LASTS_S:
            if not _within(self.silent, at_s):
                if not _within(self.stuck, at_s):
                    capacity = next(
                        (each for since, each in reversed(self.slow) if since <= at_s),
                        self.capacity,
                    )
                    took_s = at_s - max([before, *(b for _, b in self.silent if b <= at_s)])
                    capacity *= 1 + chance.uniform(-self.noise, self.noise)
                    end = self.end(max(at_s - self.behind_s, 0))
                    position += min(max(end - position, 0), int(min(capacity * took_s, 2**40)))
                if back and at_s >= back[0][0]:
                    position = max(position - back.pop(0)[1], 0)
                if position != last or self.keeps_committing:
                    at = round(at_s, 3)
                    made.append([at, "commit", GROUP, TOPIC, self.partition, position])
                last, before = position, at_s
            at_s += self.every_s * (1 + chance.uniform(-self.jitter, self.jitter))
        return made


def _within(spans: Sequence[Span], at_s: float) -> bool:
    return any(begin <= at_s < end for begin, end in spans)


def drawn(chance: Random, low: float, high: float) -> float:
    """Every order of magnitude is as likely."""
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def any_rate(chance: Random) -> float:
    return drawn(chance, 0.5, 5000)


def any_period(chance: Random) -> float:
    return drawn(chance, 1, 60)


def told(
    chance: Random,
    kind: str,
    readers: Sequence[Reader],
    *,
    others: Sequence[list[Any]] = (),
    **more: Any,
) -> Story:
    events: list[list[Any]] = [
        [
            0,
            "members",
            GROUP,
            {"m1": MEMBER | {"assigned": {TOPIC: [r.partition for r in readers]}}},
        ]
    ]
    for reader in readers:
        events += reader.events(chance)
    events += others
    topics = {TOPIC: {"partitions": len(readers), "start": 0, "end": readers[0].backlog}}
    scenario = {
        "id": kind,
        "settings": {"offset_refresh_s": chance.choice([5, 10, 10, 10, 30, 60])},
        "topics": topics,
        "events": sorted(events, key=lambda event: event[0]),
        "until": LASTS_S,
    }
    return Story(kind, scenario, **more)
