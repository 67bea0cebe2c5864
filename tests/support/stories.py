"""Random stories with a known truth: readers of every kind and rhythm, sound ones and faulty ones.

A story is a scenario (see `support.scenario_log`) and says when its group is at fault. Numbers are
drawn over orders of magnitude: commits every half second or every quarter of an hour, one record a
minute or thousands a second, log ends read every second or every minute.
"""

import math
from collections.abc import Callable, Sequence
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
                    position = min(self.end(at_s), position + int(min(capacity * took_s, 2**40)))
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


def _drawn(chance: Random, low: float, high: float) -> float:
    """Every order of magnitude is as likely."""
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def _rate(chance: Random) -> float:
    return _drawn(chance, 0.5, 5000)


def _period(chance: Random) -> float:
    return _drawn(chance, 1, 60)


def _story(
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


def steady(chance: Random) -> Story:
    return _story(chance, "steady", [Reader([(0, _rate(chance))], _period(chance))])


def busy_and_quiet(chance: Random) -> Story:
    """The load goes up and down all day; the reader keeps up."""
    top = _rate(chance)
    rates = [(float(at), top * chance.uniform(0.0, 1.0)) for at in range(0, LASTS_S, 600)]
    return _story(chance, "busy and quiet", [Reader(rates, _period(chance), capacity=2 * top)])


def bursts(chance: Random) -> Story:
    """A burst now and then, drained in minutes."""
    capacity, every = _drawn(chance, 5, 2000), chance.uniform(1200, 3600)
    drained = chance.uniform(60, min(900, every / 2))
    count = max(int(capacity * drained), 10)
    times = [(float(round(at)), count) for at in _times(chance.uniform(100, 900), every)]
    reader = Reader([(0, 0.0)], _drawn(chance, 1, 20), capacity=capacity, bursts=times)
    return _story(chance, "bursts", [reader])


def idle(chance: Random) -> Story:
    """A record now and then, each read after a while."""
    times = [(float(round(at)), 1) for at in _times(300, chance.uniform(300, 1800))]
    silent = [(at, at + chance.uniform(5, 120)) for at, _ in times]
    reader = Reader([(0, 0.0)], _drawn(chance, 1, 10), bursts=times, silent=silent)
    reader.keeps_committing = chance.random() < 0.5
    return _story(chance, "idle", [reader])


def slow_messages(chance: Random) -> Story:
    """Some messages take a minute or two; it commits nothing meanwhile, or the same again."""
    pauses = [(at, at + chance.uniform(20, 130)) for at in _times(200, chance.uniform(250, 900))]
    rate = _drawn(chance, 0.5, 500)
    reader = Reader([(0, rate)], _drawn(chance, 1, 10), capacity=4 * rate)
    if chance.random() < 0.5:
        reader.silent = pauses
    else:
        reader.stuck = pauses
    return _story(chance, "slow messages", [reader])


def deploys(chance: Random) -> Story:
    pauses = [(at, at + chance.uniform(60, 170)) for at in _times(700, chance.uniform(900, 2400))]
    rate = _rate(chance)
    reader = Reader([(0, rate)], _drawn(chance, 1, 20), capacity=5 * rate, silent=pauses)
    others = [
        [b - 1, "members", GROUP, {f"m{n}": MEMBER | {"assigned": {TOPIC: [0]}}}]
        for n, (_, b) in enumerate(pauses)
    ]
    return _story(chance, "deploys", [reader], others=others)


def checkpoints(chance: Random) -> Story:
    """Commits minutes apart."""
    every = chance.uniform(120, 900)
    reader = Reader([(0, _rate(chance))], every, jitter=0.05)
    return _story(chance, "checkpoints", [reader], learns_until_s=3.2 * every)


def catching_up(chance: Random) -> Story:
    """It begins with a backlog and drains it."""
    rate = _drawn(chance, 1, 1000)
    capacity = rate * chance.uniform(1.3, 5)
    backlog = int(capacity * chance.uniform(600, 6000))
    reader = Reader([(0, rate)], _period(chance), capacity=capacity, backlog=backlog)
    return _story(chance, "catching up", [reader])


def blips(chance: Random) -> Story:
    """A commit that goes back a little, made good by the next one."""
    rate, every = _drawn(chance, 5, 1000), _drawn(chance, 1, 30)
    back = [(at, max(int(rate * every * chance.uniform(1, 5)), 2)) for at in _times(500, 900)]
    reader = Reader([(0, rate)], every, back=back)
    return _story(chance, "blips", [reader])


def nightly_job(chance: Random) -> Story:
    """It comes at regular times, drains the topic and sleeps; some day it does not come."""
    period = chance.uniform(400, 1100)
    takes, runs = chance.uniform(30, 0.3 * period), _times(50, period)
    last = chance.randint(4, max(len(runs) - 3, 4))
    rate, misses = _drawn(chance, 0.5, 500), chance.random() < 0.5
    awake = [(at, at + takes) for at in (runs[: last + 1] if misses else runs)]
    silent = [
        (a, b)
        for a, b in zip([0.0, *(b for _, b in awake)], [*(a for a, _ in awake), 1e9], strict=True)
    ]
    reader = Reader([(0, rate)], chance.uniform(2, 10), capacity=1e9, silent=silent)
    faults = []
    if misses and last + 1 < len(runs):
        due = runs[last] + period
        faults = [Fault(due, due + 1.6 * period + 120, math.inf, ("STOP",))]
    return _story(chance, "job", [reader], faults=faults, learns_until_s=runs[3])


def stops(chance: Random) -> Story:
    rate, every, at = _rate(chance), _period(chance), chance.uniform(900, 4500)
    reader = Reader([(0, rate)], every, silent=[(at, 1e9)])
    left = [[at + 1, "members", GROUP, {}]] if chance.random() < 0.5 else []
    begin = at + 1 / rate
    fault = Fault(at, begin + 900, math.inf, ("STOP",))
    return _story(chance, "stops", [reader], others=left, faults=[fault])


def checkpoints_end(chance: Random) -> Story:
    every = chance.uniform(120, 600)
    at = every * chance.randint(4, 7) + 1
    reader = Reader([(0, _rate(chance))], every, jitter=0.02, silent=[(at, 1e9)])
    fault = Fault(at, at + 3 * every + 120, math.inf, ("STOP",))
    return _story(chance, "checkpoints end", [reader], faults=[fault], learns_until_s=3.2 * every)


def stalls(chance: Random) -> Story:
    rate, at = _rate(chance), chance.uniform(900, 4500)
    reader = Reader([(0, rate)], _period(chance), stuck=[(at, 1e9)])
    fault = Fault(at, at + 900, math.inf, ("STALL",))
    return _story(chance, "stalls", [reader], faults=[fault])


def falls_behind(chance: Random) -> Story:
    """From some moment on it reads less than is written."""
    rate, at = _drawn(chance, 5, 5000), chance.uniform(300, 2400)
    part = chance.uniform(0.3, 0.92)
    reader = Reader([(0, rate)], _drawn(chance, 1, 120), slow=[(at, rate * part)])
    minutes_late = at + 180 / (1 - part)
    fault = Fault(at, minutes_late + 1200, math.inf, ("WARN",))
    return _story(chance, "falls behind", [reader], faults=[fault])


def rewinds(chance: Random) -> Story:
    """It goes back for good and has to read all again."""
    rate, every, at = _drawn(chance, 5, 1000), _drawn(chance, 1, 30), chance.uniform(900, 4500)
    count = max(int(rate * chance.uniform(300, at - 300)), 10)
    again = chance.uniform(1.5, 4)
    reader = Reader([(0, rate)], every, back=[(at, count)], slow=[(at, rate * again)])
    ends = at + count / (rate * again) * 3 + 600
    fault = Fault(at, at + 60 + 3 * every, ends, ("REWIND",))
    return _story(chance, "rewinds", [reader], faults=[fault])


def one_of_many(chance: Random) -> Story:
    """One partition of several is not read any more."""
    rate, every, at = _drawn(chance, 1, 500), _drawn(chance, 1, 30), chance.uniform(900, 4500)
    count = chance.randint(2, 6)
    readers = [Reader([(0, rate)], every, partition=each) for each in range(count)]
    readers[chance.randrange(count)].silent = [(at, 1e9)]
    fault = Fault(at, at + 900, math.inf, ("STOP",))
    return _story(chance, "one of many", readers, faults=[fault])


def data_loss(chance: Random) -> Story:
    """The log ends before the commit, which is repeated."""
    count, at = int(_drawn(chance, 100, 1e6)), round(chance.uniform(900, 4500))
    reader = Reader([(0, 0.0)], _drawn(chance, 1, 30), backlog=count)
    others = [[at, "end", TOPIC, 0, int(count * chance.uniform(0.1, 0.9))]]
    fault = Fault(at, at + 360, math.inf, ("AHEAD",))
    return _story(chance, "data loss", [reader], others=others, faults=[fault])


def outage(chance: Random) -> Story:
    """No broker answers for some minutes; everything was fine and is fine."""
    rate = _rate(chance)
    at, back = chance.choice([(1201, 1399), (2404, 3111)])
    reader = Reader([(0, rate), (at, 0.0), (back, rate)], _period(chance), silent=[(at, back)])
    others = [[at, "broker", "away"], [back, "broker", "back"]]
    story = _story(chance, "outage", [reader], others=others)
    story.scenario["settings"]["offset_refresh_s"] = 10  # they run together
    return story


def storm(chance: Random) -> Story:
    """Members join for ever, and nothing is committed."""
    at, every = chance.uniform(900, 4500), chance.uniform(2, 15)
    reader = Reader([(0, _rate(chance))], _period(chance), silent=[(at, 1e9)])
    others = [
        [when, "members", GROUP, {f"m{n}": MEMBER | {"assigned": {}}}]
        for n, when in enumerate(_times(at + 1, every))
    ]
    fault = Fault(at, at + 900, math.inf, ("STORM", "STOP"))
    return _story(chance, "storm", [reader], others=others, faults=[fault])


def moves_on(chance: Random) -> Story:
    """The group subscribes to another topic; the old one goes on being written."""
    at = chance.uniform(900, 4500)
    reader = Reader([(0, _rate(chance))], _period(chance), silent=[(at, 1e9)])
    member = MEMBER | {"subscribed": ["payments"], "assigned": {}}
    others = [[at + 1, "members", GROUP, {"m2": member}]]
    return _story(chance, "moves on", [reader], others=others)


def _times(first: float, every: float) -> list[float]:
    return [first + n * every for n in range(int((LASTS_S - first) // every) + 1)]


KINDS: tuple[Callable[[Random], Story], ...] = (
    steady,
    busy_and_quiet,
    bursts,
    idle,
    slow_messages,
    deploys,
    checkpoints,
    catching_up,
    blips,
    nightly_job,
    stops,
    checkpoints_end,
    stalls,
    falls_behind,
    rewinds,
    one_of_many,
    data_loss,
    storm,
    moves_on,
    outage,
)


def stories(count: int, seed: int) -> list[Story]:
    """So many stories, of each kind as many."""
    return [KINDS[number % len(KINDS)](Random(f"{seed} {number}")) for number in range(count)]  # noqa: S311 - no secrets
