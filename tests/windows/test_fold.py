"""A batch folds to the windows that its commits make one at a time."""

import random
import time
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import NOW, Record, batch, log_ends
from support.window_model import Model, Slot

from warren.windows.window_reader import detail
from warren.windows.windows import Windows

END = 5_000
PARTITIONS = 3
GROUPS = ["a", "b"]

Shown = dict[str, dict[str, list[list[tuple[int, int, int, int | None]]]]]


def windows_of(windows: Windows) -> Shown:
    """Offset, order, time and lag of every commit, by group, topic and partition."""
    shown = {
        group: {
            topic: [
                [
                    (c.offset, c.order, c.committed_ms - NOW * 1000, None if c.lag < 0 else c.lag)
                    for c in partition.commits
                ]
                for partition in partitions
            ]
            for topic, partitions in detail(windows, group).items()
        }
        for group in GROUPS
    }
    return {group: topics for group, topics in shown.items() if topics}


def free_places_repeat_the_oldest(windows: Windows) -> bool:
    """What lets the rules do without knowing which places are free."""
    grid = windows.grid
    columns = (grid.offset, grid.order, grid.committed_ms, grid.lag, grid.observed_s)
    return all(
        (column[row, : -int(grid.filled[row])] == column[row, -int(grid.filled[row])]).all()
        for column in columns
        for row in np.flatnonzero(grid.filled).tolist()
    )


def windows_of_model(model: Model) -> Shown:
    def slots(partition: dict[str, Any]) -> list[tuple[int, int, int, int | None]]:
        return [tuple(slot.values()) for slot in partition["slots"] if slot]

    fetched = {group: model.fetch(group) for group in model.groups()}
    return {
        group: {topic: [slots(p) for p in partitions] for topic, partitions in topics.items()}
        for group, topics in fetched.items()
    }


def play(model: Model, record: Record) -> None:
    if record.offset is None:
        model.tombstone(record.group, record.topic, record.partition)
    else:
        slot = Slot(record.offset, record.order, record.after_ms)
        model.commit(record.group, record.topic, record.partition, slot)


def some_records(chance: random.Random, length: int) -> list[Record]:
    """Commits of few partitions with few orders, so that they meet; now and then a tombstone."""
    return [
        Record(
            order=chance.randrange(31),
            offset=chance.randrange(2 * END) if chance.random() < 0.95 else None,
            after_ms=chance.randint(-4000, 4000),
            partition=chance.choice([0, 0, 0, PARTITIONS - 1]),
            group=chance.choice([*GROUPS[:1] * 4, *GROUPS[1:]]),
        )
        for _ in range(length)
    ]


@settings(deadline=None, max_examples=300)  # the first example pays for imports
@given(
    chance=st.randoms(use_true_random=True),
    length=st.integers(0, 60),
    in_order=st.integers(0, 60),
    steady=st.booleans(),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    intervals=st.integers(1, 5),
    min_distance_s=st.integers(0, 3),
    known_after=st.integers(0, 60),
)
def test_any_batching_folds_as_one_at_a_time(
    *,
    chance: random.Random,
    length: int,
    in_order: int,
    steady: bool,
    cuts: list[int],
    intervals: int,
    min_distance_s: int,
    known_after: int,
) -> None:
    # Most commits come in the order of the log and of time: arrange some, so that appends, late
    # commits that cannot merge, and late commits that may are all met.
    records = some_records(chance, length)
    records = sorted(records[:in_order], key=lambda record: record.order) + records[in_order:]
    if steady:
        records = [record._replace(after_ms=record.order * 3000) for record in records]
    known_after = min(known_after, len(records))
    windows, model = Windows(intervals, min_distance_s), Model(intervals, min_distance_s * 1000)

    borders = sorted({0, len(records), known_after, *(cut for cut in cuts if cut < len(records))})
    for start, end in zip(borders, [*borders[1:], len(records)], strict=True):
        if start == known_after:
            windows.set_log_ends(log_ends(*[END] * PARTITIONS), {"t": PARTITIONS})
        windows.fold(batch(*records[start:end]), NOW)
    for at, record in enumerate([*records, None]):
        if at == known_after:
            for partition in range(PARTITIONS):
                model.log_end("t", partition, PARTITIONS, END)
        if record is not None:
            play(model, record)

    assert windows_of(windows) == windows_of_model(model)
    assert free_places_repeat_the_oldest(windows)


def test_a_million_commits_of_one_partition_fold_within_seconds() -> None:
    many = 1_000_000
    windows = Windows(min_distance_s=1)
    windows.set_log_ends(log_ends(2 * many), {"t": 1})
    commits = pa.table(
        {
            "group": pa.array(["a"]).take(pa.array([0] * many)),
            "topic": pa.array(["t"]).take(pa.array([0] * many)),
            "partition": pa.array([0] * many, pa.int32()),
            "offset": pa.array(range(many)),
            "committed_ms": pa.array(range(NOW * 1000, NOW * 1000 + many)),
            "order": pa.array(range(many)),
        }
    )

    began = time.process_time()
    windows.fold(commits, NOW)
    took = time.process_time() - began

    newest = windows_of(windows)["a"]["t"][0]
    assert newest == [
        (s * 1000 + 999, s * 1000 + 999, s * 1000, 2 * many - s * 1000 - 999)
        for s in range(990, 1000)
    ]
    assert took < 5


def test_names_that_are_not_utf8_are_names() -> None:
    windows = Windows()
    windows.set_log_ends(log_ends(100), {"t": 1})
    group = pa.array([b"caf\xe9"]).view(pa.string())
    commits = batch(Record(1)).set_column(0, "group", group)

    windows.fold(commits, NOW)

    assert [*detail(windows, "caf\udce9")] == ["t"]


def test_a_deletion_of_the_past_leaves_what_was_committed_after_it() -> None:
    windows = Windows(intervals=5)
    windows.set_log_ends(log_ends(*[END] * PARTITIONS), {"t": PARTITIONS})
    windows.fold(batch(Record(order=50, offset=9), Record(order=50, offset=9, group="h")), NOW)
    windows.fold(batch(*(Record(order=order) for order in (10, 20, 30))), NOW, past=True)

    windows.fold(batch(Record(order=25, offset=None)), NOW, past=True)
    assert orders(windows, "g") == [30, 50]

    deletions = (Record(order=40, offset=None), Record(order=60, offset=None, group="h"))
    windows.fold(batch(*deletions), NOW, past=True)
    assert orders(windows, "g") == [50]
    assert orders(windows, "h") == []
    assert free_places_repeat_the_oldest(windows)


def test_a_deletion_of_the_past_leaves_what_waits_and_was_committed_after_it() -> None:
    windows = Windows(intervals=5)
    windows.fold(batch(Record(order=50), Record(order=50, group="h")), NOW)

    windows.fold(batch(Record(order=10), Record(order=20, offset=None)), NOW, past=True)
    windows.fold(batch(Record(order=60, offset=None, group="h")), NOW, past=True)
    windows.set_log_ends(log_ends(END), {"t": 1})

    assert (orders(windows, "g"), orders(windows, "h")) == ([50], [])


def orders(windows: Windows, group: str) -> list[int]:
    partitions = detail(windows, group).get("t", [])
    return [commit.order for partition in partitions for commit in partition.commits]
