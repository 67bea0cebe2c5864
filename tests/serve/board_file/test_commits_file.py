"""Windows are written when they change, and found again from every board that has them."""

import os
import random
from typing import Any

import numpy as np
from support.boards import NOW_S, add, windows_of

from warren.model.board import StoredWindows
from warren.model.window_arrays import WindowArrays
from warren.serve.board_file import commits_file
from warren.serve.board_file.commits_file import CommitsFile
from warren.windows.window_reader import window_arrays

ENDS = {f"topic-{n}": [10_000] * 40 for n in range(3)}
FIELDS = ("offset", "committed_ms", "lag", "observed_s")


def read(stored: StoredWindows) -> Any:
    return commits_file.read(stored.file.fd, stored.intervals)


def size(stored: StoredWindows) -> int:
    return os.fstat(stored.file.fd).st_size // commits_file.layout(stored.intervals).itemsize


def is_right(stored: StoredWindows, shown: WindowArrays) -> bool:
    rows = shown.rows
    held = shown.filled[rows] > 0
    windows = read(stored)[stored.place[held]]
    same = [np.array_equal(windows[name], getattr(shown, name)[rows[held]]) for name in FIELDS]
    return all(same) and bool((stored.place[~held] == -1).all())


def commit(group: str, partition: int, offset: int, topic: str = "topic-0") -> Any:
    return (group, topic, partition, offset, NOW_S * 1000)


def test_only_what_changed_is_written() -> None:
    windows = windows_of(ENDS, [commit("a", partition, 1) for partition in range(40)])
    file = CommitsFile()

    first = size(file.store(window_arrays(windows)))
    again = size(file.store(window_arrays(windows)))
    add(windows, [commit("a", 7, 2), commit("a", 9, 2)], first_order=100)
    stored = file.store(window_arrays(windows))

    assert (first, again, size(stored)) == (40, 40, 42)
    assert is_right(stored, window_arrays(windows))


def test_an_older_board_still_reads_what_it_had() -> None:
    windows = windows_of(ENDS, [commit("a", 0, 1)])
    file = CommitsFile()
    before = file.store(window_arrays(windows))

    add(windows, [commit("a", 0, 2)], first_order=100)
    file.store(window_arrays(windows))

    assert read(before)[before.place[0]]["offset"][-1] == 1


def test_a_window_that_is_being_written_is_not_read_yet() -> None:
    windows = windows_of(ENDS, [commit("a", 0, 1)])
    stored = CommitsFile().store(window_arrays(windows))

    os.write(stored.file.fd, b"half")

    assert len(read(stored)) == 1
    assert is_right(stored, window_arrays(windows))


def test_a_file_that_is_mostly_outdated_is_begun_anew() -> None:
    windows = windows_of(ENDS, [])
    file = CommitsFile()
    sizes = []
    for turn in range(1, 2000):
        partitions = range(40)
        add(windows, [commit("a", p, turn) for p in partitions], first_order=turn * 100)
        sizes.append(size(file.store(window_arrays(windows))))

    assert max(sizes) <= commits_file.SPARE + 100
    assert sizes[-1] < max(sizes)


def test_whatever_happens_to_groups_the_file_has_their_windows() -> None:
    chance = random.Random(5)  # noqa: S311  # not a secret
    windows = windows_of(ENDS, [])
    file, order, wrong = CommitsFile(), 0, []
    for turn in range(600):
        group, topic = f"group-{chance.randrange(60)}", f"topic-{chance.randrange(3)}"
        if chance.random() < 0.25:
            windows.delete_group(group, topic if chance.random() < 0.5 else None)
        else:
            some = [
                commit(group, chance.randrange(40), chance.randrange(9000), topic)
                for _ in range(chance.randrange(1, 60))
            ]
            add(windows, some, first_order=order)
            order += 1000
        shown = window_arrays(windows)
        if not is_right(file.store(shown), shown):
            wrong.append(turn)

    assert wrong == []
