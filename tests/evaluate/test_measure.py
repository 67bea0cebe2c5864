"""Lag, age and what will be, of single lines: cases are rows of given readings and numbers.

Each row says what differs from a plain line (`support.read_lines`): the group has committed 100,
the log ended at 160 when log ends were asked for, and may have grown by 10 since. What the windows
read is in `tests/windows`.
"""

from collections.abc import Mapping
from math import inf, nan, sqrt

import numpy as np
from support.read_lines import Line, measured, read_lines, retention, unread, wrong_rows

from warren.evaluate.measure import measure
from warren.model.line_readings import Readings
from warren.model.numbers import UNKNOWN, Lack, Method

LEAST, MOST = -(2**63), 2**63 - 1
Cases = Mapping[str, tuple[Line, tuple[float, ...]]]

LAG = ("lag", "lag_low", "lag_high")
AGE = ("age_s", "age_low_s", "age_high_s", "age_method")
DRAIN = ("drain_low_s", "drain_high_s")
NO_LAG = (UNKNOWN, UNKNOWN, UNKNOWN)


def wrong(cases: Cases, *names: str) -> dict[str, list[float]]:
    numbers = measured([given for given, _ in cases.values()])
    return wrong_rows(numbers.partitions, names, cases)


def lacks(given: Line) -> int:
    return int(measured([given]).partitions.lack[0])


def at(offset: int) -> Line:
    return {"commit": offset}


def test_a_lag_lies_between_what_a_round_proves_and_what_may_have_come_since() -> None:
    cases: Cases = {
        "the log grows": ({}, (60, 60, 70)),
        "it does not": (unread(60), (60, 60, 60)),
        "nothing is unread": (unread(0), (0, 0, 0)),
        "committed since the round": ({"commit": 130}, (30, 30, 40)),
        "went back since the round": ({"commit": 20}, (140, 140, 150)),
        "an end of after the round": ({"end": 165}, (65, 60, 70)),
        "one that no pace explains": ({"end": 200}, (70, 60, 70)),
        "committed what came since the round": (at(165), (0, 0, 5)),
        "beyond the end": (at(200), (0, 0, 0)),
        "no round that counts": ({"has_asked": False}, (60, 0, UNKNOWN)),
        "no log end": ({"has_end": False, "has_asked": False}, NO_LAG),
    }

    assert wrong(cases, *LAG) == {}


def test_a_lag_begins_at_the_log_start() -> None:
    nobody = {"has_commit": False, **at(0)}
    cases: Cases = {
        "before the commit": ({"start": 90}, (60, 60, 70)),
        "beyond the commit": ({"start": 130}, (30, 30, 40)),
        "at the end": ({"start": 160}, (0, 0, 10)),
        "unknown": ({"has_start": False, "start": 130}, (60, 60, 70)),
        "nothing committed": ({"start": 40, **nobody}, (120, 120, 130)),
        "nothing committed, nothing there": ({"start": 160, **nobody}, (0, 0, 10)),
        "nothing committed, start unknown": ({"has_start": False, **nobody}, NO_LAG),
    }

    assert wrong(cases, *LAG) == {}


def test_a_log_start_that_has_just_moved_is_below_both_bounds() -> None:
    cases: Cases = {
        "from before the commit": ({"start": 130, "start_then": 0}, (30, 30, 70)),
        "from beyond it": ({"start": 130, "start_then": 110}, (30, 30, 60)),
        "before the commit all the time": ({"start": 90, "start_then": 0}, (60, 60, 70)),
        "nothing committed": (
            {"start": 40, "start_then": 10, "has_commit": False, **at(0)},
            (120, 120, 160),
        ),
    }

    assert wrong(cases, *LAG) == {}


def test_compaction_may_have_taken_any_record() -> None:
    cases: Cases = {
        "unread": ({"is_compacted": True}, (60, 0, 70)),
        "nothing is unread": ({"is_compacted": True, **unread(0)}, (0, 0, 0)),
        "no lag": ({"is_compacted": True, "has_end": False, "has_asked": False}, NO_LAG),
    }

    assert wrong(cases, *LAG) == {}


def test_no_offset_is_too_absurd() -> None:
    far = {"end": MOST, "end_asked": MOST}
    unlimited = {"has_start": False}
    cases: Cases = {
        "-1": (at(-1), (160, 160, 170)),
        "-1, start unknown": ({**at(-1), **unlimited}, (161, 161, 171)),
        "the least, start unknown": ({**at(LEAST), **unlimited}, (MOST, MOST, MOST)),
        "the most": (at(MOST), (0, 0, 0)),
        "of an end as far": ({**at(MOST), **far}, (0, 0, 0)),
        "far from the end": ({**at(0), **far}, (MOST, MOST, MOST)),
        "as far as can be": ({**at(LEAST), **far, **unlimited}, (MOST, MOST, MOST)),
        "a start beyond all": ({"start": MOST}, (0, 0, 0)),
    }

    assert wrong(cases, *LAG) == {}


