"""A week of log ends: what the columns remember, and what they never claim."""

import numpy as np

from warren.windows import snapshot_arrays
from warren.windows.end_columns import KEPT_S, EndColumns
from warren.windows.windows import Windows

NOW_S = 1_700_000_000.0
END = 2**40


def columns(*rounds: list[int | None], every_s: float = 10.0) -> EndColumns:
    """Rounds of ends, oldest first; None: no answer, and the end stays what it was."""
    past, newest = EndColumns(), np.zeros(len(rounds[0]), np.int64)
    for number, ends in enumerate(rounds):
        answered = np.array([end is not None for end in ends])
        newest[answered] = [end for end in ends if end is not None]
        asked_s = NOW_S + number * every_s
        past.add(asked_s, asked_s + 1, newest.copy(), answered)
    return past


def found(past: EndColumns, row: int, offset: int) -> tuple[int, int]:
    seen = past.find(np.array([row]), np.array([offset]))
    return int(seen.before[0]), int(seen.after[0])


def test_between_which_rounds_a_record_became_visible() -> None:
    past = columns([5], [8], [8], [20])
    cases = {
        "before all": (4, (-1, 0)),
        "the first that came": (5, (0, 1)),
        "the last of a round": (7, (0, 1)),
        "after a pause": (8, (2, 3)),
        "not there yet": (20, (3, 4)),
        "far beyond": (2**63 - 1, (3, 4)),
        "negative": (-(2**63), (-1, 0)),
    }

    wrong = {
        name: found(past, 0, offset)
        for name, (offset, expected) in cases.items()
        if found(past, 0, offset) != expected
    }

    assert wrong == {}


def test_a_round_without_an_answer_is_no_evidence() -> None:
    past = columns([5, 5], [None, 5], [None, 5], [9, 9])

    assert (found(past, 0, 5), found(past, 1, 5)) == ((0, 3), (2, 3))


def test_a_partition_has_no_past_before_its_first_answer() -> None:
    past = columns([5, None], [6, None], [7, 7], [8, 9])

    assert (found(past, 1, 6), found(past, 1, 7)) == ((-1, 2), (2, 3))


def test_ends_that_went_back_are_forgotten() -> None:
    cut, wiped = columns([10], [20], [12], [15]), columns([10], [20], [3], [5])

    assert (found(cut, 0, 11), found(cut, 0, 12), found(cut, 0, 14)) == ((0, 1), (2, 3), (2, 3))
    assert (found(wiped, 0, 2), found(wiped, 0, 3), found(wiped, 0, 5)) == ((-1, 0), (2, 3), (3, 4))


def test_a_log_that_was_cut_may_have_been_written_anew_up_to_its_end() -> None:
    cut, other = columns([10, 5], [20, 5], [12, 5], [15, 5]), np.array([0, 1])

    assert cut.was_cut
    assert cut.is_uncut(other, np.full(2, NOW_S + 20)).tolist() == [False, True]
    assert cut.is_uncut(other, np.full(2, NOW_S + 21)).tolist() == [True, True]
    cut.copy(np.array([0]), np.array([2]))
    cut.clear(np.array([0]))
    assert cut.is_uncut(np.array([0, 2]), np.full(2, NOW_S + 20)).tolist() == [True, False]


def test_a_million_partitions_and_their_marks_fit_into_half_a_gigabyte() -> None:
    past, end = EndColumns(), np.full(1_000_000, 10**9)
    marks = [np.ones(len(end), np.bool_) for _ in range(3)]
    for number in range(130):
        if number:
            marks[number % 3][number] = False
        past.add(NOW_S + 10 * number, NOW_S + 10 * number + 1, end, marks[number % 3])
        end += 5

    assert past.nbytes <= 500_000_000
    assert len(past.columns) >= 113


def test_rounds_that_the_same_partitions_did_not_answer_share_their_marks() -> None:
    past = columns([5, 5], *[[None, 6]] * 9, [7, None], [8, 8])

    marks = {id(each.unanswered) for each in past.columns if each.unanswered is not None}
    past.copy(np.array([0, 1]), np.array([2, 3]))
    moved = {id(each.unanswered) for each in past.columns if each.unanswered is not None}

    assert (len(marks), len(moved)) == (2, 2)
    assert (found(past, 2, 5), found(past, 3, 5)) == ((0, 10), (0, 1))


