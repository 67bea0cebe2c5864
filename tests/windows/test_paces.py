"""How fast groups read and retention takes: timelines of one partition."""

from collections.abc import Mapping, Sequence
from math import exp, isclose, isnan, nan
from typing import Any

import numpy as np
from support.batches import NOW
from support.rounds import LEAST, MOST, ROUND_S, Round, windows_after

from warren.windows.paces import LinePaces


def paces(rounds: Sequence[Round], later_s: float = 0) -> LinePaces:
    windows, first = windows_after(rounds), np.zeros(1, np.int64)
    as_of_s = np.array([NOW + ROUND_S * len(rounds) + later_s])
    return windows.paces.of_lines(first, first, as_of_s)


def test_how_fast_retention_takes() -> None:
    moves = [Round(start=5), Round(), Round(start=105), Round(start=125)]
    steps = [Round(start=600 * (at // 6)) for at in range(13)]  # a segment a minute
    cases = {
        "unknown": ([Round(), Round()], nan),
        "it stands": ([Round(start=5), Round(start=5), Round(start=5)], nan),
        "it has moved once": ([Round(start=5), Round(), Round(start=105), Round()], nan),
        "by how much, and how long it took": (moves, 2),
        "stands for less than a minute": ([*moves, *[Round()] * 5], 2),
        "it stepped back": ([*moves, Round(start=5), Round(start=25)], nan),
        "and goes on": ([*moves, Round(start=5), Round(start=25), Round(start=55)], 3),
        "in steps": (steps, 10),
        "between two steps": ([*steps, *[Round()] * 6], 10),
    }

    found = {name: float(paces(rounds).start_pace[0]) for name, (rounds, _) in cases.items()}

    assert wrong_seconds(found, {name: pace for name, (_, pace) in cases.items()}) == {}


def test_a_log_start_that_stands_for_longer_than_usual_has_a_pace_that_falls() -> None:
    twice = [Round(start=0), Round(start=1_000_000), Round(start=2_000_000)]

    found = {
        hours: float(paces(twice, later_s=3600 * hours).start_pace[0]) for hours in (0, 1, 3, 10)
    }

    assert wrong_seconds(found, {0: 1e5, 1: 37_402, 3: 5062, 10: 4.616}) == {}


def test_how_fast_a_group_reads() -> None:
    steady = [Round([10 * ROUND_S * number], end=10_000) for number in range(1, 8)]
    many = [
        Round([ROUND_S * (10 * number + at) for at in range(10)], end=10_000)
        for number in range(1, 8)
    ]
    cases = {
        "it has not committed": ([Round(), Round()], nan),
        "once": ([Round([100]), Round()], nan),
        "the window says it before any round does": ([Round([100, 200, 300])], 40),
        "once a round": (steady, 10),
        "many times a round, 11 in the first one": (many, 10 + exp(-2)),  # a minute ago
        "stands": ([Round([100]), Round([100]), Round([100])], 0),
        "goes back": ([Round([300]), Round([200]), Round([100])], 0),
        "from one absurd offset to the next": ([Round([LEAST]), Round([MOST])], MOST / 10),
    }

    found = {name: float(paces(rounds).consumed_fast[0]) for name, (rounds, _) in cases.items()}

    assert wrong_seconds(found, {name: pace for name, (_, pace) in cases.items()}) == {}


def test_a_group_that_is_silent_for_longer_than_usual_falls_behind_its_pace() -> None:
    often = [Round([100 * number]) for number in range(1, 8)]
    rarely = [Round([100 * (number // 6)] if number % 6 == 0 else []) for number in range(37)]

    silent = {
        "usual": (paces(often, later_s=50), 10, 10),
        "ten minutes": (paces(often, later_s=600), 0, 0),
        "usual for one that commits once a minute": (paces(rarely, later_s=100), 1.67, 1.67),
    }

    found = {
        name: (round(float(each.consumed_fast[0]), 2), round(float(each.consumed_slow[0]), 2))
        for name, (each, *_) in silent.items()
    }
    wrong = {
        name: found[name]
        for name, (_, *expected) in silent.items()
        if not np.allclose(found[name], expected, atol=0.1)
    }
    assert wrong == {}


def wrong_seconds(found: Mapping[Any, float], expected: Mapping[Any, float]) -> dict[Any, float]:
    def is_same(one: float, other: float) -> bool:
        return isclose(one, other, rel_tol=1e-3, abs_tol=1e-6) or (isnan(one) and isnan(other))

    return {name: pace for name, pace in found.items() if not is_same(pace, expected[name])}
