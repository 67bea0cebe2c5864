"""Each rule by itself, on windows written by hand; -1 is an unknown lag."""

import numpy as np

from warren.evaluate import rules
from warren.model.arrays import Ints


def window(*values: int) -> Ints:
    return np.array([values], np.int64)


def test_has_rewound() -> None:
    cases = {
        "only forward": (window(10, 20, 30), False),
        "went back": (window(10, 30, 20), True),
        "went back, caught up": (window(10, 30, 20, 30), False),
        "second rewind after a recovered first": (window(10, 30, 20, 40, 5), False),
        "single commit": (window(10), False),
    }

    wrong = [name for name, (w, expected) in cases.items() if rules.has_rewound(w)[0] != expected]

    assert wrong == []


def test_is_falling_behind() -> None:
    cases = {
        "grows": (window(1, 2, 3), True),
        "stays": (window(5, 5, 5), True),
        "dips": (window(1, 3, 2), False),
        "dips across an unknown": (window(3, -1, 2), False),
        "grows across an unknown": (window(2, -1, 3), True),
        "unknown first": (window(-1, 4, 4), True),
        "nothing known": (window(-1, -1, -1), True),
    }

    wrong = [
        name for name, (w, expected) in cases.items() if rules.is_falling_behind(w)[0] != expected
    ]

    assert wrong == []


def test_an_unknown_lag_is_not_a_small_one() -> None:
    assert not rules.was_caught_up(window(-1, 7), allowed_lag=6)[0]
    assert rules.was_caught_up(window(-1, 7), allowed_lag=7)[0]


def test_silence_as_long_as_the_window_is_not_a_stop() -> None:
    commits = window(1000, 3000, 6000)

    assert not rules.has_stopped(commits, now_ms=11_000)[0]
    assert rules.has_stopped(commits, now_ms=11_001)[0]


def test_a_grid_is_judged_line_by_line() -> None:
    offsets = np.array([[10, 10, 10], [10, 20, 30], [10, 30, 20]])

    assert rules.has_stalled(offsets).tolist() == [True, False, False]
    assert rules.has_rewound(offsets).tolist() == [False, False, True]
    assert rules.has_rewound(np.asfortranarray(offsets)).tolist() == [False, False, True]
