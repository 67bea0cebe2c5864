"""What a group had committed when log ends were asked for, in whatever batches its commits came."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from support.batches import NOW, Record, batch, log_ends

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


def kept(windows: Windows, row: int = 0) -> list[float]:
    grid = windows.grid
    columns = (grid.aligned, grid.aligned_s, grid.before, grid.before_s, grid.written_s)
    return [float(column[row]) for column in columns]


def notes(windows: Windows) -> list[tuple[int, float]]:
    """What was committed when rounds were asked for, as far as it is kept; the older first."""
    now, now_s, before, before_s, _ = kept(windows)
    both = (before, before_s), (now, now_s)
    return [(int(offset), asked_s - NOW) for offset, asked_s in both if asked_s]


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


def test_what_is_kept_was_the_newest_when_a_round_was_asked_for() -> None:
    in_order = {name: commits for name, commits in STORIES.items() if is_in_order(commits)}
    assert len(in_order) > len(STORIES) / 2

    noted = {name: notes(folded([commits])) for name, commits in in_order.items()}

    wrong = {
        name: (offset, asked_s)
        for name, commits in in_order.items()
        for offset, asked_s in noted[name]
        if asked_s >= commits[0].after_s
        and offset != [each.offset for each in commits if each.after_s <= asked_s][-1]
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


def test_the_last_two_rounds_with_a_later_commit_are_kept() -> None:
    cases = {
        "one": [(1, 0)],  # as if it had stood there before
        "between all rounds": [(2, 20), (3, 30)],
        "many between two": [(1, 0), (1, 20)],
    }

    found = {name: notes(folded([STORIES[name]])) for name in cases}

    assert found == cases
