"""Whatever 64 bits come, differences, sums and moments stand at the edge instead of wrapping."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warren.model import bounds
from warren.model.bounds import LEAST, MOST

EDGES = [LEAST, LEAST + 1, -(2**62), -(2**32), -1, 0, 1, 2**32 - 1, 2**32, 2**62, MOST - 1, MOST]
numbers = st.sampled_from(EDGES) | st.integers(LEAST, MOST)


def within(number: int) -> int:
    return min(max(number, LEAST), MOST)


@given(st.lists(st.tuples(numbers, numbers), min_size=1))
def test_a_lag_is_how_far_an_offset_is_behind_the_end(pairs: list[tuple[int, int]]) -> None:
    end, offset = np.array(pairs, np.int64).T

    assert bounds.lag(end, offset).tolist() == [within(max(e - o, 0)) for e, o in pairs]
    assert bounds.minus(end, offset).tolist() == [within(e - o) for e, o in pairs]


@given(st.lists(st.lists(numbers, min_size=1, max_size=5), max_size=4))
def test_sums_are_those_of_python_as_far_as_a_number_holds_them(parts: list[list[int]]) -> None:
    values = np.array([each for part in parts for each in part], np.int64)
    first = np.cumsum([0, *map(len, parts)])[:-1] if parts else np.zeros(0, np.int64)

    assert bounds.sums(values, first).tolist() == [within(sum(part)) for part in parts]
    assert [bounds.total(part) for part in parts] == [within(sum(part)) for part in parts]


def test_sums_go_along_the_first_axis() -> None:
    values = np.array([[1, 2**62], [2, 2**62], [3, -(2**62)], [MOST, 5]], np.int64)

    assert bounds.sums(values, np.array([0, 2])).tolist() == [[3, MOST], [MOST, 5 - 2**62]]


def test_a_moment_is_one_that_a_calendar_has() -> None:
    assert bounds.moment(1_700_000_000_000) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert [bounds.moment(ms).year for ms in (LEAST, -1, 0, MOST)] == [1, 1969, 1970, 9999]