def test_open_transactions_end_the_log_for_some() -> None:
    held = {"is_held": True, "stable": 120}
    cases: Cases = {
        "before the stable end": (held, (20, 20, 70)),
        "at it": ({**held, **at(120)}, (0, 0, 0)),
        "beyond it: reads everything": ({**held, **at(121)}, (39, 39, 49)),
        "the log start is beyond the commit": ({**held, "start": 110}, (10, 10, 60)),
        "nothing committed": ({**held, "has_commit": False, **at(0)}, (120, 120, 170)),
        "known to read committed data": ({**held, "reads_committed": True}, (20, 20, 20)),
        "and committed on": ({**held, **at(121), "reads_committed": True}, (39, 39, 49)),
        "over": ({"is_held": False, "stable": 120}, (60, 60, 70)),
        "no log end": ({**held, "has_end": False, "has_asked": False}, NO_LAG),
    }

    assert wrong(cases, *LAG) == {}


def look(offset: int, readable: int, by_any: int, *, refused: bool = False) -> Line:
    return {"look": (offset, readable, by_any, -inf, inf, refused)}


def test_what_nobody_can_read_is_no_lag() -> None:
    cases: Cases = {
        "markers up to the end": (look(100, 160, 160), (0, 0, 10)),
        "markers, then records": (look(100, 130, 130), (30, 30, 40)),
        "aborted records": (look(100, 160, 100), (0, 0, 70)),
        "refused": (look(100, 100, 100, refused=True), (60, 60, 70)),
        "committed on the markers": (
            {"commit": 130, **look(100, 160, 160)},
            (0, 0, 10),
        ),
        "stood before the markers, and has passed them": (
            {"commit": 161, "end": 161, **look(100, 160, 160)},
            (0, 0, 9),
        ),
        "stood before aborted records, and has passed them": (
            {"commit": 160, **look(100, 160, 100)},
            (0, 0, 10),
        ),
        "has come to the markers since": (
            {"commit": 130, **look(130, 160, 160)},
            (0, 0, 10),
        ),
        "and from the least offset on": (
            {**at(LEAST), "has_start": False, **look(LEAST, MOST, MOST)},
            (0, 0, 0),
        ),
    }

    assert wrong(cases, *LAG) == {}
    assert lacks(look(100, 100, 100, refused=True)) & Lack.NO_RECORDS


def test_an_age_lies_between_two_rounds() -> None:
    by_ends, by_clock = Method.BY_ENDS, Method.BY_CLOCK
    old = {"not_yet_s": -inf, "visible_s": 910.0, "perhaps_s": nan}
    clock = {**old, "look": (100, 100, 100, 700.0, 720.0, False)}
    cases: Cases = {
        "between": ({}, (95, 90, 100, by_ends)),
        "older than all rounds": (old, (90, 90, inf, by_ends)),
        "and the brokers told when": (clock, (290, 280, 300, by_clock)),
        "which rounds prove better": ({**clock, "not_yet_s": 900.0}, (90, 90, 100, by_ends)),
        "which cannot be": ({**clock, "visible_s": 600.0}, (400, 400, inf, by_ends)),
        "nothing is unread": (
            {**unread(0), "not_yet_s": 990.0, "visible_s": inf, "perhaps_s": nan},
            (0, 0, 10, Method.NOTHING_UNREAD),
        ),
        "no round shows it": ({"visible_s": inf, "perhaps_s": nan}, (0, 0, 100, Method.UNKNOWN)),
        "our clock was set back": ({"as_of_s": 800.0}, (0, 0, 0, by_ends)),
        "compacted": ({"is_compacted": True}, (95, 0, 100, by_ends)),
        "all is read that may be": (
            {"is_held": True, "stable": 100, "asked_s": 985.0},
            (0, 0, 15, Method.NOTHING_UNREAD),
        ),
        "no lag, no age": ({"has_end": False}, (nan, nan, nan, Method.UNKNOWN)),
    }

    assert wrong(cases, *AGE) == {}


