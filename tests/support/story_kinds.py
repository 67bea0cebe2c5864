"""Random stories: readers of every kind and rhythm, sound ones and faulty ones.

Numbers are drawn over orders of magnitude: commits every half second or every quarter of an hour,
one record a minute or thousands a second, log ends read every second or every minute.
"""

import math
from collections.abc import Callable
from random import Random

from support.stories import (
    GROUP,
    LASTS_S,
    MEMBER,
    TOPIC,
    Fault,
    Reader,
    Story,
    any_period,
    any_rate,
    drawn,
    told,
)


def steady(chance: Random) -> Story:
    return told(chance, "steady", [Reader([(0, any_rate(chance))], any_period(chance))])


def busy_and_quiet(chance: Random) -> Story:
    """The load goes up and down all day; the reader keeps up."""
    top = any_rate(chance)
    rates = [(float(at), top * chance.uniform(0.0, 1.0)) for at in range(0, LASTS_S, 600)]
    return told(chance, "busy and quiet", [Reader(rates, any_period(chance), capacity=2 * top)])


def bursts(chance: Random) -> Story:
    """A burst now and then, drained in minutes."""
    capacity, every = drawn(chance, 5, 2000), chance.uniform(1200, 3600)
    drained = chance.uniform(60, min(900, every / 2))
    count = max(int(capacity * drained), 10)
    times = [(float(round(at)), count) for at in _times(chance.uniform(100, 900), every)]
    reader = Reader([(0, 0.0)], drawn(chance, 1, 20), capacity=capacity, bursts=times)
    return told(chance, "bursts", [reader])


def idle(chance: Random) -> Story:
    """A record now and then, each read after a while."""
    times = [(float(round(at)), 1) for at in _times(300, chance.uniform(300, 1800))]
    silent = [(at, at + chance.uniform(5, 120)) for at, _ in times]
    reader = Reader([(0, 0.0)], drawn(chance, 1, 10), bursts=times, silent=silent)
    reader.keeps_committing = chance.random() < 0.5
    return told(chance, "idle", [reader])


def slow_messages(chance: Random) -> Story:
    """Some messages take a minute or two; it commits nothing meanwhile, or the same again."""
    pauses = [(at, at + chance.uniform(20, 130)) for at in _times(200, chance.uniform(250, 900))]
    rate = drawn(chance, 0.5, 500)
    reader = Reader([(0, rate)], drawn(chance, 1, 10), capacity=4 * rate)
    if chance.random() < 0.5:
        reader.silent = pauses
    else:
        reader.stuck = pauses
    return told(chance, "slow messages", [reader])


def deploys(chance: Random) -> Story:
    pauses = [(at, at + chance.uniform(60, 170)) for at in _times(700, chance.uniform(900, 2400))]
    rate = any_rate(chance)
    reader = Reader([(0, rate)], drawn(chance, 1, 20), capacity=5 * rate, silent=pauses)
    others = [
        [b - 1, "members", GROUP, {f"m{n}": MEMBER | {"assigned": {TOPIC: [0]}}}]
        for n, (_, b) in enumerate(pauses)
    ]
    return told(chance, "deploys", [reader], others=others)


def checkpoints(chance: Random) -> Story:
    """Commits minutes apart."""
    every = chance.uniform(120, 900)
    reader = Reader([(0, any_rate(chance))], every, jitter=0.05)
    return told(chance, "checkpoints", [reader], learns_until_s=3.2 * every)


def catching_up(chance: Random) -> Story:
    """It begins with a backlog and drains it."""
    rate = drawn(chance, 1, 1000)
    capacity = rate * chance.uniform(1.3, 5)
    backlog = int(capacity * chance.uniform(600, 6000))
    reader = Reader([(0, rate)], any_period(chance), capacity=capacity, backlog=backlog)
    return told(chance, "catching up", [reader])


def blips(chance: Random) -> Story:
    """A commit that goes back a little, made good by the next one."""
    rate, every = drawn(chance, 5, 1000), drawn(chance, 1, 30)
    back = [(at, max(int(rate * every * chance.uniform(1, 5)), 2)) for at in _times(500, 900)]
    reader = Reader([(0, rate)], every, back=back)
    return told(chance, "blips", [reader])


def nightly_job(chance: Random) -> Story:
    """It comes at regular times, drains the topic and sleeps; some day it does not come."""
    period = chance.uniform(400, 1100)
    takes, runs = chance.uniform(30, 0.3 * period), _times(50, period)
    last = chance.randint(4, max(len(runs) - 3, 4))
    rate, misses = drawn(chance, 0.5, 500), chance.random() < 0.5
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
    return told(chance, "job", [reader], faults=faults, learns_until_s=runs[3])


