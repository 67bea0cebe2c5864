"""What a group had committed when log ends were asked for, in whatever batches its commits came."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from support.batches import NOW, Record, batch, log_ends

from warren.windows.alignment import committed_at
from warren.windows.windows import Windows

ROUNDS_S = (10, 20, 30)  # when log ends were asked for, after NOW

LEAST, MOST = -(2**63), 2**63 - 1


class Commit(NamedTuple):
    after_s: float  # NOW
    offset: int
    order: int = 0  # 0: as they come
    partition: int = 0


def folded(batches: Sequence[Sequence[Commit]], rounds_s: Sequence[float] = ROUNDS_S) -> Windows:
    windows, order = Windows(intervals=3), 0
    count = 1 + max(commit.partition for commits in batches for commit in commits)
    windows.set_log_ends(log_ends(*[50] * count), {"t": count}, now_s=NOW)
    for each in rounds_s:
        windows.ends.rows.finish_round(NOW + each, NOW + each + 1, np.arange(count))
    for commits in batches:
        records = []
        for commit in commits:
            order += 1
            after_ms = int(commit.after_s * 1000)
            which = commit.order or order, commit.offset
            records.append(Record(*which, after_ms, commit.partition))
        table = batch(*records)
        windows.fold(table.append_column("written_ms", table["committed_ms"]), NOW)
    return windows


def at(windows: Windows, *moments_s: float) -> list[tuple[int, float]]:
    """What was committed at each moment, and the moment for which that is stated."""
    found = []
    for moment_s in moments_s:
        commit, stated_s = committed_at(windows.grid, slice(0, 1), np.array([NOW + moment_s]))
        found.append((int(commit[0]), float(stated_s[0]) - NOW))
    return found


def kept(windows: Windows, row: int = 0) -> list[float]:
    grid = windows.grid
    columns = (grid.aligned, grid.aligned_s, grid.before, grid.before_s, grid.written_s)
    return [float(column[row]) for column in columns]


def all_cuts(commits: Sequence[Commit]) -> Iterator[list[Sequence[Commit]]]:
    """All ways to cut these commits into batches: from one of all to one for each."""
    places = range(1, len(commits))
    for count in range(len(commits)):
        for cuts in combinations(places, count):
            edges = [0, *cuts, len(commits)]
            yield [commits[a:b] for a, b in pairwise(edges)]


STORIES = {
    "one": [Commit(5, 1)],
    "between all rounds": [Commit(5, 1), Commit(15, 2), Commit(25, 3), Commit(35, 4)],
    "many between two": [Commit(5, 1), *(Commit(20 + each, each) for each in range(2, 8))],
    "silent for two rounds": [Commit(5, 1), Commit(6, 2), Commit(31, 3), Commit(32, 4)],
    "nothing after the last round": [Commit(5, 1), Commit(12, 2), Commit(22, 3)],
    "when a round is asked for": [Commit(10, 1), Commit(20, 2), Commit(20.001, 3), Commit(30, 4)],
    "went back": [Commit(5, 9), Commit(15, 3), Commit(25, 5)],
    "read late": [
        Commit(5, 1, order=1),
        Commit(25, 3, order=3),
        Commit(15, 2, order=2),
        Commit(26, 3, order=3),
        Commit(35, 4, order=4),
    ],
    "the broker's clock steps back": [Commit(5, 1), Commit(25, 2), Commit(15, 3), Commit(31, 4)],
    "absurd offsets": [Commit(5, MOST), Commit(15, -1), Commit(25, LEAST), Commit(35, MOST)],
}


def test_any_batches_of_the_same_commits_align_the_same() -> None:
    wrong = {
        name: cut
        for name, commits in STORIES.items()
        for cut in all_cuts(commits)
        if kept(folded(cut)) != kept(folded([commits]))
    }

    assert wrong == {}


def test_partitions_of_one_batch_do_not_touch_each_other() -> None:
    stories = [*STORIES.values()]
    together = [
        commits[at]._replace(partition=number)
        for at in range(max(map(len, stories)))
        for number, commits in enumerate(stories)
        if at < len(commits)
    ]

    windows = folded([together])

    alone = [kept(folded([commits])) for commits in stories]
    assert [kept(windows, row) for row in range(len(stories))] == alone


def test_what_is_stated_is_true() -> None:
    in_order = {name: commits for name, commits in STORIES.items() if is_in_order(commits)}
    assert len(in_order) > len(STORIES) / 2

    stated = {name: at(folded([commits]), *ROUNDS_S) for name, commits in in_order.items()}

    wrong = {
        name: (offset, moment_s)
        for name, commits in in_order.items()
        for offset, moment_s in stated[name]
        if offset != [each.offset for each in commits if each.after_s <= moment_s][-1]
    }
    assert wrong == {}


def is_in_order(commits: Sequence[Commit]) -> bool:
    return [*commits] == sorted(commits, key=lambda each: each.after_s)


def test_rounds_that_are_asked_for_between_batches_count_the_same() -> None:
    commits = STORIES["between all rounds"]
    windows = folded([commits[:1]], ROUNDS_S[:0])
    for asked_s, commit in zip(ROUNDS_S, commits[1:], strict=True):
        windows.ends.rows.begin_round(NOW + asked_s)
        table = batch(Record(1 + int(commit.after_s), commit.offset, int(commit.after_s * 1000)))
        windows.fold(table.append_column("written_ms", table["committed_ms"]), NOW)
        windows.ends.rows.finish_round(NOW + asked_s, NOW + asked_s + 6, np.array([0]))

    assert kept(windows) == kept(folded([commits]))


def test_what_was_committed_when_a_round_was_asked_for() -> None:
    cases = {
        "one": [(1, 10), (1, 20), (1, 30)],
        "between all rounds": [(2, 20), (2, 20), (3, 30)],  # of the first nothing is known
        "many between two": [(1, 10), (1, 20), (7, 30)],
        "silent for two rounds": [(2, 10), (2, 20), (2, 30)],
        "nothing after the last round": [(1, 10), (2, 20), (3, 30)],
        "when a round is asked for": [(1, 10), (2, 20), (4, 30)],
        "went back": [(9, 10), (3, 20), (5, 30)],
        "read late": [(1, 20), (1, 20), (3, 30)],
        "the broker's clock steps back": [(1, 20), (1, 20), (3, 30)],
        "absurd offsets": [(-1, 20), (-1, 20), (LEAST, 30)],
    }

    found = {name: at(folded([STORIES[name]]), *ROUNDS_S) for name in cases}

    assert {name: each for name, each in found.items() if each != cases[name]} == {}
