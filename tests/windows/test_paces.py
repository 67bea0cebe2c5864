"""How fast groups read and retention takes, and what was lost: timelines of one partition."""

from collections.abc import Sequence
from math import exp, isclose, isnan, nan
from typing import NamedTuple

import numpy as np
from support.batches import NOW, Record, batch, log_ends

from warren.model.numbers import UNKNOWN
from warren.windows.paces import LinePaces
from warren.windows.windows import Windows

ROUND_S = 10
LEAST, MOST = -(2**63), 2**63 - 1


class Round(NamedTuple):
    """What came since the round before, and what this one shows."""

    commits: Sequence[int | None] = ()  # evenly over the time between the rounds; None: a tombstone
    end: int = 1000
    start: int | None = None  # None: not read in this round


def windows_after(rounds: Sequence[Round]) -> Windows:
    windows, order = Windows(), 0
    windows.set_log_ends(log_ends(rounds[0].end, 1), {"t": 2}, now_s=NOW, asked_s=NOW)
    windows.fold(batch(Record(0, partition=1)), NOW)  # so the group reads the topic in any case
    for number, each in enumerate(rounds):
        for at, offset in enumerate(each.commits, start=1):
            order += 1
            after_s = ROUND_S * (number + at / (len(each.commits) + 1))
            windows.fold(batch(Record(order, offset, int(after_s * 1000))), NOW)
        if each.start is not None:
            windows.ends.refresh_edges(log_ends(each.start), log_ends())
        now_s = NOW + ROUND_S * (number + 1)
        windows.set_log_ends(log_ends(each.end), {}, now_s=now_s, asked_s=now_s)
    return windows


def paces(rounds: Sequence[Round], later_s: float = 0) -> LinePaces:
    windows, first = windows_after(rounds), np.zeros(1, np.int64)
    as_of_s = np.array([NOW + ROUND_S * len(rounds) + later_s])
    return windows.paces.of_lines(first, first, as_of_s)


def test_records_are_lost_when_the_log_start_passes_them_unread() -> None:
    begin = Round([100], start=0)
    cases = {
        "nothing passed": ([begin, Round(start=100)], 0),
        "one record": ([begin, Round(start=101)], 1),
        "once": ([begin, Round(start=130), Round(start=130)], 30),
        "and more": ([begin, Round(start=130), Round(start=150)], 50),
        "all was read": ([Round([1000], start=0), Round(start=1000)], 0),
        "read in time": ([begin, Round([150]), Round(start=150)], 0),
        "it went on from the log start": (
            [begin, Round(start=130), Round([140]), Round(start=150)],
            40,
        ),
        "it has caught up": ([begin, Round(start=130), Round([1000]), Round(start=150)], 30),
        "it went back to what it had read": (
            [Round([200], start=0), Round(start=150), Round([100]), Round(start=160)],
            10,
        ),
        "the log start stepped back": (
            [begin, Round(start=130), Round(start=120), Round(start=130), Round(start=131)],
            31,
        ),
        "passed before it was read for the first time": ([Round([100], start=130)], 30),
        "the start was not read every round": ([begin, Round(), Round(), Round(start=130)], 30),
        "the start is not known": ([Round([100]), Round()], UNKNOWN),
        "nothing was committed": ([Round(start=0), Round(start=130)], 0),
        "the commit was deleted, and another made": (
            [begin, Round(start=130), Round([None, 140]), Round(start=150)],
            10,
        ),
        "of -1, which is before all records": ([Round([-1], start=0), Round(start=5)], 5),
        "beyond all": ([Round([MOST], start=0), Round(start=MOST)], 0),
        "more than can be counted": (
            [Round([LEAST], start=0), Round(start=5), Round([LEAST], start=MOST)],
            MOST,
        ),
    }

    found = {name: int(paces(rounds).lost[0]) for name, (rounds, _) in cases.items()}

    wrong = {name: lost for name, lost in found.items() if lost != cases[name][1]}
    assert wrong == {}


def test_how_fast_retention_takes() -> None:
    cases = {
        "unknown": ([Round(), Round()], nan),
        "it stands": ([Round(start=5), Round(start=5), Round(start=5)], nan),
        "by how much, and how long it took": ([Round(start=5), Round(), Round(start=105)], 5),
        "stands since": ([Round(start=5), Round(start=105), Round(), Round()], 10),
        "it stepped back": ([Round(start=105), Round(start=5), Round(start=5)], nan),
        "and goes on": ([Round(start=105), Round(start=5), Round(start=25)], 2),
    }

    found = {name: float(paces(rounds).start_pace[0]) for name, (rounds, _) in cases.items()}

    assert wrong_seconds(found, {name: pace for name, (_, pace) in cases.items()}) == {}


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
        "ten minutes": (paces(often, later_s=600), 0, 1.6),
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


def wrong_seconds(found: dict[str, float], expected: dict[str, float]) -> dict[str, float]:
    def is_same(one: float, other: float) -> bool:
        return isclose(one, other, rel_tol=1e-3, abs_tol=1e-6) or (isnan(one) and isnan(other))

    return {name: pace for name, pace in found.items() if not is_same(pace, expected[name])}
