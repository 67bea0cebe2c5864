"""What a look at the records behind a commit changes in lag and age."""

from typing import NamedTuple

import numpy as np
import pytest
from support.batches import NOW, Record, batch, log_ends

from warren.evaluate.judge import JudgeSettings, judge
from warren.evaluate.measure import measure
from warren.model.numbers import Lack, Method, PartitionNumbers
from warren.model.policies import LinePolicies, Policy
from warren.model.probe_answers import Answer, Known
from warren.windows import probed
from warren.windows.readings import readings
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

READ, RECORD, TIMED, REFUSED = Known.READ, Known.RECORD, Known.TIMED, Known.REFUSED
MS, END, COMMIT = 1000, 10, 7


class Case(NamedTuple):
    """What was found where the log ends at 10 and the group committed 7."""

    lags: tuple[int, int, int]  # guess, low, high
    answer: Answer | None
    stable: int | None = None


CASES = {
    "nobody looked": Case((3, 3, 3), None),
    "only markers": Case((0, 0, 0), Answer(READ, 7, 10, 10)),
    "aborted records": Case((0, 0, 3), Answer(READ, 7, 10, 7)),
    "records": Case((3, 3, 3), Answer(READ | RECORD, 7, 7, 7)),
    "markers, then a record": Case((1, 1, 1), Answer(READ | RECORD, 7, 9, 9)),
    "the log has grown since": Case((2, 2, 2), Answer(READ, 7, 8, 8)),
    "it has committed since, on the markers": Case((2, 2, 2), Answer(READ, 4, 8, 8)),
    "it has committed since, beyond them": Case((3, 3, 3), Answer(READ, 4, 6, 6)),
    "only a time": Case((3, 3, 3), Answer(TIMED, 7, 9, 9, 1, 2)),
    "refused": Case((3, 3, 3), Answer(REFUSED, 7, 7, 7)),
    "markers, then an open transaction": Case((0, 0, 0), Answer(READ, 7, 9, 7), stable=9),
}


def numbers(cases: list[Case], isolation: str = "") -> PartitionNumbers:
    windows, count = Windows(), len(cases)
    windows.set_log_ends(log_ends(*[END] * count), {"t": count}, now_s=NOW - 30)
    for at, case in enumerate(cases):
        if case.answer and case.answer.offset < COMMIT:
            windows.fold(batch(Record(1, case.answer.offset, -5000 * MS, at)), NOW)
            assert probed.note(windows, "g", "t", at, case.answer)
        windows.fold(batch(Record(2, COMMIT, -4000 * MS, at)), NOW)
        if case.answer:
            assert probed.note(windows, "g", "t", at, case.answer)
    for now_s in (NOW - 10, NOW):
        windows.set_log_ends(log_ends(*[END] * count), {}, now_s=now_s, asked_s=now_s - 0.1)
    stable = log_ends(*(case.stable for case in cases))
    windows.ends.refresh_edges(log_ends(), stable.filter(stable["offset"].is_valid()))
    view = window_arrays(windows)
    first = judge(view, JudgeSettings(), NOW).groups.first
    policies = LinePolicies((Policy("p", isolation=isolation),), np.zeros(count, np.int32))
    return measure(readings(windows, view, NOW, policies), first).partitions


def test_what_nobody_can_read_is_no_lag() -> None:
    found = numbers([*CASES.values()])

    columns = (found.lag, found.lag_low, found.lag_high)
    lags = {name: tuple(int(each[at]) for each in columns) for at, name in enumerate(CASES)}
    assert lags == {name: case.lags for name, case in CASES.items()}
    is_refused = (found.lack & np.uint8(Lack.NO_RECORDS)) > 0
    assert [name for name, is_so in zip(CASES, is_refused, strict=True) if is_so] == ["refused"]


def test_aborted_records_are_lag_only_for_those_who_read_them() -> None:
    cases = {"": (0, 0, 3), "read-committed": (0, 0, 0), "read-uncommitted": (3, 3, 3)}

    found = {each: numbers([CASES["aborted records"]], each) for each in cases}

    assert cases == {
        isolation: (each.lag[0], each.lag_low[0], each.lag_high[0])
        for isolation, each in found.items()
    }


def at(seconds_ago: float) -> int:
    return int((NOW - seconds_ago) * MS)


@pytest.mark.parametrize(
    ("answer", "method", "low", "high"),
    [
        (Answer(TIMED, 7, 7, 7, at(2000), at(1900)), Method.BY_CLOCK, 1900, 2000),
        (Answer(READ | RECORD | TIMED, 7, 7, 7, at(99), at(99)), Method.BY_CLOCK, 99, 99),
        # Of a record before it: this one is not older.
        (Answer(TIMED, 4, 4, 4, at(2000), at(1900)), Method.BY_CLOCK, None, 2000),
        # Written after we had seen it, or not yet, says its producer's clock.
        (Answer(TIMED, 7, 7, 7, at(1), at(1)), Method.BY_ENDS, None, np.inf),
        (Answer(TIMED, 7, 7, 7, at(-999), at(-999)), Method.BY_ENDS, None, np.inf),
        # Looked for in vain.
        (Answer(TIMED, 7, 7, 7), Method.BY_ENDS, None, np.inf),
    ],
)
def test_timestamps_bound_only_what_our_own_clock_does_not(
    answer: Answer, method: Method, low: float | None, high: float
) -> None:
    own, found = numbers([Case((3, 3, 3), None)]), numbers([Case((3, 3, 3), answer)])

    assert found.age_method[0] == method
    assert found.age_high_s[0] == pytest.approx(high)
    least = own.age_low_s[0] if low is None else low
    assert found.age_low_s[0] == pytest.approx(least)
    assert found.age_low_s[0] <= found.age_s[0] <= found.age_high_s[0]
    assert own.age_method[0] == Method.BY_ENDS
    assert np.isinf(own.age_high_s[0])