def test_no_rounding_moves_a_bound_beyond_the_truth() -> None:
    as_of_s = 1_700_000_000 + np.linspace(0, 1e6, 1000)
    lines = [{"as_of_s": at.item()} for at in as_of_s]

    found = measured(lines).partitions

    assert (found.age_low_s.astype(np.float64) <= as_of_s - 910).all()
    assert (found.age_high_s.astype(np.float64) >= as_of_s - 900).all()
    assert (found.age_low_s <= found.age_s).all()
    assert (found.age_s <= found.age_high_s).all()


def paces(consumed: tuple[float, float], produced: tuple[float, float]) -> Line:
    """Of the last minute, and of the last ten."""
    names = ("consumed_fast", "consumed_slow", "produced_fast", "produced_slow")
    return dict(zip(names, consumed + produced, strict=True))


def test_a_drain_is_a_range_or_never() -> None:
    good = paces((12, 7), (2, 2))
    cases: Cases = {
        "by both paces and both lags": (good, (6, 14)),
        "of late slower than before": (paces((7, 12), (2, 2)), (6, 14)),
        "never by one of them": (paces((12, 1), (2, 2)), (6, inf)),
        "never": (paces((1, 1), (2, 2)), (inf, inf)),
        "stands": (paces((0, 0), (0, 0)), (inf, inf)),
        "as fast, by chance at most so much faster": (
            paces((2 + 1e-10, 2), (2, 2)),
            (60 / (0.1 + 2 * sqrt(2 / 60)), inf),
        ),
        "a little slower, which may be chance": (
            paces((200, 195), (200, 200)),
            (60 / (10 + 2 * sqrt(200 / 60)), inf),
        ),
        "a little faster, which may be chance": (
            paces((200, 205), (200, 200)),
            (60 / (10 + 2 * sqrt(200 / 60)), inf),
        ),
        "nothing is unread": ({**unread(0), **paces((1, 1), (2, 2))}, (0, 0)),
        "no pace": ({}, (nan, nan)),
        "one pace": (paces((12, nan), (2, nan)), (6, 7)),
        "it is not known how fast the log grows": (paces((12, 7), (nan, nan)), (nan, nan)),
        "no upper bound": ({**good, "has_asked": False}, (0, 12)),
        "no lag": ({**good, "has_end": False}, (nan, nan)),
    }

    assert wrong(cases, *DRAIN) == {}
    fast = measured([good, paces((nan, 7), (nan, 2))]).partitions
    assert (fast.consumed.tolist(), fast.produced.tolist()) == ([12, 7], [2, 2])


def waiting(seconds: float) -> Line:
    """The oldest unread record has been visible for so long, and a second longer at most."""
    return {"visible_s": 1000 - seconds, "not_yet_s": 999 - seconds, "perhaps_s": 999 - seconds}


def test_a_lag_that_the_rhythm_explains_drains_within_it() -> None:
    same, slower = paces((2, 2), (2, 2)), paces((1, 1), (2, 2))
    many = {"end": 100_100, "end_asked": 100_000, "grown": 100}
    cases: Cases = {
        "keeps pace": ({**waiting(10), **same}, (0, 60)),
        "is a little slower": ({**waiting(60), **slower}, (0, 60)),
        "for longer than a minute": ({**waiting(61), **slower}, (inf, inf)),
        "it commits every ten minutes": (
            {**waiting(1200), **slower, "pause_s": 600.0},
            (0, 1200),
        ),
        "for longer than that": ({**waiting(1201), **slower, "pause_s": 600.0}, (inf, inf)),
        "no pace yet": ({**waiting(10)}, (0, 60)),
        "no record is visible": ({**same, "visible_s": inf, "perhaps_s": nan}, (0, 60)),
        "more has just come than it reads in that time": (
            {**waiting(10), **many, **paces((100, 100), (5000, 1000))},
            (999, inf),
        ),
        "and it gains on the log": (
            {**waiting(10), **many, **paces((100, 100), (50, 0))},
            (999, 2000),
        ),
        "nothing is unread": ({**unread(0), **slower}, (0, 0)),
    }

    assert wrong(cases, *DRAIN) == {}


