"""Whose log start, and whose stable end, is worth reading in a round."""

from typing import NamedTuple

import numpy as np
import pytest
from support.batches import NOW, Record, batch, log_ends

from warren.model.probe_answers import Answer, Known
from warren.windows import edges_due as due
from warren.windows import probed
from warren.windows.edges_due import edges_due
from warren.windows.windows import Windows

BEFORE, END = 9_000, 10_000  # where the log ended in the last two rounds
START, STABLE, NEITHER = "start", "stable", ""


class Case(NamedTuple):
    committed: tuple[int, ...]  # by some groups
    expected: str
    answer: Answer | None = None


CASES = {
    "has read all": Case((END,), NEITHER),
    "nothing was committed": Case((), NEITHER),
    "has read what the round before showed": Case((BEFORE,), STABLE),
    "and some more": Case((9_900,), STABLE),
    "is further behind": Case((BEFORE - 1,), START),
    "is far behind": Case((5,), START),
    "one is near, one is far behind": Case((BEFORE, 5), START + STABLE),
    "a few records wait": Case((END - 500,), STABLE),
}
STANDS = {  # the log did not grow in the last round
    "a few records wait": Case((END - 500,), STABLE),
    "one of which can be read": Case(
        (END - 500,), START, Answer(Known.READ | Known.RECORD, END - 500, END - 500, END - 500)
    ),
    "one of which could be read when it was there": Case(
        (END - 500,), STABLE, Answer(Known.READ | Known.RECORD, END - 501, END - 501, END - 501)
    ),
    "many wait": Case((END - 501,), START),
}


def windows_of(cases: dict[str, Case], before: int) -> Windows:
    windows = Windows()
    for at, end in ((20, before), (10, END)):
        windows.set_log_ends(log_ends(*[end] * len(cases)), {"t": len(cases)}, now_s=NOW - at)
    for partition, case in enumerate(cases.values()):
        for number, offset in enumerate(case.committed):
            record = Record(1, offset, -15_000, partition, group=f"g{number}")
            windows.fold(batch(record), NOW)
        if case.answer:
            assert probed.note(windows, "g0", "t", partition, case.answer)
    return windows


@pytest.mark.parametrize(("cases", "before"), [(CASES, BEFORE), (STANDS, END)])
def test_starts_matter_to_those_who_are_behind_and_stable_ends_to_the_others(
    cases: dict[str, Case], before: int
) -> None:
    starts, stable = edges_due(windows_of(cases, before), np.random.default_rng(1))

    found = {
        name: START * (("t", at) in starts) + STABLE * (("t", at) in stable)
        for at, name in enumerate(cases)
    }
    assert found == {name: case.expected for name, case in cases.items()}


def test_of_too_many_those_are_chosen_whose_start_has_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(due, "MOST", 3)
    windows = windows_of(dict.fromkeys(map(str, range(9)), Case((5,), START)), BEFORE)
    windows.ends.refresh_edges(log_ends(*range(9)), log_ends())
    windows.paces.note(NOW)
    windows.ends.refresh_edges(log_ends(0, 1, 2, 3, 5, 6, 6, 7, 8), log_ends())
    windows.paces.note(NOW + 10)

    chosen = [edges_due(windows, np.random.default_rng(seed))[0] for seed in range(9)]

    assert {len(each) for each in chosen} == {3}
    assert all({("t", 4), ("t", 5)} <= {*each} for each in chosen)
    assert len({place for each in chosen for place in each}) > 5


def test_a_window_of_one_commit_is_enough() -> None:
    windows = Windows(intervals=1)
    windows.set_log_ends(log_ends(10), {"t": 1}, now_s=NOW)
    windows.fold(batch(Record(1, 5)), NOW)

    assert edges_due(windows, np.random.default_rng(1)) == ([], [("t", 0)])
