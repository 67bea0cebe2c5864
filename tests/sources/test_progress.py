import math

from warren.sources.progress import HELD_AFTER_S, PATIENCE_S, Progress


def test_caught_up_is_when_the_end_seen_first_has_been_reached() -> None:
    progress = Progress()
    progress.begin({0: 0, 1: 5}, now=0)
    progress.see_ends({0: 10, 1: 5}, {0: 10, 1: 5}, now=0)
    at_first = progress.is_caught_up
    progress.see_ends({0: 99, 1: 99}, {0: 99, 1: 99}, now=1)

    progress.advance({0: 10, 1: 5}, 10, now=2)

    assert (at_first, progress.is_caught_up) == (False, True)
    assert progress.remaining == 89 + 94


def test_an_empty_topic_is_caught_up_at_once() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=0)

    progress.see_ends({0: 0}, {0: 0}, now=0)

    assert progress.is_caught_up


def test_nothing_is_caught_up_before_the_end_is_known() -> None:
    progress = Progress()

    progress.begin({0: 7}, now=0)

    assert not progress.is_caught_up


def test_what_stands_still_before_an_open_transaction_is_held_back() -> None:
    cases = {
        "stands": ([(10, 4), (12, 4)], [0]),
        "nothing open": ([(10, 10), (10, 10)], []),
        "moves on": ([(10, 4), (12, 6)], []),
        "was open, is not": ([(10, 4), (12, 12)], []),
        "opened just now": ([(10, 10), (12, 10)], []),
    }

    wrong = []
    for name, (seen, expected) in cases.items():
        progress = Progress()
        for at, (end, stable) in enumerate(seen):
            progress.see_ends({0: end}, {0: stable}, now=at * HELD_AFTER_S)
        if progress.held_back(HELD_AFTER_S) != expected:
            wrong.append(name)

    assert wrong == []


def test_a_partition_whose_end_was_not_told_is_not_held_back() -> None:
    progress = Progress()

    progress.see_ends({}, {0: 4}, now=0)

    assert progress.held_back(10 * HELD_AFTER_S) == []


def test_rate_and_time_left_follow_the_reading() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=100)
    progress.see_ends({0: 1_000}, {0: 1_000}, now=100)
    unknown = progress.seconds_left(100)

    progress.advance({0: 400}, 400, now=104)

    assert unknown is None
    assert progress.rate(104) == 100
    assert progress.seconds_left(104) == 6


def test_reading_that_begins_anew_has_no_problem_left() -> None:
    progress = Progress(problem="no broker answers")

    progress.begin({0: 0}, now=0)

    assert progress.problem == ""


def test_who_falls_behind_is_no_longer_caught_up() -> None:
    cases = {
        "reads on": ([(100, 200, 200), (110, 300, 200), (120, 300, 300)], True),
        "stands, not for long": ([(100, 200, 100), (110, 300, 100)], True),
        "stands": ([(100, 200, 100), (110, 300, 100), (130, 400, 100)], False),
        "stood, reads on": ([(100, 200, 100), (130, 400, 100), (140, 400, 400)], True),
        "no end seen for long, much to read": ([(500, 9_000, 100)], False),
        "no end seen for long, nothing to read": ([(500, 100, 100)], True),
        "the clock steps back": ([(50, 100, 100), (40, 100, 100)], True),
    }

    wrong = []
    for name, (looks, expected) in cases.items():
        progress = Progress()
        progress.begin({0: 0}, now=90)
        progress.see_ends({0: 100}, {0: 100}, now=90)
        progress.advance({0: 100}, 100, now=91)
        for now, end, position in looks:
            progress.see_ends({0: end}, {0: end}, now)
            progress.advance({0: position}, 0, now)
        if (progress.is_caught_up, progress.has_caught_up) != (expected, True):
            wrong.append(name)

    assert wrong == []


def test_reading_that_begins_anew_has_to_catch_up_anew() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=0)
    progress.see_ends({0: 0}, {0: 0}, now=0)

    progress.begin({0: 0}, now=5)
    progress.see_ends({0: 9}, {0: 9}, now=5)

    assert not progress.is_caught_up
    assert progress.has_caught_up