def test_four_bytes_are_enough_for_any_end() -> None:
    far = columns([0], [END], [END + 5], [2**63 - 1])

    assert found(far, 0, END) == (-1, 3)  # too far below the newest
    assert found(far, 0, 2**63 - 2) == (2, 3)
    assert found(columns([END], [END + 5]), 0, END + 4) == (0, 1)


def test_old_columns_lie_a_tenth_of_their_age_apart() -> None:
    past, now_s = EndColumns(), NOW_S
    for _ in range(20_000):
        now_s += 60
        past.add(now_s, now_s + 1, np.array([1]), np.array([True]))
        past.thin(now_s, now_s + 1)

    asked_s, answered_s = past.asked_s, past.answered_s
    width_s, age_s = answered_s[1:] - asked_s[:-1], now_s - answered_s[1:]
    assert (width_s <= np.maximum(61, 0.1 * age_s)).all()
    assert KEPT_S * 0.9 <= now_s - answered_s[0] <= KEPT_S * 1.1
    assert len(past.columns) < 130


def test_a_clock_that_is_set_back_leaves_no_round_of_the_future() -> None:
    past = columns([5], [6], [7])

    past.add(NOW_S + 5, NOW_S + 6, np.array([8]), np.array([True]))

    assert past.answered_s.tolist() == [NOW_S + 1, NOW_S + 6]
    assert found(past, 0, 7) == (0, 1)


def test_rows_move_with_their_past() -> None:
    past = columns([5, 50], [None, 60], [7, 70])

    past.copy(np.array([0, 1]), np.array([3, 4]))
    past.clear(np.array([0, 1]))

    assert [found(past, row, offset) for row, offset in ((3, 5), (4, 60))] == [(0, 2), (1, 2)]
    assert found(past, 0, 5)[0] == -1
    past.keep(np.array([4, 3]))
    assert [found(past, row, offset) for row, offset in ((1, 5), (0, 60))] == [(0, 2), (1, 2)]


def test_a_shared_column_does_not_change() -> None:
    past = columns([5], [8])
    shared = past.share()
    before = [each.above.copy() for each in shared]

    past.add(NOW_S + 30, NOW_S + 31, np.array([6]), np.array([True]))  # the log was cut

    assert all((a.above == b).all() for a, b in zip(shared, before, strict=True))
    assert found(past, 0, 6) == (2, 3)


def test_a_snapshot_of_before_knows_of_no_cut_and_of_no_rhythm_of_retention() -> None:
    windows, restored = Windows(), Windows()
    windows.ends.ensure("t", 2)
    windows.ends.rows.past = columns([5, 9], [3, 9])
    names, columns_ = snapshot_arrays.copy(windows, {})
    saved = snapshot_arrays.arrange(columns_)
    del saved["past_cut_s"], saved["end_start_every_s"]

    snapshot_arrays.restore(restored, names, saved)

    assert not restored.ends.rows.past.was_cut
    assert restored.ends.rows.start_every_s[:2].tolist() == [0, 0]


def test_a_restart_keeps_the_rounds() -> None:
    windows, restored = Windows(), Windows()
    windows.ends.ensure("b", 1)
    windows.ends.ensure("a", 2)
    rows = windows.ends.rows
    rows.past = columns([1, 5, 9], [2, None, 10], [3, 7, 11])
    rows.filled[:3], rows.newest[:3] = 1, [3, 7, 11]

    names, saved = snapshot_arrays.copy(windows, {})
    snapshot_arrays.restore(restored, names, snapshot_arrays.arrange(saved))

    past = restored.ends.rows.past
    assert past.asked_s.tolist() == rows.past.asked_s.tolist()
    assert [found(past, row, end) for row, end in ((2, 2), (0, 5), (1, 10))] == [
        (1, 2),
        (0, 2),
        (1, 2),
    ]