def test_a_margin_is_how_long_until_retention_reaches_the_commit() -> None:
    sized: Line = {"is_by_size": True, "start_pace": 2}
    cases: Cases = {
        "by the pace of the log start": ({"start_pace": 2}, (50,)),
        "by retention": ({"retention_s": 1000.0}, (905,)),
        "by retention, whatever the pace": ({"start_pace": 2, "retention_s": 1000.0}, (905,)),
        "by size, which is sooner": ({**sized, "retention_s": 1000.0}, (50,)),
        "by retention, which is sooner": ({**sized, "retention_s": 100.0}, (5,)),
        "only somebody deletes": ({"start_pace": 2, "retention_s": inf}, (50,)),
        "longer than retention": ({"retention_s": 60.0}, (0,)),
        "kept for ever": ({"retention_s": inf}, (inf,)),
        "the start stands, retention unknown": ({"start_pace": 0}, (nan,)),
        "nothing known": ({}, (nan,)),
        "thirty years are never": ({"start_pace": 1e-8}, (inf,)),
        "no start": ({"start_pace": 2, "has_start": False}, (nan,)),
        "reached": ({"start": 100, "start_pace": 2}, (0,)),
        "passed": ({"start": 101, "retention_s": inf}, (0,)),
        "nothing is unread": ({**unread(0), "start_pace": 2, "retention_s": 1.0}, (inf,)),
        "no lag": ({"has_end": False, "start_pace": 2}, (nan,)),
        "nothing committed": ({"has_commit": False, **at(0), "start_pace": 2}, (nan,)),
    }

    assert wrong(cases, "margin_s") == {}


def test_retention_reaches_only_groups_that_fall_behind() -> None:
    """60 records wait, the oldest for 95 s: one came in 1.6 s."""
    kept, pace = {"retention_s": 1000.0}, 60 / 95
    cases: Cases = {
        "stands": ({**kept, **paces((0, 0), (pace, pace))}, (905,)),
        "reads half of what comes": ({**kept, **paces((pace / 2,) * 2, (pace,) * 2)}, (1810,)),
        "reads as fast as comes, and stays behind": (
            {**kept, **paces((pace, pace), (pace, pace))},
            (inf,),
        ),
        "reads faster": ({**kept, **paces((2 * pace,) * 2, (pace,) * 2)}, (inf,)),
        "may have read all before": ({"retention_s": 200.0, **paces((5, 5), (0, 0))}, (inf,)),
        "reads a burst too slowly": (
            {"retention_s": 200.0, **paces((0.4, 0.4), (0, 0))},
            ((200 - 95) / (1 - 0.4 / pace),),
        ),
        "is older than all rounds, and keeps pace": (
            {**kept, **paces((2, 2), (2, 2)), "not_yet_s": -inf, "perhaps_s": nan},
            (inf,),
        ),
        "keeps up, and it is not known how long records stay": (
            {**waiting(10), **paces((2, 2), (2, 2))},
            (nan,),
        ),
        "keeps up near the log start": (
            {**waiting(10), **paces((2, 2), (2, 2)), "start": 100, "start_pace": 2},
            (inf,),
        ),
    }

    assert wrong(cases, "margin_s") == {}


def test_what_is_lacking_is_said() -> None:
    configured: Line = {"retention_s": inf}
    cases = {
        "nothing": (configured, Lack.NOTHING),
        "no right to read the configuration": ({}, Lack.NO_CONFIG),
        "no log end": ({**configured, "has_end": False}, Lack.NO_END),
        "no round": ({**configured, "has_asked": False}, Lack.NO_END),
        "no log start": ({**configured, "has_start": False}, Lack.NO_START),
        "compacted": ({**configured, "is_compacted": True}, Lack.COMPACTED),
        "older than all rounds": (
            {**configured, "not_yet_s": -inf, "perhaps_s": nan},
            Lack.NO_HISTORY,
        ),
        "nothing committed": ({**configured, "has_commit": False, **at(0)}, Lack.NO_COMMIT),
    }

    assert {name: lacks(given) for name, (given, _) in cases.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }


def of_groups(*groups: list[Line]) -> tuple[Readings, np.ndarray, list[Line]]:
    lines = [line for group in groups for line in group]
    return read_lines(lines), np.cumsum([0, *map(len, groups)]), lines


