"""Warren's words on single partitions: rhythm, trend, and what ends a verdict.

Whole stories are in `tests/judgement`; here are the corners that no story has.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from support.scenario_run import Said, run

from warren.evaluate import rhythm, trend
from warren.evaluate.reasons import in_words
from warren.evaluate.rhythm import Pauses
from warren.model.memory import BUCKETS, FIELDS, SPANS, Memory, Past, regular

LINE = ("billing", "orders", 0)
MEMBERS = {"m1": {"subscribed": ["orders"], "assigned": {"orders": [0]}}}
DAY_S = 86_400
FIRST_SEEN_S = 400


def memory(lines: int = 1) -> tuple[Memory, Past]:
    columns = {name: np.zeros((lines, *width), kind) for name, (width, kind) in FIELDS.items()}
    return (
        Memory._make(columns[name] for name in Memory._fields),
        Past._make(columns[name] for name in Past._fields),
    )


def after(*pauses: tuple[float, int], commits: int = 100) -> tuple[float, float]:
    """The longest regular pause and the period, after pauses that ended at some second."""
    known, past = memory()
    known.woke_s[0], known.commits[0] = FIRST_SEEN_S, commits
    for took_s, ended_s in pauses:
        place = np.zeros(1, np.int64)
        ended = np.array([took_s], np.float32), np.array([ended_s], np.uint32)
        rhythm.learn_pauses(known, past, Pauses(place, place, *ended, regular(past.pauses)))
    return float(regular(past.pauses)[0]), float(known.period_s[0])


def test_a_pause_is_regular_when_it_came_twice() -> None:
    cases = {
        "never": ((), 0),
        "once": (((600, 1000),), 0),
        "twice": (((600, 1000), (590, 1600)), 590),
        "an outage among deploys": (((100, 1000), (9000, 12000), (110, 14000)), 110),
        "forgotten after a day": (((200, 1000), (200, 1000 + 2 * DAY_S)), 0),
        "a long one is remembered longer": (((DAY_S, DAY_S), (DAY_S, int(2.8 * DAY_S))), DAY_S),
    }

    wrong = [
        (name, after(*each)[0]) for name, (each, right) in cases.items() if after(*each)[0] != right
    ]

    assert wrong == []


def test_outages_are_no_rhythm_unless_it_sleeps_most_of_the_time() -> None:
    cases = {
        "two outages, hours apart": (((1800, 9000), (1860, 19860)), 0),
        "three, hours apart": (((1800, 9000), (1860, 19860), (1700, 25000)), 0),
        "what comes again after the same time": (
            ((260, 1000), (250, 1700), (255, 2400), (262, 3110)),
            255,
        ),
        "a job that sleeps for longer than it works": (
            ((600, 1200), (600, 2200), (610, 3300)),
            600,
        ),
        "deploys as short as anybody has patience for": (((200, 3000), (210, 9000)), 200),
        "a missed run among a job's": (((500, 1000), (500, 1600), (1100, 2800), (500, 3400)), 500),
    }

    wrong = [
        (name, after(*each)[0]) for name, (each, right) in cases.items() if after(*each)[0] != right
    ]

    assert wrong == []


def test_the_period_is_from_the_beginning_of_one_run_to_the_next() -> None:
    runs = [(500.0, 600 * number) for number in range(1, 8)]

    assert after(*runs)[1] == pytest.approx(600, rel=0.01)


def trend_of(
    lates: Sequence[float],
    lags: Sequence[float] = (),
    *,
    every_s: int = 75,
    spans: bool = False,
    gap_s: float = 5,
    uneven_s: float = 0,
) -> bool:
    """Of buckets, or of spans: who is so late each time, and has such lags if not the same."""
    _, past = memory()
    kept = SPANS if spans else BUCKETS
    columns: list[Any] = [past.bucket_lates, past.bucket_lags, past.buckets_s]
    if spans:
        columns = [past.span_lates, past.span_lags, past.spans_s]
    held = [*lates[-kept:]]
    ended_s = [1000 + every_s * number for number in range(len(held))]
    for column, values in zip(columns, (held, [*(lags or lates)][-kept:], ended_s), strict=True):
        column[0, kept - len(held) :] = values
    doubts = trend.Doubts(*(np.full(1, each, np.float32) for each in (10, gap_s, uneven_s)))
    return bool(trend.is_rising(past, np.zeros(1, np.int64), doubts)[0])


def test_what_chance_explains_is_no_trend() -> None:
    lates = [20, 45, 60, 62, 90, 115]

    assert trend_of(lates, every_s=100, uneven_s=10)
    assert not trend_of(lates, every_s=100, uneven_s=100)
    assert trend_of([each * 3 for each in lates], every_s=100, uneven_s=100)
    assert trend_of([9, 37, 61, 64], every_s=300, spans=True, gap_s=20)
    assert not trend_of([9, 37, 61, 64], every_s=300, spans=True, gap_s=70)


def test_falling_behind_is_a_trend_and_not_a_step() -> None:
    cases = {
        "grows": ([*range(0, 800, 100)], True),
        "grows with dips": ([0, 100, 190, 180, 300, 420, 500, 610], True),
        "has long been late, and grows ever on": ([*range(5000, 5400, 50)], True),
        "has long been late, and goes up and down": (
            [900, 950, 940, 980, 1000, 1100, 1090, 1200],
            False,
        ),
        "a burst": ([0, 0, 0, 0, 0, 0, 0, 5000], False),
        "a burst being drained": ([0, 0, 5000, 4000, 3000, 2000, 1000, 500], False),
        "up and down": ([100, 300, 100, 300, 100, 300, 100, 300], False),
        "level": ([500] * 8, False),
        "too few": ([0, 100, 200], False),
        "less than anybody could see": ([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], False),
    }

    wrong = [name for name, (lates, right) in cases.items() if trend_of(lates) != right]

    assert wrong == []


def test_both_lag_and_lateness_have_to_rise() -> None:
    rises, level, falls = [*range(0, 800, 100)], [500] * 8, [*range(800, 0, -100)]

    assert trend_of(rises, rises)
    assert not trend_of(level, rises)  # always as late, while traffic rises
    assert not trend_of(rises, falls)  # a burst is read, and what is left grows older


def test_who_reads_in_runs_is_judged_by_the_end_of_each_run() -> None:
    assert trend_of([0, 75, 150, 225], every_s=750, spans=True)
    assert not trend_of([0, 0, 150, 0], every_s=750, spans=True)


def scenario(*events: Sequence[object], until: int = 3600, **settings: object) -> dict[str, object]:
    begin = [[0, "members", "billing", MEMBERS]]
    return {
        "id": "own",
        "settings": settings,
        "topics": {"orders": {"partitions": 1, "start": 0, "end": 0}},
        "events": sorted([*begin, *events], key=lambda event: event[0]),  # type: ignore[arg-type,return-value]
        "until": until,
    }


def commits(begin: int, end: int, every: int, rate: int = 10) -> list[list[object]]:
    return [[at, "commit", "billing", "orders", 0, rate * at] for at in range(begin, end, every)]


GROWS = [0, "grow", "orders", 0, 10]


def said_of(one: dict[str, object], *, delay_s: float = 0.0) -> Said:
    return run([one], delay_s=delay_s)["warren"][0]


def changes(said: Said) -> list[str]:
    return [word for _, word in said.words[LINE]]


def test_one_true_change_is_one_change_of_words() -> None:
    stops = scenario(GROWS, *commits(5, 900, 5), *commits(2000, 3600, 5))

    said = said_of(stops)

    assert changes(said) == ["OK", "STOP", "OK"]
    assert len(said.opened["billing"]) == 1


def test_a_group_that_falls_behind_noisily_changes_its_word_once() -> None:
    chance, position, noisy = Random(7), 0.0, []  # noqa: S311 - no secrets
    for at in range(30, 10_800, 30):
        position = min(20 * at, position + 0.8 * 20 * 30 * chance.uniform(0, 2))
        noisy.append([at, "commit", "billing", "orders", 0, int(position)])

    said = said_of(scenario([0, "grow", "orders", 0, 20], *noisy, until=10_800))

    assert changes(said) == ["OK", "WARN"]


@pytest.mark.parametrize("clock_s", [-900, -300, -60, 60, 900])
def test_silence_is_measured_by_our_own_clock(clock_s: float) -> None:
    """The clock of the broker that writes the commits is wrong."""
    late = [[at, "commit", "billing", "orders", 0, 10 * (at - 50)] for at in range(55, 3600, 5)]
    sound = scenario(GROWS, *late, until=3600, commit_clock_s=clock_s)
    stops = scenario(GROWS, *commits(5, 900, 5), until=2400, commit_clock_s=clock_s)

    wrong = {}
    for one, words in ((sound, ["OK"]), (stops, ["OK", "STOP"])):
        said = said_of(one)
        stopped_s = said.words[LINE][-1][0]
        if changes(said) != words or (words[-1] == "STOP" and not 1140 <= stopped_s <= 1180):
            wrong[words[-1]] = said.words

    assert wrong == {}


def test_reading_late_changes_no_word() -> None:
    stops = scenario(GROWS, *commits(5, 900, 5), *commits(2000, 3600, 5))

    assert changes(said_of(stops, delay_s=120)) == ["OK", "STOP", "OK"]


def test_a_group_that_is_silent_while_no_broker_answers_has_not_stopped() -> None:
    away, back = [902, "broker", "away"], [2402, "broker", "back"]
    halts, goes_on = [902, "grow", "orders", 0, 0], [2402, "grow", "orders", 0, 10]
    later = [
        [at, "commit", "billing", "orders", 0, 10 * (at - 1500)] for at in range(2410, 3600, 5)
    ]
    outage = scenario(GROWS, *commits(5, 900, 5), away, halts, back, goes_on, *later)

    said = said_of(outage)

    assert changes(said) == ["OK", "STALE", "OK"]
    assert said.opened == {}


def test_an_incident_stays_open_while_our_data_are_too_old() -> None:
    """The partition has no leader, so nobody tells its log end."""
    away, back = (
        [at, "leader", "orders", 0, what] for at, what in ((2002, "away"), (2602, "back"))
    )

    said = said_of(scenario(GROWS, *commits(5, 900, 5), away, back, until=4000))

    assert changes(said) == ["OK", "STOP", "STALE", "STOP"]
    assert (len(said.opened["billing"]), said.closed) == (1, {})


def test_policies_decide_what_is_late_and_what_pages() -> None:
    slow = [[at, "commit", "billing", "orders", 0, 8 * at] for at in range(5, 3600, 5)]
    cases: dict[str, tuple[dict[str, object], list[str], bool]] = {
        "none": ({}, ["OK", "WARN"], True),
        "an hour": ({"max-time-lag": 3600}, ["OK"], False),
        "five minutes": ({"max-time-lag": 300}, ["OK", "WARN"], True),
        "enough lag allowed": ({"allowed-lag": 100_000}, ["OK"], False),
        "WARN does not page": ({"pages": ["STOP"]}, ["OK", "WARN"], False),
        "ignored": ({"ignore": True}, ["OK", "WARN"], False),
    }

    told = [scenario(GROWS, *slow, policy={"billing": each}) for each, _, _ in cases.values()]

    wrong = {}
    for (name, (_, words, is_told)), said in zip(cases.items(), run(told)["warren"], strict=True):
        if (changes(said), bool(said.opened)) != (words, is_told):
            wrong[name] = changes(said), said.opened

    assert wrong == {}


def test_seconds_are_told_as_people_say_them() -> None:
    cases = {0.51: "0.5 s", 42.4: "42 s", 119: "119 s", 420: "7 min", 9000: "2 h", 3e5: "3 days"}

    assert {seconds: in_words(seconds) for seconds in cases} == cases
