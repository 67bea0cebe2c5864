"""Which partitions are worth a look at their records, and what becomes of the answers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from support.batches import NOW, Record, batch, log_ends

from warren.model.probe_answers import Answer, Known, Targets
from warren.windows import probed, snapshot_arrays
from warren.windows.probed import LONGEST_TAIL, MOST_TAILS
from warren.windows.window_reader import window_arrays
from warren.windows.windows import Windows

ANY = np.random.default_rng(1)
READ, RECORD, TIMED, REFUSED = Known.READ, Known.RECORD, Known.TIMED, Known.REFUSED


class Case(NamedTuple):
    """A partition, and from where on its records are worth a look; None: they are not."""

    first: int | None
    commit: int = 7
    end: int = 10
    before: int | None = None  # the end in the round before; as now if it is not given
    start: int | None = None
    stable: int | None = None
    answer: Answer | None = None
    after_s: int = -60  # when it committed, before the round


CASES = {
    "a small lag": Case(7),
    "nothing unread": Case(None, commit=10),
    "a commit beyond the end": Case(None, commit=12),
    "an absurd commit": Case(None, commit=-(2**63)),
    "the least of all commits": Case(None, commit=-3),
    "a long lag": Case(None, commit=7, end=8 + LONGEST_TAIL),
    "the longest that is small": Case(7, commit=7, end=7 + LONGEST_TAIL),
    "the log grows": Case(None, before=9),
    "it has just committed": Case(None, after_s=-1),
    "retention took some": Case(9, start=9),
    "retention took all": Case(None, start=10),
    "a transaction holds all": Case(None, stable=7),
    "a transaction holds some": Case(7, stable=8),
    "a record is known": Case(None, answer=Answer(READ | RECORD, 7, 8, 8)),
    "only markers": Case(None, answer=Answer(READ, 7, 10, 10)),
    "markers, and more since": Case(9, answer=Answer(READ, 7, 9, 9)),
    "its time is known": Case(7, answer=Answer(TIMED, 7, 7, 7)),
    "records of before": Case(7, answer=Answer(READ | RECORD, 4, 5, 5)),
    "markers until here, before it committed": Case(8, answer=Answer(READ, 4, 8, 8)),
}


def windows_of(cases: list[Case]) -> Windows:
    windows = Windows()
    ends = [each.end if each.before is None else each.before for each in cases]
    windows.set_log_ends(log_ends(*ends), {"t": len(cases)}, now_s=NOW - 10)
    for at, each in enumerate(cases):
        if each.answer:
            windows.fold(batch(Record(1, each.answer.offset, -90_000, at)), NOW)
            assert probed.note(windows, "g", "t", at, each.answer)
        windows.fold(batch(Record(2, each.commit, 1000 * each.after_s, at)), NOW)
    windows.set_log_ends(log_ends(*(each.end for each in cases)), {}, now_s=NOW)
    starts = log_ends(*(each.start for each in cases))
    stable = log_ends(*(each.stable for each in cases))
    windows.ends.refresh_edges(
        *(each.filter(each["offset"].is_valid()) for each in (starts, stable))
    )
    return windows


def tails(windows: Windows, *refused: str) -> Targets:
    return probed.tails(windows, window_arrays(windows), frozenset(refused), ANY)


def by_partition(targets: Targets) -> dict[int, int]:
    return dict(zip(targets.partition.tolist(), targets.first.tolist(), strict=True))


def test_a_small_lag_that_does_not_move_is_worth_a_look() -> None:
    windows = windows_of([*CASES.values()])

    first = by_partition(tails(windows))

    seen = {name: first.get(at) for at, name in enumerate(CASES)}
    assert seen == {name: case.first for name, case in CASES.items()}


def test_targets_name_their_lines() -> None:
    windows = windows_of([Case(None, commit=10), Case(7), Case(7)])
    windows.set_log_ends(log_ends(5, topic="u"), {"u": 1}, now_s=NOW - 1)
    windows.set_log_ends(log_ends(5, topic="u"), {"u": 1}, now_s=NOW)
    windows.fold(batch(Record(3, 4, -60_000, topic="u", group="other")), NOW)

    targets = tails(windows)

    names = {
        (targets.groups[group], targets.topics[topic], partition)
        for group, topic, partition in zip(*map(np.ndarray.tolist, targets[2:5]), strict=True)
    }
    assert names == {("g", "t", 1), ("g", "t", 2), ("other", "u", 0)}
    assert [*by_partition(tails(windows, "t"))] == [0]


def test_of_too_many_some_are_chosen_each_time() -> None:
    windows = windows_of([Case(7)] * (MOST_TAILS + 500))

    seen = [by_partition(tails(windows)).keys() for _ in range(2)]

    assert [len(each) for each in seen] == [MOST_TAILS] * 2
    assert seen[0] != seen[1]


def test_without_groups_there_is_nothing_to_look_at() -> None:
    windows = Windows()
    view = window_arrays(windows)

    assert len(probed.tails(windows, view, frozenset({"t"}), ANY).commit) == 0
    assert len(probed.times(windows, view, np.zeros(0, np.bool_), ANY).commit) == 0


def test_a_time_is_looked_for_until_it_is_known() -> None:
    cases = {
        "nothing known": (Case(7), False),
        "known": (Case(None, answer=Answer(TIMED, 7, 7, 7, 1, 2)), None),
        "known of an earlier commit": (Case(7, answer=Answer(TIMED, 4, 4, 4, 1, 2)), True),
        "a record, but not its time": (Case(8, answer=Answer(READ | RECORD, 7, 8, 8)), False),
    }
    windows = windows_of([case for case, _ in cases.values()])

    targets = probed.times(windows, window_arrays(windows), np.ones(len(cases), np.bool_), ANY)

    again = dict(zip(targets.partition.tolist(), targets.is_again.tolist(), strict=True))
    assert {name: again.get(at) for at, name in enumerate(cases)} == {
        name: expected for name, (_, expected) in cases.items()
    }
    assert by_partition(targets) == {0: 7, 2: 7, 3: 8}


def answer_of(windows: Windows, partition: int = 0) -> Answer:
    row = int(windows.pairs.blocks.base[windows.pairs.find("g", 0)]) + partition
    grid = windows.grid
    columns = (grid.probed_offset, grid.readable, grid.readable_by_any)
    numbers = [int(each[row]) for each in (*columns, grid.earliest_ms, grid.latest_ms)]
    return Answer(Known(int(grid.probed[row])), *numbers)


def test_answers_about_one_offset_add_to_each_other() -> None:
    record = Answer(READ | RECORD, 7, 8, 8)
    time = Answer(TIMED, 7, 8, 8, 5, 6)
    both = Answer(READ | RECORD | TIMED, 7, 8, 8, 5, 6)
    cases = {
        "a record, then its time": ([record, time], both),
        "a time, then its record": ([time, record], both),
        "the time of what is no record": ([Answer(TIMED, 7, 7, 7, 5, 6), record], record),
        "another offset": ([Answer(READ | RECORD, 4, 4, 4), record], record),
        "refused, then read": ([Answer(REFUSED, 7, 7, 7), record], record),
        "refused, then its time": (
            [Answer(REFUSED, 7, 7, 7), Answer(TIMED, 7, 7, 7, 5, 6)],
            Answer(REFUSED | TIMED, 7, 7, 7, 5, 6),
        ),
        "read, then refused": ([record, Answer(REFUSED, 7, 8, 8)], record),
    }
    windows = windows_of([Case(7)] * len(cases))

    for at, (answers, _) in enumerate(cases.values()):
        for each in answers:
            assert probed.note(windows, "g", "t", at, each)

    found = {name: answer_of(windows, at) for at, name in enumerate(cases)}
    held = {name: each[:4] for name, each in found.items()}
    assert held == {name: expected[:4] for name, (_, expected) in cases.items()}
    assert found["a time, then its record"][4:] == (5, 6)


def test_an_answer_for_a_group_that_went_back_or_away_is_dropped() -> None:
    windows = windows_of([Case(7)])
    answer = Answer(READ, 9, 10, 10)

    dropped = [
        probed.note(windows, "g", "t", 0, answer),
        probed.note(windows, "h", "t", 0, answer),
        probed.note(windows, "g", "u", 0, answer),
        probed.note(windows, "g", "t", 1, answer),
    ]

    assert dropped == [False] * 4
    assert answer_of(windows).known == Known.NOTHING


def test_answers_go_with_their_window() -> None:
    answer = Answer(READ | RECORD | TIMED, 7, 8, 8, 5, 6)
    ways: dict[str, Callable[[Windows], object]] = {
        "kept": lambda windows: windows.set_log_ends(log_ends(10, 10), {"t": 2}, now_s=NOW),
        "a tombstone": lambda windows: windows.fold(batch(Record(9, None), Record(10, 7)), NOW),
        "its topic": lambda windows: made_again(windows.delete_topic, windows, "t"),
        "its group": lambda windows: made_again(windows.delete_group, windows, "g"),
    }
    known = {}

    windows = windows_of([Case(7)])
    assert probed.note(windows, "g", "t", 0, answer)
    known["a restart"] = answer_of(restarted(windows)).known
    for name, way in ways.items():
        windows = windows_of([Case(7)])
        assert probed.note(windows, "g", "t", 0, answer)
        way(windows)
        known[name] = answer_of(windows).known

    assert known == dict.fromkeys([*ways, "a restart"], Known.NOTHING) | {"kept": answer.known}


def made_again(delete: Callable[[str], None], windows: Windows, name: str) -> None:
    delete(name)
    windows.set_log_ends(log_ends(10), {"t": 1}, now_s=NOW)
    windows.fold(batch(Record(20, 7)), NOW)


def restarted(windows: Windows) -> Windows:
    names, columns = snapshot_arrays.copy(windows, {})
    restored = Windows()
    snapshot_arrays.restore(restored, names, snapshot_arrays.arrange(columns))
    return restored