def stops(chance: Random) -> Story:
    rate, every, at = any_rate(chance), any_period(chance), chance.uniform(900, 4500)
    reader = Reader([(0, rate)], every, silent=[(at, 1e9)])
    left = [[at + 1, "members", GROUP, {}]] if chance.random() < 0.5 else []
    begin = at + 1 / rate
    fault = Fault(at, begin + 900, math.inf, ("STOP",))
    return told(chance, "stops", [reader], others=left, faults=[fault])


def checkpoints_end(chance: Random) -> Story:
    every = chance.uniform(120, 600)
    at = every * chance.randint(4, 7) + 1
    reader = Reader([(0, any_rate(chance))], every, jitter=0.02, silent=[(at, 1e9)])
    fault = Fault(at, at + 3 * every + 120, math.inf, ("STOP",))
    return told(chance, "checkpoints end", [reader], faults=[fault], learns_until_s=3.2 * every)


def stalls(chance: Random) -> Story:
    rate, at = any_rate(chance), chance.uniform(900, 4500)
    reader = Reader([(0, rate)], any_period(chance), stuck=[(at, 1e9)])
    fault = Fault(at, at + 900, math.inf, ("STALL",))
    return told(chance, "stalls", [reader], faults=[fault])


def falls_behind(chance: Random) -> Story:
    """From some moment on it reads less than is written."""
    rate, at = drawn(chance, 5, 5000), chance.uniform(300, 2400)
    part = chance.uniform(0.3, 0.92)
    reader = Reader([(0, rate)], drawn(chance, 1, 120), slow=[(at, rate * part)])
    minutes_late = at + 180 / (1 - part)
    fault = Fault(at, minutes_late + 1200, math.inf, ("WARN",))
    return told(chance, "falls behind", [reader], faults=[fault])


def rewinds(chance: Random) -> Story:
    """It goes back for good and has to read all again."""
    rate, every, at = drawn(chance, 5, 1000), drawn(chance, 1, 30), chance.uniform(900, 4500)
    count = max(int(rate * chance.uniform(300, at - 300)), 10)
    again = chance.uniform(1.5, 4)
    reader = Reader([(0, rate)], every, back=[(at, count)], slow=[(at, rate * again)])
    ends = at + count / (rate * again) * 3 + 600
    fault = Fault(at, at + 60 + 3 * every, ends, ("REWIND",))
    return told(chance, "rewinds", [reader], faults=[fault])


def one_of_many(chance: Random) -> Story:
    """One partition of several is not read any more."""
    rate, every, at = drawn(chance, 1, 500), drawn(chance, 1, 30), chance.uniform(900, 4500)
    count = chance.randint(2, 6)
    readers = [Reader([(0, rate)], every, partition=each) for each in range(count)]
    readers[chance.randrange(count)].silent = [(at, 1e9)]
    fault = Fault(at, at + 900, math.inf, ("STOP",))
    return told(chance, "one of many", readers, faults=[fault])


def data_loss(chance: Random) -> Story:
    """The log ends before the commit, which is repeated."""
    count, at = int(drawn(chance, 100, 1e6)), round(chance.uniform(900, 4500))
    reader = Reader([(0, 0.0)], drawn(chance, 1, 30), backlog=count)
    others = [[at, "end", TOPIC, 0, int(count * chance.uniform(0.1, 0.9))]]
    fault = Fault(at, at + 360, math.inf, ("AHEAD",))
    return told(chance, "data loss", [reader], others=others, faults=[fault])


def outage(chance: Random) -> Story:
    """No broker answers for some minutes; everything was fine and is fine."""
    rate = any_rate(chance)
    at, back = chance.choice([(1201, 1399), (2404, 3111)])
    reader = Reader([(0, rate), (at, 0.0), (back, rate)], any_period(chance), silent=[(at, back)])
    others = [[at, "broker", "away"], [back, "broker", "back"]]
    story = told(chance, "outage", [reader], others=others)
    story.scenario["settings"]["offset_refresh_s"] = 10  # they run together
    return story


def storm(chance: Random) -> Story:
    """Members join for ever, and nothing is committed."""
    at, every = chance.uniform(900, 4500), chance.uniform(2, 15)
    reader = Reader([(0, any_rate(chance))], any_period(chance), silent=[(at, 1e9)])
    others = [
        [when, "members", GROUP, {f"m{n}": MEMBER | {"assigned": {}}}]
        for n, when in enumerate(_times(at + 1, every))
    ]
    fault = Fault(at, at + 900, math.inf, ("STORM", "STOP"))
    return told(chance, "storm", [reader], others=others, faults=[fault])


