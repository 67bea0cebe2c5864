"""Log starts and stable ends beside the log ends."""

import pyarrow as pa

from warren.model import tables
from warren.windows import snapshot_arrays
from warren.windows.windows import Windows


def log_ends(*rows: tuple[str, int, int]) -> pa.Table:
    lines = [dict(zip(tables.LOG_ENDS.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(lines, schema=tables.LOG_ENDS)


NONE = log_ends()


def with_ends(*rows: tuple[str, int, int]) -> Windows:
    windows = Windows()
    windows.set_log_ends(log_ends(*rows), {}, now_s=10)
    return windows


def edges(windows: Windows) -> dict[tuple[str, int], tuple[int | None, int | None]]:
    """By partition: its start, and its stable end if it is held back."""
    ends, found = windows.ends, {}
    for topic, number in ends.topics.ids.items():
        base, count = int(ends.blocks.base[number]), int(ends.blocks.count[number])
        for row in range(base, base + count):
            start = int(ends.rows.start[row]) if ends.rows.has_start[row] else None
            stable = int(ends.rows.stable[row]) if ends.rows.is_held[row] else None
            found[topic, row - base] = start, stable
    return found


def test_only_a_stable_end_before_the_log_end_holds_readers_back() -> None:
    windows = with_ends(("t", 0, 9), ("t", 1, 9), ("t", 2, 9), ("u", 0, 5))

    held = windows.ends.refresh_edges(
        log_ends(("t", 1, 0), ("u", 0, 5)), log_ends(("t", 0, 7), ("t", 1, 9), ("t", 2, 12))
    )

    assert held == ["t"]
    assert edges(windows) == {
        ("t", 0): (None, 7),
        ("t", 1): (0, None),
        ("t", 2): (None, None),
        ("u", 0): (5, None),
    }


def test_the_end_of_a_transaction_is_noticed() -> None:
    windows = with_ends(("t", 0, 9))
    windows.ends.refresh_edges(NONE, log_ends(("t", 0, 7)))

    held = windows.ends.refresh_edges(NONE, log_ends(("t", 0, 9)))

    assert held == []
    assert edges(windows) == {("t", 0): (None, None)}


def test_partitions_that_we_do_not_know_are_ignored() -> None:
    windows = with_ends(("t", 0, 9))
    strange = log_ends(("t", 1, 3), ("t", 2**31 - 1, 3), ("nowhere", 0, 3))

    held = windows.ends.refresh_edges(strange, strange)

    assert held == []
    assert edges(windows) == {("t", 0): (None, None)}


def test_edges_stay_when_a_topic_grows_and_go_with_it() -> None:
    windows = with_ends(("t", 0, 9), ("u", 0, 9))
    windows.ends.refresh_edges(log_ends(("t", 0, 3), ("u", 0, 4)), log_ends(("t", 0, 7)))

    windows.set_log_ends(log_ends(("t", 1, 2)), {"t": 2}, now_s=20)
    windows.delete_topic("u")
    windows.set_log_ends(log_ends(("u", 0, 1)), {"u": 1}, now_s=30)

    assert edges(windows) == {("t", 0): (3, 7), ("t", 1): (None, None), ("u", 0): (None, None)}


def test_a_restart_reads_edges_again() -> None:
    windows = with_ends(("t", 0, 9))
    windows.ends.refresh_edges(log_ends(("t", 0, 3)), log_ends(("t", 0, 7)))
    names, columns = snapshot_arrays.copy(windows, {})
    restored = Windows()

    snapshot_arrays.restore(restored, names, snapshot_arrays.arrange(columns))

    assert edges(restored) == {("t", 0): (None, None)}
