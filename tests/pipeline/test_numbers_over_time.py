"""Numbers of groups that live for hours on a simulated clock, through all that a tick does."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.expectations import wrong_numbers
from support.scenario_run import Run, run

from warren.model.board import ClusterBoard
from warren.serve.v4.measured import Drain, Lag, Measured, until
from warren.serve.v4.number_words import alarms

Event = Sequence[object]
GROWS = [0, "grow", "t", 0, 1]


class Group(NamedTuple):
    """The numbers of a group at one tick."""

    lag: tuple[int, int, int]  # low, now, high
    age_high_s: float
    drain_s: tuple[float, float]
    margin_s: float
    lost: int
    scalable_lag: int
    consumed: float

    @property
    def alarms(self) -> list[str]:
        drain = Drain(*map(until, self.drain_s))
        measured = Measured(
            lag=Lag(self.lag[1]), drain=drain, margin_s=until(self.margin_s), lost=self.lost
        )
        return [each.text for each in alarms(measured)]


def scenario(
    *events: Event, until_s: int, partitions: int = 1, retention_s: float | None = None
) -> dict[str, Any]:
    member = {"client": "c", "host": "/h", "subscribed": ["t"]}
    assigned = {"assigned": {"t": [*range(partitions)]}}
    topic = {"partitions": partitions, "start": 0, "end": 0, "retention_s": retention_s}
    members = [0, "members", "g", {"m": member | assigned}]
    return {
        "id": "own",
        "until": until_s,
        "topics": {"t": topic},
        "events": sorted([members, *events], key=lambda event: event[0]),
    }


def numbers_of(given: dict[str, Any]) -> dict[float, Group]:
    found: dict[float, Group] = {}

    def note(moment_s: float, board: ClusterBoard) -> None:
        at, of = board.verdicts.names.index("0.g"), board.numbers.groups
        found[moment_s] = Group(
            (int(of.lag_low[at]), int(of.lag[at]), int(of.lag_high[at])),
            float(of.age_high_s[at]),
            (float(of.drain_low_s[at]), float(of.drain_high_s[at])),
            float(of.margin_s[at]),
            int(of.lost[at]),
            int(of.scalable_lag[at]),
            float(of.consumed[at]),
        )

    Run([given], watch=note).until_the_end()
    return found


def commits(begin: int, end: int, every: int, pace: float = 1, partition: int = 0) -> list[Event]:
    return [[at, "commit", "g", "t", partition, int(pace * at)] for at in range(begin, end, every)]


@pytest.mark.parametrize(("partitions", "rate"), [(1, 20), (20, 50)])
def test_a_busy_group_that_keeps_up_has_no_alarm(partitions: int, rate: int) -> None:
    chance, events, until_s = np.random.default_rng(3), list[Event](), 1200
    for number in range(partitions):
        ends = np.cumsum(chance.poisson(rate, until_s + 1)).tolist()
        events += [[at, "end", "t", number, end] for at, end in enumerate(ends)]
        first = int(chance.integers(1, 6))
        events += [[at + 0.5, "commit", "g", "t", number, ends[at]] for at in range(first, 1200, 5)]
    given = scenario(*events, until_s=until_s, partitions=partitions, retention_s=86_400)

    later = [each for at, each in numbers_of(given).items() if at >= 300]

    assert {each.lag[1] > 0 for each in later} == {True}
    assert {each.drain_s for each in later} == {(0, 60)}
    assert {each.margin_s for each in later} == {np.inf}
    assert [each.alarms for each in later if each.alarms] == []


@pytest.mark.parametrize("every_s", [2, 5, 45])
@pytest.mark.parametrize("refresh_s", [10, 60])
def test_a_lag_is_that_of_the_moment_also_between_two_rounds(every_s: int, refresh_s: int) -> None:
    """The group reads all but the last 500 records, or drains a backlog."""
    grows = [0, "grow", "t", 0, 400]
    keeps_up = scenario(grows, *_commits_behind(500, 0, every_s), until_s=1300)
    drains = scenario(grows, *_commits_behind(200_000, 100, every_s), until_s=1300)
    for each in (keeps_up, drains):
        each["settings"] = {"offset_refresh_s": refresh_s}
        committed = {event[0]: event[-1] for event in each["events"] if event[1] == "commit"}
        each["lag"] = [
            [at, "g", "t", 0, 400 * at - max(offset for s, offset in committed.items() if s <= at)]
            for at in range(900, 1020)
        ]

    said = run([keeps_up, drains])["warren"]

    assert [*wrong_numbers(keeps_up, said[0])] == []
    assert [*wrong_numbers(drains, said[1])] == []


def _commits_behind(lag: int, gains: int, every_s: int) -> list[Event]:
    """So far behind a log that grows by 400 a second, and so much less each second."""
    return [
        [at, "commit", "g", "t", 0, max(400 * at - max(lag - gains * at, 500), 0)]
        for at in range(every_s, 1300, every_s)
    ]


def test_a_group_that_stands_still_will_never_have_read() -> None:
    """However fast it drained its backlog before, and after a start that read only a burst."""
    backlog: list[Event] = [[0, "end", "t", 0, 2_000_000], [0, "grow", "t", 0, 20]]
    drained = commits(5, 1001, 5, pace=1000)
    stands: list[Event] = [[at, "commit", "g", "t", 0, 1_000_000] for at in range(1005, 2500, 5)]
    cases: dict[str, list[Event]] = {
        "silent": drained,
        "commits the same again": drained + stands,
        "silent after a burst": [[at, "commit", "g", "t", 0, 1038 * at] for at in (998, 999, 1000)],
    }

    found = {
        name: numbers_of(scenario(*backlog, *events, until_s=2500))
        for name, events in cases.items()
    }

    later = {name: [each for at, each in of.items() if at >= 1300] for name, of in found.items()}
    assert {each.drain_s for of in later.values() for each in of} == {(np.inf, np.inf)}
    assert max(each.consumed for of in later.values() for each in of) < 1


def test_a_group_that_reads_too_slowly_is_told_when_retention_reaches_it() -> None:
    slow = scenario(GROWS, *commits(5, 3600, 5, pace=0.5), until_s=3600, retention_s=7200)

    said = numbers_of(slow)[3600.0]

    # The oldest unread record is half an hour old, and gets half a second older each second.
    assert said.drain_s == (np.inf, np.inf)
    assert said.margin_s == pytest.approx(2 * (7200 - 1800), rel=0.05)
    assert "lost in about 3 h" in said.alarms[0]


def test_one_deletion_of_records_is_no_pace_of_retention() -> None:
    deleted = [[3605, "start", "t", 0, 1000], [3905, "start", "t", 0, 1100]]
    events = [[0, "end", "t", 0, 20_000], GROWS, [5, "commit", "g", "t", 0, 5000], *deleted]

    said = numbers_of(scenario(*events, until_s=20_000))

    assert np.isnan(said[3800.0].margin_s)
    assert said[4000.0].margin_s == pytest.approx(3900 * 3, rel=0.3)
    assert said[20_000.0].margin_s > 86_400


@pytest.mark.parametrize("later_s", range(0, 60, 10))
def test_a_running_group_that_retention_passes_has_lost_records(later_s: int) -> None:
    passed_s = 1003 + later_s
    before = commits(5, passed_s, 5, pace=0.5)
    after = [
        [at, "commit", "g", "t", 0, 900 + (at - passed_s) // 2]
        for at in range(passed_s + 2, 1300, 5)
    ]
    given = scenario(GROWS, *before, [passed_s, "start", "t", 0, 900], *after, until_s=1300)

    said = numbers_of(given)

    assert said[1300.0].lost == 900 - int(str(before[-1][-1]))


def test_a_marker_that_retention_takes_was_no_record() -> None:
    stops = [[1000, "grow", "t", 0, 0], [1000, "end", "t", 0, 1001], [1000, "markers", "t", 0, 1]]
    taken = [3600, "start", "t", 0, 1001]

    said = numbers_of(scenario(GROWS, *commits(5, 1001, 5), *stops, taken, until_s=4000))

    assert {(each.lost, each.lag) for at, each in said.items() if at > 1020} == {(0, (0, 0, 0))}


def test_a_group_that_has_read_all_it_may_gets_no_older() -> None:
    opens = [1000, "stable", "t", 0, 1000]
    stands = [[at, "commit", "g", "t", 0, 1000] for at in range(1005, 3000, 5)]

    said = numbers_of(scenario(GROWS, *commits(5, 1001, 5), opens, *stands, until_s=3000))

    assert {each.lag for at, each in said.items() if at > 1020} == {(0, 0, 0)}
    assert max(each.age_high_s for at, each in said.items() if at > 1020) <= 10


@pytest.mark.parametrize("later_s", range(0, 60, 10))
def test_log_starts_and_transactions_are_seen_where_they_matter(later_s: int) -> None:
    jumps_s, opens_s = 1005 + later_s, 1000 + later_s
    jumps = scenario(GROWS, *commits(5, 101, 5), [jumps_s, "start", "t", 0, 600], until_s=1200)
    after = [[at, "g", "t", 0, at - 600] for at in range(jumps_s + 15, jumps_s + 95, 10)]
    jumps |= {"lag": after, "age": after}
    stands = [[at, "commit", "g", "t", 0, opens_s] for at in range(opens_s + 5, 1200, 5)]
    opens = scenario(
        GROWS,
        *commits(5, opens_s + 1, 5),
        [opens_s, "stable", "t", 0, opens_s],
        *stands,
        until_s=1200,
    )
    # The first round may be one in which it is the turn of the log start.
    opens["lag"] = [[at, "g", "t", 0, 0] for at in range(opens_s + 20, opens_s + 90, 10)]

    said = run([jumps, opens])["warren"]

    assert [*wrong_numbers(jumps, said[0])] == []
    assert [*wrong_numbers(opens, said[1])] == []


def test_what_another_member_could_not_help_with_is_no_reason_for_one() -> None:
    """Partition 0 is read, 1 stands still; only then is it left out."""
    grow = [[0, "grow", "t", number, 10] for number in (0, 1)]
    reads = commits(5, 3000, 5, pace=5)
    stops = commits(5, 500, 5, pace=5, partition=1)
    again = [[at, "commit", "g", "t", 1, 2500] for at in range(505, 3000, 5)]

    silent = numbers_of(scenario(*grow, *reads, *stops, until_s=2900, partitions=2))
    stuck = numbers_of(scenario(*grow, *reads, *stops, *again, until_s=2900, partitions=2))
    dead = numbers_of(scenario(*grow, *commits(5, 500, 5), *stops, until_s=2900, partitions=2))

    assert silent[550.0].scalable_lag == silent[550.0].lag[1]
    assert stuck[550.0].scalable_lag == stuck[550.0].lag[1]
    for said in (silent, stuck):
        assert said[2900.0].scalable_lag == pytest.approx(2900 * 5, rel=0.02)
    assert dead[2900.0].scalable_lag == dead[2900.0].lag[1]