def test_a_partition_that_does_not_answer_is_not_waited_for() -> None:
    progress = Progress()
    progress.begin({0: 0, 1: 0}, now=0)
    progress.see_ends({0: 5, 1: 5}, {0: 5, 1: 5}, now=0)
    progress.advance({0: 5}, 5, now=1)
    before = progress.is_caught_up

    progress.see_ends({0: 5}, {0: 5}, now=2)
    at_once = progress.is_caught_up
    progress.see_ends({0: 5}, {0: 5}, now=PATIENCE_S)

    assert (before, at_once, progress.is_caught_up) == (False, False, True)


def test_one_answer_that_misses_some_partitions_does_not_end_the_catching_up() -> None:
    progress = Progress()
    progress.begin({0: 0, 1: 0}, now=0)
    progress.see_ends({0: 1}, {0: 1}, now=0)
    progress.advance({0: 1}, 1, now=1)
    too_few = progress.is_caught_up

    progress.see_ends({0: 1, 1: 5_000}, {0: 1, 1: 5_000}, now=2)
    progress.advance({1: 4_999}, 4_999, now=3)
    nearly = progress.is_caught_up
    progress.advance({1: 5_000}, 1, now=4)

    assert (too_few, nearly, progress.is_caught_up) == (False, False, True)


def test_a_partition_is_read_up_to_when_an_end_was_asked_for_that_is_reached() -> None:
    progress = Progress()
    progress.begin({0: 0, 1: 0}, now=100)
    progress.see_ends({0: 10, 1: 0}, {0: 10, 1: 0}, now=101)
    begun = dict(progress.read_s)
    progress.see_ends({0: 20, 1: 0}, {0: 20, 1: 0}, now=103)
    progress.see_ends({0: 30, 1: 0}, {0: 30, 1: 0}, now=105)

    progress.advance({0: 25}, 25, now=130)

    assert begun == {1: 101}
    assert progress.read_s == {0: 103, 1: 105}
    assert progress.behind_s(130) == 27
    assert progress.read_until_s([0, 1, 2]) == -math.inf


def test_nothing_before_an_open_transaction_is_taken_for_silence() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=0)

    progress.see_ends({0: 9}, {0: 4}, now=5)
    progress.advance({0: 4}, 4, now=6)
    held = dict(progress.read_s)
    progress.advance({0: 10}, 6, now=7)

    assert (held, progress.read_s) == ({}, {0: 5})


def test_reading_that_stands_for_long_remembers_when_it_stood() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=0)
    for second in range(1, 1_001):
        progress.see_ends({0: second}, {0: second}, now=second)

    seen = []
    for position in (1, 900, 1_000):
        progress.advance({0: position}, 1, now=1_001)
        seen.append(progress.read_s[0])

    assert seen[0] == 1
    assert 800 < seen[1] <= 900
    assert seen[2] == 1_000


def test_a_clock_that_is_set_back_takes_what_was_read_along() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=5_000)
    progress.see_ends({0: 0}, {0: 0}, now=5_000)
    progress.see_ends({0: 7}, {0: 7}, now=5_002)

    progress.see_ends({0: 8}, {0: 8}, now=1_000)
    set_back = dict(progress.read_s)
    progress.advance({0: 8}, 8, now=1_001)

    assert (set_back, progress.read_s) == ({0: 1_000}, {0: 1_000})


def test_an_end_before_what_was_read_is_noticed() -> None:
    progress = Progress()
    progress.begin({0: 0, 1: 0}, now=0)
    progress.advance({0: 50, 1: 50}, 100, now=1)

    progress.see_ends({0: 40, 1: 40}, {0: 40, 1: 40}, now=2, position={0: 50, 1: 30})
    progress.begin({1: 40}, now=3)  # it did not answer when reading began anew

    assert progress.shortened == {0}


def test_a_clock_that_steps_back_costs_neither_the_rate_nor_what_hangs() -> None:
    progress = Progress()
    progress.begin({0: 0}, now=5_000)
    progress.see_ends({0: 900}, {0: 4}, now=5_000)
    progress.advance({0: 400}, 400, now=5_004)

    for second in range(1, 31):
        progress.advance({0: 400}, 100, now=1_000 + second)
        progress.see_ends({0: 900}, {0: 4}, now=1_000 + second)

    assert progress.rate(1_030) == 100
    assert progress.held_back(1_030) == [0]
