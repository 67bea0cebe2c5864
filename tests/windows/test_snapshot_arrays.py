"""Windows that were saved and made again go on as if nothing had happened."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import NOW, Record, batch, log_ends
from windows.test_fold import GROUPS, some_records, windows_of

from warren.windows import snapshot_arrays
from warren.windows.limits import Limits
from warren.windows.window_reader import detail
from warren.windows.windows import Windows


def made_again(windows: Windows) -> Windows:
    again = Windows(windows.intervals, windows.min_distance_ms // 1000, windows.expire_group_s)
    restore(again, windows)
    return again


def restore(into: Windows, windows: Windows) -> None:
    names, columns = snapshot_arrays.copy(windows, snapshot_arrays.allocate(windows))
    snapshot_arrays.restore(into, names, snapshot_arrays.arrange(columns))


@settings(deadline=None, max_examples=200)  # the first example pays for imports
@given(
    chance=st.randoms(use_true_random=True),
    length=st.integers(0, 60),
    saved_at=st.integers(0, 60),
    known_at=st.integers(0, 60),
    deleted_at=st.integers(0, 60),
    min_distance_s=st.integers(0, 3),
)
def test_saving_at_any_moment_changes_nothing(
    *,
    chance: random.Random,
    length: int,
    saved_at: int,
    known_at: int,
    deleted_at: int,
    min_distance_s: int,
) -> None:
    records = some_records(chance, length)
    plain, saved = (Windows(4, min_distance_s) for _ in range(2))
    for at, record in enumerate([*records, None]):
        if at == saved_at:
            saved = made_again(saved)
        for windows in (plain, saved):
            if at == known_at:
                windows.set_log_ends(log_ends(5_000, None, 5_000), {"t": 3})
                windows.set_log_ends(log_ends(7, topic="other"), {"other": 1})
            if at == deleted_at:
                windows.delete_group(GROUPS[0])
            if record is not None:
                windows.fold(batch(record), NOW)

    assert windows_of(saved) == windows_of(plain)
    assert saved.dropped == plain.dropped
    assert len(saved.waiting) == len(plain.waiting)
    recent = [{t: each.ends.recent(t) for t in each.ends.topics.ids} for each in (saved, plain)]
    assert recent[0] == recent[1]


def test_owners_are_kept_also_those_that_wait_for_a_log_end() -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(10, 10), {"t": 2})
    windows.fold(batch(Record(1, 5)), NOW)
    windows.set_owners("gone", {("t", 1): ("/left", "left")})
    windows.set_owners("g", {("t", 1): ("/host", "client"), ("later", 0): ("/host", "client")})
    windows.set_owners("silent", {("t", 0): ("/other", "other")})
    windows.delete_group("gone")

    again = made_again(windows)
    again.set_log_ends(log_ends(3, topic="later"), {"later": 1})
    owned = detail(again, "g")

    assert [each.owner for each in owned["t"]] == ["", "/host"]
    assert [each.client_id for each in owned["later"]] == ["client"]
    assert [each.owner for each in detail(again, "silent")["t"]] == ["/other", ""]


def test_names_that_are_not_text_are_kept() -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(10), {"t": 1})
    commits = batch(Record(1, 5))
    odd = pa.array([b"caf\xe9"], pa.binary())
    windows.fold(commits.set_column(0, "group", odd), NOW)

    again = made_again(windows)

    assert [*again.pairs.groups.ids] == [*windows.pairs.groups.ids] == ["caf\udce9"]


def test_limits_that_were_lowered_bind_only_what_is_new() -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(10, 10), {"t": 2})
    windows.fold(batch(Record(1, 5, group="a"), Record(2, 5, group="b")), NOW)
    again = Windows(limits=Limits(groups=1, topics=1, partitions=1))

    restore(again, windows)
    again.set_log_ends(log_ends(12, 12), {"t": 2, "new": 1})
    again.fold(batch(Record(3, 6, group="b"), Record(4, 5, group="c")), NOW)

    assert [*again.pairs.groups.ids] == ["a", "b"]
    assert [commit.offset for commit in detail(again, "b")["t"][0].commits] == [5, 6]
    assert again.ends.newest("t") == [12, 12]


def test_windows_that_grew_since_memory_was_had_are_copied_whole() -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(10), {"t": 1})
    windows.fold(batch(Record(1, 5)), NOW)
    before = snapshot_arrays.allocate(windows)
    windows.set_log_ends(log_ends(10, 10, 10), {"t": 3})
    windows.fold(batch(Record(2, 6), Record(3, 7, group="another")), NOW)

    names, columns = snapshot_arrays.copy(windows, before)
    again = Windows()
    snapshot_arrays.restore(again, names, snapshot_arrays.arrange(columns))

    assert windows_of(again) == windows_of(windows)
    assert again.ends.newest("t") == [10, 10, 10]


@pytest.mark.parametrize("begins", [[-(2**56)], [1], [0, 2, 1]])
def test_groups_that_do_not_share_out_their_topics_are_refused(begins: list[int]) -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(10), {"t": 1})
    windows.fold(batch(Record(1, 5)), NOW)
    names, columns = snapshot_arrays.copy(windows, snapshot_arrays.allocate(windows))
    arrays = snapshot_arrays.arrange(columns) | {"group_pair": np.array(begins)}

    with pytest.raises(ValueError, match="groups and their topics do not match"):
        snapshot_arrays.restore(Windows(), names, arrays)
