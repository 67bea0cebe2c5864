from warren.sources.progress import HELD_AFTER_S, Progress


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
    progress.see_ends({0: 0}, {0: 0}, now=0)

    progress.begin({0: 0}, now=0)

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
