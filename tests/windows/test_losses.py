"""What retention took unread: timelines of one partition, a round every ten seconds."""

import numpy as np
import pytest
from support.batches import NOW, log_ends
from support.rounds import LEAST, MOST, ROUND_S, Round, windows_after

from warren.model.numbers import UNKNOWN
from warren.model.probe_answers import Answer, Known
from warren.windows import probed
from warren.windows.losses import note_losses
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows


def lost(windows: Windows) -> int:
    first = np.zeros(1, np.int64)
    return int(windows.paces.of_lines(first, first, np.array([NOW])).lost[0])


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

    assert wrong(cases) == {}


def wrong(cases: dict[str, tuple[list[Round], int]]) -> dict[str, int]:
    found = {name: lost(windows_after(rounds)) for name, (rounds, _) in cases.items()}
    return {name: each for name, each in found.items() if each != cases[name][1]}


def steady(*offsets: int, end: int = 5000) -> list[Round]:
    """A commit every two seconds, each one record further, up to these offsets."""
    return [Round(range(until - 4, until + 1), end, start=0) for until in offsets]


def test_who_was_sent_to_the_new_log_start_has_lost_what_lay_before() -> None:
    before = steady(105, 110, 115)
    there = range(900, 905)
    cases = {
        "it went on from the start": ([*before, Round(there, 5000, start=900)], 785),
        "the start was read later": ([*before, Round(there, 5000), Round(start=900)], 785),
        "from the last commit before": (
            [*before, Round([116, 117, 900, 901], 5000, start=900)],
            783,
        ),
        "it has gone on by a few records": (
            [*before, Round(range(903, 908), 5000, start=900)],
            785,
        ),
        "no faster than it usually is": ([*before, Round([117, 119, 121], 5000, start=118)], 0),
        "the log grows as fast as it went": (
            [*before, Round(there, 9000, start=900), Round(end=9000, start=900)],
            0,
        ),
        "it went on from elsewhere: it may have read": (
            [*before, Round(range(4000, 4005), 5000, start=900)],
            0,
        ),
        "it has hardly been seen": (
            [Round([115], 5000, start=0), Round([900], 5000, start=900)],
            0,
        ),
        "it was counted before it went on": (
            [*before, Round(end=5000, start=900), Round(there, 5000, start=900)],
            785,
        ),
        "more is lost later": (
            [*before, Round(there, 5000, start=900), Round(end=5000, start=950)],
            785 + 46,
        ),
    }

    assert wrong(cases) == {}


def test_what_a_group_of_many_commits_lost_is_known_by_where_it_stood_in_the_round_before() -> None:
    before = [Round(range(100 * at, 100 * at + 100), 50_000, start=0) for at in range(1, 4)]
    sent = Round(range(20_000, 20_100), 50_000, start=20_000)

    assert lost(windows_after([*before, sent])) in range(20_000 - 400, 20_000 - 380)


def test_what_nobody_can_read_is_not_lost() -> None:
    windows = windows_after([Round([100], 110, start=0)])
    assert probed.note(windows, "g", "t", 0, Answer(Known.READ, 100, 110, 110))

    windows.ends.refresh_edges(log_ends(112), log_ends())
    note_losses(windows, window_arrays(windows))

    assert lost(windows) == 2


@pytest.mark.parametrize(("read_s", "expected"), [(-1, 0), (0, 30)])
def test_nothing_is_lost_before_the_commits_are_read_up_to_then(read_s: int, expected: int) -> None:
    windows = windows_after([Round([100], start=0)])

    windows.ends.refresh_edges(log_ends(130), log_ends(), answered_s=NOW + 2 * ROUND_S)
    as_of_s = NOW + 2 * ROUND_S + read_s
    note_losses(windows, window_arrays(windows, lambda groups: np.full(len(groups), as_of_s)))

    assert lost(windows) == expected
