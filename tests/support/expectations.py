"""Compares what was said of a scenario with what had to come out: a line for each difference."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from support.scenario_run import NEVER, Number, Said, refresh_of

Scenario = Mapping[str, Any]

AS_WIDE_AS = 0.1  # of the truth, bounds of a number may be
READ_WITHIN_S = 2.0  # and of the traffic of this long, beside that between two readings


def wrong_verdicts(scenario: Scenario, said: Said) -> Iterator[str]:
    for begin, end, group, topic, partition, words in scenario.get("says", ()):
        about = f"{group} {topic} {partition} from {begin:g} to {end:g}: {' or '.join(words)}"
        line = group, topic, partition
        ticks = [at for at in said.ticks if begin <= at <= end]
        heard = [(at, said.word(line, at)) for at in ticks]
        if not any(word for _, word in heard):
            yield f"says {about}; nothing was said"
        elif others := [
            f"{word or 'nothing'} at {at:g}" for at, word in heard if word not in words
        ]:
            some = ", ".join(others[:3]) + (" ..." if len(others) > 3 else "")
            yield f"says {about}; {len(others)} of {len(heard)} times another: {some}"
    yield from _wrong_pages(scenario, said)


def _wrong_pages(scenario: Scenario, said: Said) -> Iterator[str]:
    for group, begin, end in scenario.get("told", ()):
        opened = said.opened.get(group, [])
        if not any(begin <= at <= end for at in opened):
            yield f"told {group} from {begin:g} to {end:g}; opened at {_times(opened)}"
    for group, begin, end in scenario.get("quiet", ()):
        opened = said.opened.get(group, [])
        closed = [*said.closed.get(group, []), NEVER][: len(opened)]
        loud = [at for at, until in zip(opened, closed, strict=True) if at <= end and until > begin]
        if loud:
            yield f"quiet {group} from {begin:g} to {end:g}; open since {_times(loud)}"


def wrong_numbers(scenario: Scenario, said: Said) -> Iterator[str]:
    for name in ("lag", "age"):
        for at, group, topic, partition, truth in scenario.get(name, ()):
            line = group, topic, partition
            known = said.numbers.get((name, float(at), line), Number(float("nan"), float("nan")))
            about = f"{name} {group} {topic} {partition} at {at:g}: {truth:g}"
            traffic = _traffic(scenario, topic, partition, at) if name == "lag" else 1.0
            widest = max(AS_WIDE_AS * truth, (refresh_of(scenario) + READ_WITHIN_S) * traffic)
            if isnan(known.low) or not known.low <= truth <= known.high:
                yield f"{about}; said {known.low:g} to {known.high:g}"
            elif known.high - known.low > widest:
                yield f"{about}; said {known.low:g} to {known.high:g}, wider than {widest:g}"


def _traffic(scenario: Scenario, topic: str, partition: int, at_s: float) -> float:
    """Records a second at that time."""
    rates = [
        event[4]
        for event in scenario["events"]
        if event[0] <= at_s and event[1:4] == ["grow", topic, partition]
    ]
    return float(rates[-1]) if rates else 0.0


def _times(times: Sequence[float]) -> str:
    return ", ".join(f"{at:g}" for at in times) or "no time"