def always_as_late(chance: Random) -> Story:
    """Traffic rises for an hour, or goes up and down; the reader is always as late."""
    top, wave = any_rate(chance), chance.uniform(1800, 7200)
    is_ramp = chance.random() < 0.5
    rates = []
    for at in range(0, LASTS_S, 60):
        part = at / LASTS_S if is_ramp else 0.5 + 0.45 * math.sin(2 * math.pi * at / wave)
        rates.append((float(at), max(top * part, 0.1)))
    reader = Reader(rates, drawn(chance, 1, 120), behind_s=chance.uniform(5, 300))
    # One that is late by more than anybody has patience for looks stuck at first.
    return told(chance, "always as late", [reader], learns_until_s=reader.behind_s + 120)


def falls_behind_noisily(chance: Random) -> Story:
    """What it reads varies from commit to commit, and is too little on the whole."""
    often, part, at = any_rate(chance), chance.uniform(0.5, 0.95), chance.uniform(100, 600)
    every, late_s = drawn(chance, 1, 60), 180 / (1 - part) + 1800
    # So that it is behind for sure when it has to be told.
    noise = min((1 - part) / part * math.sqrt(late_s / every / 3), 1)
    reader = Reader([(0, often)], every, slow=[(at, often * part)], noise=noise)
    fault = Fault(at, at + late_s, math.inf, ("WARN",))
    return told(chance, "falls behind noisily", [reader], faults=[fault])


def runs_and_pauses(chance: Random) -> Story:
    """It reads in runs of minutes, and catches up with less in each than it lost."""
    often, works, pauses = any_rate(chance), chance.uniform(60, 450), chance.uniform(60, 300)
    net = chance.uniform(0.6, 0.9)
    spans = [(at + works, at + works + pauses) for at in _times(0, works + pauses)]
    # What it commits first after a pause is what it reads then.
    reader = Reader([(0, often)], 5, capacity=net * often * (works + pauses) / works, silent=spans)
    fault = Fault(works, 4800, math.inf, ("WARN",))
    return told(chance, "runs and pauses", [reader], faults=[fault])


def outages(chance: Random) -> Story:
    """It breaks down, comes back, breaks down again; and some time it does not come back."""
    often, every = any_rate(chance), drawn(chance, 1, 30)
    works, out = chance.uniform(1500, 1900), chance.uniform(400, 700)
    begins = [works + number * (works + out) for number in range(3)]
    silent = [(at, at + out) for at in begins[:2]] + [(begins[2], 1e9)]
    reader = Reader([(0, often)], every, capacity=5 * often, silent=silent)
    ends = [begins[0] + out, begins[1] + out, math.inf]
    faults = [Fault(at, at + 390, until, ("STOP",)) for at, until in zip(begins, ends, strict=True)]
    return told(chance, "outages", [reader], faults=faults)


def moves_on_with_deploys(chance: Random) -> Story:
    """It has moved to another topic, and all members are down now and then."""
    at = chance.uniform(900, 2400)
    reader = Reader([(0, any_rate(chance))], any_period(chance), silent=[(at, 1e9)])
    member = MEMBER | {"subscribed": ["payments"], "assigned": {}}
    others = [[at + 1, "members", GROUP, {"m2": member}]]
    for number, down in enumerate(_times(at + 600, chance.uniform(900, 1800))):
        others.append([down, "members", GROUP, {}])
        back = down + chance.uniform(5, 300)
        others.append([back, "members", GROUP, {f"m{number + 3}": member}])
    return told(chance, "moves on, with deploys", [reader], others=others)


def moves_on(chance: Random) -> Story:
    """The group subscribes to another topic; the old one goes on being written."""
    at = chance.uniform(900, 4500)
    reader = Reader([(0, any_rate(chance))], any_period(chance), silent=[(at, 1e9)])
    member = MEMBER | {"subscribed": ["payments"], "assigned": {}}
    others = [[at + 1, "members", GROUP, {"m2": member}]]
    return told(chance, "moves on", [reader], others=others)


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
    always_as_late,
    falls_behind_noisily,
    runs_and_pauses,
    outages,
    moves_on_with_deploys,
)


def stories(count: int, seed: int) -> list[Story]:
    """So many stories, of each kind as many."""
    return [KINDS[number % len(KINDS)](Random(f"{seed} {number}")) for number in range(count)]  # noqa: S311 - no secrets
