"""Rounds from history among those that are remembered: they tell ages, and never claim too much."""

from bisect import bisect_right
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from support.batches import log_ends

from warren.model.tables import LOG_ENDS
from warren.windows import end_columns
from warren.windows.end_history import LogEnds
from warren.windows.past_rounds import TICK_S, PastRounds

NOW_S = 1_700_000_000.0
LATE_S = 5.0
MINUTE_S = 60.0


def watched(*rounds: tuple[float, Sequence[int | None]], ends: LogEnds | None = None) -> LogEnds:
    """Rounds of a running Warren, each asked so many seconds after NOW_S and answered one later."""
    ends = ends or LogEnds(intervals=3)
    for after_s, values in rounds:
        asked_s = NOW_S + after_s
        ends.refresh(log_ends(*values), {"t": len(values)}, asked_s + 1, asked_s)
    return ends


def refilled(ends: LogEnds, *history: Sequence[int | None], last_s: float = -MINUTE_S) -> LogEnds:
    """With moments of history, one a minute, the last of them so long after NOW_S."""
    rounds = PastRounds({"t": len(history[0])}, LATE_S)
    first_s = NOW_S + last_s - MINUTE_S * (len(history) - 1)
    for number, values in enumerate(history):
        rounds.add(first_s + number * MINUTE_S, log_ends(*values))
    while rounds.give(ends):
        pass
    return ends


def seen(ends: LogEnds, offset: int, partition: int = 0) -> tuple[float, float]:
    """The record was not visible at the first moment, and was at the second; after NOW_S."""
    past, base = ends.rows.past, ends.where(["t"])[0]
    found = past.find(base + partition, np.array([offset]))
    before, after = int(found.before[0]), int(found.after[0])
    asked_s, answered_s = np.append(past.asked_s, -np.inf), np.append(past.answered_s, np.inf)
    return float(asked_s[before]) - NOW_S, float(answered_s[after]) - NOW_S


def before_s(minutes: int) -> float:
    return -minutes * MINUTE_S - LATE_S


def after_s(minutes: int) -> float:
    return -minutes * MINUTE_S + TICK_S


def test_records_from_before_the_start_have_an_age() -> None:
    ends = refilled(watched((0, [50]), (10, [60])), [10], [20], [30], [30], [45])

    # History knows 10, 20, 30, 30, 45 as of five to one minutes ago.
    cases = {
        "between two moments": (25, (before_s(5), after_s(3))),
        "while nothing came": (30, (before_s(4), after_s(1))),
        "since the last moment": (47, (before_s(2), 1.0)),
        "since the start": (55, (0.0, 11.0)),
        "older than known": (5, (-np.inf, after_s(4))),
        "not there yet": (60, (10.0, np.inf)),
    }
    wrong = {
        name: seen(ends, at) for name, (at, expected) in cases.items() if seen(ends, at) != expected
    }
    assert wrong == {}


def test_a_gap_between_a_snapshot_and_the_start_is_filled() -> None:
    old = watched((-6000, [100, 7]), (-5990, [110, 7]))
    ends = refilled(watched((0, [500, 9]), ends=old), [105, 7], [200, 7], [300, 8], [310, 9])

    assert seen(ends, 250) == (before_s(4), after_s(2))
    assert seen(ends, 7, partition=1) == (-5990, after_s(2))
    assert seen(ends, 105) == (-6000, -5989)
    assert ends.rows.past.answered_s.tolist() == sorted(ends.rows.past.answered_s)


def test_where_an_end_goes_back_the_past_says_nothing() -> None:
    cut = refilled(watched((0, [50])), [100], [200], [20], [30], [40])
    shorter_now = refilled(watched((0, [50])), [100], [200], [300])
    begun_since = refilled(watched((0, [None, 1]), (10, [50, 1])), [10, 1], [20, 1], [30, 1])

    assert [seen(cut, offset) for offset in (5, 25, 35)] == [
        (-np.inf, after_s(3)),
        (-np.inf, after_s(2)),
        (before_s(3), after_s(1)),
    ]
    assert seen(shorter_now, 45) == (-np.inf, 1.0)
    assert seen(begun_since, 25) == (-np.inf, 11.0)


def test_rows_that_cannot_be_do_no_harm() -> None:
    rows: list[tuple[str | None, int | None, int | None]] = [
        ("t", 0, -5),
        ("t", -1, 5),
        ("t", 2**31 - 1, 5),
        ("unknown", 0, 5),
        ("t", None, 5),
        ("t", 0, None),
        (None, 0, 5),
    ]
    lines = [dict(zip(LOG_ENDS.names, row, strict=True)) for row in rows]
    odd = log_ends(10).from_pylist(lines, LOG_ENDS)
    huge = log_ends(2**63 - 1)
    ends = watched((0, [50]))

    for story in ([10, odd, 30], [huge, 10, 30], [10, 30, huge], [odd, odd], [0, 0, 30]):
        rounds = PastRounds({"t": 1, "gone": 3}, LATE_S)
        for number, each in enumerate(story):
            table = log_ends(each) if isinstance(each, int) else each
            rounds.add(NOW_S + (number - 3) * MINUTE_S, table)
        while rounds.give(ends):
            pass

    assert seen(ends, 50) == (0.0, np.inf)
    assert seen(ends, 2**62)[1] == np.inf
    assert ends.newest("t") == [50]
    assert [*ends.topics.ids] == ["t"]


def test_memory_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_columns, "MOST", 20)

    ends = refilled(watched((0, [5000])), *[[number] for number in range(200)])

    past = ends.rows.past
    assert len(past.columns) == 20
    assert seen(ends, 100)[0] < before_s(100) < after_s(100) - TICK_S < seen(ends, 100)[1]


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_within_the_bounds(seed: int) -> None:
    """The writers of history got answers now and then, and some were behind others."""
    chance = Random(seed)  # noqa: S311  the same histories each time
    first, lasts_s = chance.choice([0, 7, 2**40]), 10_000.0
    written = [sorted(NOW_S - chance.uniform(0, lasts_s) for _ in range(n)) for n in (3, 50, 300)]

    def end(partition: int, moment_s: float) -> int:
        return first + bisect_right(written[partition], moment_s)

    rounds = PastRounds({"t": 3}, late_s=50)
    read_s, moment_s = [NOW_S - lasts_s - 10] * 3, NOW_S - lasts_s
    while moment_s < NOW_S - 60:
        answered = [chance.random() < chance.choice([0.2, 1]) for _ in range(3)]
        fresh_s = moment_s - chance.uniform(-TICK_S, 50)
        read_s = [
            max(fresh_s, was_s) if is_answered else was_s
            for was_s, is_answered in zip(read_s, answered, strict=True)
        ]
        known = [None if chance.random() < 0.1 else end(p, at) for p, at in enumerate(read_s)]
        rounds.add(moment_s, log_ends(*known))
        moment_s += chance.choice([30, 60, 600])
    now = [end(partition, NOW_S) for partition in range(3)]
    ends = watched((0, [*now]), (10, [*now]))
    while rounds.give(ends):
        if chance.random() < 0.1:
            ends.ensure("other" + str(chance.random()), 50)  # rows move meanwhile
            ends.ensure("t", 3)

    wrong, bounded = [], 0
    for partition, moments in enumerate(written):
        for at, truth_s in enumerate(moments):
            low_s, high_s = seen(ends, first + at, partition)
            bounded += np.isfinite(low_s)
            if not low_s - 1e-6 <= truth_s - NOW_S <= high_s + 1e-6:
                wrong.append((partition, at, low_s, truth_s - NOW_S, high_s))
    assert wrong == []
    assert bounded > 100
