"""Rounds of log ends and commits as they come -> lag and age: timelines of one partition.

Rounds are asked for at seconds 10, 20, ... after NOW and answered a second later.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from support.batches import NOW, Record, batch, log_ends
from support.read_lines import wrong_rows

from warren.evaluate.measure import measure
from warren.model.numbers import UNKNOWN, Method, PartitionNumbers
from warren.windows.readings import readings
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

BY_ENDS = Method.BY_ENDS


class Timeline(NamedTuple):
    ends: Sequence[int | None]  # by round; None: no answer for this partition
    commits: Mapping[float, int]  # by seconds
    as_of_s: float  # up to when the group's commits have been read
    late_s: float = 0  # the view is from so much later


def said(timelines: Sequence[Timeline]) -> PartitionNumbers:
    parts = [_said(each) for each in timelines]
    names = PartitionNumbers.__dataclass_fields__
    return PartitionNumbers(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    )


def _said(of: Timeline) -> PartitionNumbers:
    windows = Windows()
    windows.ends.ensure("t", 1)
    moments = {10.0 * at: end for at, end in enumerate(of.ends, start=1)}
    written = sorted(of.commits.items())
    for asked_s, end in moments.items():
        _fold(windows, [each for each in written if asked_s - 10 < each[0] <= asked_s])
        windows.ends.rows.begin_round(NOW + asked_s)
        # Another topic is answered in any case.
        ends = log_ends(*([] if end is None else [end])), log_ends(1, topic="other")
        windows.set_log_ends(
            pa.concat_tables(ends), {"t": 1}, now_s=NOW + asked_s + 1, asked_s=NOW + asked_s
        )
    _fold(windows, [each for each in written if each[0] > 10 * len(of.ends)])
    view = window_arrays(windows, lambda groups: np.full(len(groups), NOW + of.as_of_s))
    read = readings(windows, view, NOW + of.as_of_s + of.late_s)
    return measure(read, np.array([0, len(view.rows)])).partitions


def _fold(windows: Windows, commits: Sequence[tuple[float, int]]) -> None:
    for after_s, offset in commits:
        after_ms = int(after_s * 1000)
        table = batch(Record(after_ms, offset, after_ms))
        windows.fold(table.append_column("written_ms", table["committed_ms"]), NOW)


ONCE = {15.0: 100}
CASES: dict[str, tuple[Timeline, tuple[float, ...], tuple[float, ...]]] = {
    # ends, commits, as of when; lag, low, high; age low, high, method
    "the log grew": (Timeline([100, 150, 160], ONCE, 31), (60, 60, 74), (10, 21, BY_ENDS)),
    "not in the last round, but before it": (
        Timeline([100, 160, 160], ONCE, 31),
        (60, 60, 76),
        (10, 21, BY_ENDS),
    ),
    "a round later the record is as much older": (
        Timeline([100, 160, 160, 160], ONCE, 41),
        (60, 60, 60),
        (20, 31, BY_ENDS),
    ),
    "no answer when the record came": (
        Timeline([100, None, 160], ONCE, 31),
        (60, 60, 76),
        (0, 21, BY_ENDS),
    ),
    "no answer since": (Timeline([100, 160, None], ONCE, 31), (60, 60, 132), (10, 21, BY_ENDS)),
    "nothing but the first answer": (
        Timeline([160, None, None], ONCE, 31),
        (60, 60, 60),
        (20, inf, BY_ENDS),
    ),
    "older than all rounds": (
        Timeline([160, 160, 170], ONCE, 31),
        (70, 70, 74),
        (20, inf, BY_ENDS),
    ),
    "one round": (Timeline([160], {12.0: 100}, 13), (60, 60, 60), (2, inf, BY_ENDS)),
    "nothing is unread": (
        Timeline([100, 100, 100], ONCE, 31),
        (0, 0, 0),
        (0, 1, Method.NOTHING_UNREAD),
    ),
    "nothing is unread, and the last round is not answered": (
        Timeline([100, 100, None], ONCE, 31),
        (0, 0, 0),
        (0, 11, Method.NOTHING_UNREAD),
    ),
    "beyond the end": (
        Timeline([100, 100, 100], {15.0: 500}, 31),
        (0, 0, 0),
        (0, 1, Method.NOTHING_UNREAD),
    ),
    "the log was cut, and record 100 may be another one": (
        Timeline([100, 160, 120], ONCE, 31),
        (20, 0, UNKNOWN),
        (0, 21, BY_ENDS),
    ),
    "a round later it cannot have been written since": (
        Timeline([100, 160, 120, 130], ONCE, 41),
        (30, 30, 34),
        (10, 31, BY_ENDS),
    ),
    "committed since the last round": (
        Timeline([100, 150, 160], {15.0: 100, 31.5: 155}, 32),
        (5, 5, 26),
        (1, 12, BY_ENDS),
    ),
    "many times, some before it": (
        Timeline([100, 150, 160], {15.0: 100, 21.0: 120, 25.0: 140, 31.5: 155}, 32),
        (5, 5, 26),
        (1, 12, BY_ENDS),
    ),
    "read late": (
        Timeline([100, 150, 160], ONCE, 21.5, late_s=60),
        (50, 50, 67),
        (0.5, 11.5, BY_ENDS),
    ),
}


def test_timelines_come_to_these_lags_and_ages() -> None:
    numbers = said([timeline for timeline, *_ in CASES.values()])

    lags = {name: (given, lag) for name, (given, lag, _) in CASES.items()}
    ages = {name: (given, age) for name, (given, _, age) in CASES.items()}
    assert wrong_rows(numbers, ("lag", "lag_low", "lag_high"), lags) == {}
    assert wrong_rows(numbers, ("age_low_s", "age_high_s", "age_method"), ages) == {}


def test_the_guess_is_where_the_record_lies_between_two_ends() -> None:
    ages_s = {100: 20.3, 124: 15.5, 149: 10.5}  # the rounds are 20.5 and 10.5 s old

    found = said([Timeline([100, 150, 150], {15.0: offset}, 31) for offset in ages_s])

    assert np.allclose(found.age_s, [*ages_s.values()])