def test_a_group_is_the_worst_of_its_partitions_and_the_sum_of_lags() -> None:
    unknown: Line = {"has_end": False, "has_asked": False, "lost": UNKNOWN}
    idle = {**unread(0), "visible_s": inf, "not_yet_s": 990.0, "perhaps_s": nan}
    bounded: Line = {"has_asked": False}
    late: Line = {"visible_s": 500.0, "not_yet_s": 490.0, "perhaps_s": 495.0, "lost": 7}
    names = (*LAG, "lost", "age_s", "age_line", "margin_s", "consumed", "drain_high_s")
    cases: dict[str, tuple[list[Line], tuple[float, ...]]] = {
        "one": ([{}], (60, 60, 70, 0, 95, 0, nan, nan, nan)),
        "the oldest": ([{}, late, idle], (120, 120, 140, 7, 505, 2, inf, nan, nan)),
        "an unknown one is left out": ([unknown, {}], (60, 60, 70, 0, 95, 5, nan, nan, nan)),
        "unknown": ([unknown, unknown], (*NO_LAG, UNKNOWN, nan, 6, nan, nan, 0)),
        "one without a bound": ([{}, bounded], (120, 60, UNKNOWN, 0, 95, 8, nan, nan, nan)),
        "the last to be read": (
            [paces((12, 12), (0, 0)), paces((6, 6), (0, 0)), unknown],
            (120, 120, 140, 0, 95, 10, nan, 18, 70 / 6),
        ),
        "the first to be reached": (
            [{"start_pace": 2}, {"start_pace": 5}, idle],
            (120, 120, 140, 0, 95, 13, 20, nan, nan),
        ),
        "too many to count": (
            [{**at(0), "end": MOST, "end_asked": MOST}] * 2,
            (MOST, MOST, MOST, 0, 95, 16, nan, nan, nan),
        ),
    }
    read, first, lines = of_groups(*(group for group, _ in cases.values()))

    groups = measure([read], first, retention(lines)).groups

    assert wrong_rows(groups, names, cases) == {}


def test_a_group_has_read_all_when_its_last_partition_has() -> None:
    reads, stands = paces((12, 12), (2, 2)), {**unread(2), **paces((0, 0), (0, 0))}
    names = ("drain_low_s", "drain_high_s")
    cases: dict[str, tuple[list[Line], tuple[float, float]]] = {
        "the last": ([reads, paces((7, 7), (2, 2))], (12, 14)),
        "never, as one stands still": ([reads, {**stands, **unread(1000)}], (inf, inf)),
        "but not for what it reads in no time": ([reads, stands], (60, 60)),
        "nor for long": ([reads, {**stands, "visible_s": 800.0}], (inf, inf)),
        "alone it does not": ([stands, stands], (inf, inf)),
        "many of them": ([reads, *[stands] * 400], (inf, inf)),
        "one is unknown": ([reads, {}], (nan, nan)),
    }
    read, first, lines = of_groups(*(group for group, _ in cases.values()))

    groups = measure([read], first, retention(lines)).groups

    assert wrong_rows(groups, names, cases) == {}


def test_another_member_helps_only_where_something_moves() -> None:
    moves = paces((0.1, 0), (0, 0))
    cases: dict[str, tuple[list[Line], tuple[float]]] = {
        "reads": ([{}, {}], (120,)),
        "idle": ([unread(0)], (0,)),
        "beyond the end": ([at(200)], (0,)),
        "poison": ([{"is_stuck": True}, {}], (60,)),
        "nothing but poison": ([{"is_stuck": True}], (0,)),
        "one has stopped": ([{"has_stopped": True}, moves], (60,)),
        "all have stopped": ([{"has_stopped": True}, {"has_stopped": True}], (120,)),
        "one has stopped, the other is idle": (
            [{"has_stopped": True}, {**unread(0), **paces((0.001, 1), (0, 1))}],
            (60,),
        ),
        "markers": ([look(100, 160, 160)], (0,)),
        "markers that it has passed": (
            [{"commit": 161, "end": 161, **look(100, 160, 160)}],
            (0,),
        ),
        "unknown": ([{"has_end": False}], (UNKNOWN,)),
        "a part is unknown, another idle": ([{"has_end": False}, unread(0)], (UNKNOWN,)),
        "a part is unknown, another is read": ([{"has_end": False}, {}], (60,)),
        "at the stable end": ([{"is_held": True, "stable": 100}], (0,)),
    }
    read, first, lines = of_groups(*(group for group, _ in cases.values()))

    groups = measure([read], first, retention(lines)).groups

    assert wrong_rows(groups, ("scalable_lag",), cases) == {}


def test_parts_make_the_same_numbers_as_a_whole() -> None:
    lines = [{}, unread(3), look(100, 160, 160), {"start": 130, "retention_s": 200.0}]
    first = np.array([0, 1, 4])

    whole = measure([read_lines(lines)], first, retention(lines))
    parts = measure((read_lines([line]) for line in lines), first, retention(lines))

    for some, all_ in ((whole.partitions, parts.partitions), (whole.groups, parts.groups)):
        for name, column in vars(some).items():
            assert np.array_equal(column, getattr(all_, name), equal_nan=column.dtype.kind == "f")


def test_no_group_has_no_number() -> None:
    numbers = measured([])

    assert len(numbers.partitions.lag) == len(numbers.groups.lag) == 0
