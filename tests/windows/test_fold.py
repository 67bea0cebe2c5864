"""A batch folds to the windows that its commits make one at a time."""

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from warren.tables import LOG_ENDS
from warren.windows.view import detail
from warren.windows.windows import Windows

NOW = 2_000_000_000
END = 5_000
TOPIC = "orders"
PARTITIONS = 3

COMMITS = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("committed_ms", pa.int64()),
        ("order", pa.int64()),
    ]
)


class Record(NamedTuple):
    group: str
    partition: int
    offset: int | None  # None: a tombstone
    after_ms: int
    order: int


def batch(records: list[Record]) -> pa.Table:
    rows = [
        (r.group, TOPIC, r.partition, r.offset, NOW * 1000 + r.after_ms, r.order) for r in records
    ]
    return pa.Table.from_pylist(
        [dict(zip(COMMITS.names, row, strict=True)) for row in rows], COMMITS
    )


def log_ends(partitions: int = PARTITIONS, end: int | None = END) -> pa.Table:
    lines = [{"topic": TOPIC, "partition": p, "offset": end} for p in range(partitions)]
    return pa.Table.from_pylist(lines, LOG_ENDS)


class Slot(NamedTuple):
    order: int
    offset: int
    after_ms: int
    lag: int


class Model:
    """Burrow's steps for one partition, one commit at a time."""

    def __init__(self, intervals: int, min_distance_ms: int) -> None:
        self.intervals, self.min_distance_ms = intervals, min_distance_ms
        self.slots: list[Slot] = []

    def take(self, record: Record) -> None:
        if record.offset is None:
            self.slots = []
            return
        slots, order = self.slots, record.order
        full = len(slots) == self.intervals
        if full and slots[0].order >= order:
            return
        if any(slot.order == order for slot in slots):
            return
        older = [slot for slot in slots if slot.order < order]
        younger = slots[len(older) :]
        appended = not younger
        lag = max(END - record.offset, 0) if appended else -1
        new = Slot(order, record.offset, record.after_ms, lag)
        replaces_oldest = full and len(older) == 1
        if younger and (not older or replaces_oldest):
            self.slots = [new, *younger]
        elif older and record.after_ms - older[-1].after_ms < self.min_distance_ms:
            self.slots = [*older[:-1], new._replace(after_ms=older[-1].after_ms), *younger]
        else:
            self.slots = [*older, new, *younger][-self.intervals :]


def model_windows(records: list[Record], intervals: int, min_distance_s: int) -> dict[str, object]:
    models: dict[tuple[str, int], Model] = {}
    for record in records:
        key = record.group, record.partition
        models.setdefault(key, Model(intervals, min_distance_s * 1000)).take(record)
    return {f"{g}/{p}": model.slots for (g, p), model in models.items() if model.slots}


def shown_windows(windows: Windows, groups: Iterator[str] | list[str]) -> dict[str, object]:
    shown: dict[str, object] = {}
    for group in groups:
        for number, partition in enumerate(detail(windows, group).get(TOPIC, [])):
            slots = [
                Slot(c.order, c.offset, c.committed_ms - NOW * 1000, c.lag)
                for c in partition.commits
            ]
            if slots:
                shown[f"{group}/{number}"] = slots
    return shown


records_strategy = st.lists(
    st.builds(
        Record,
        group=st.sampled_from(["a", "b"]),
        partition=st.integers(0, PARTITIONS - 1),
        offset=st.one_of(st.none(), *[st.integers(0, 2 * END)] * 12),
        after_ms=st.integers(-4000, 4000),
        order=st.integers(0, 30),
    ),
    max_size=60,
)


@settings(deadline=None)  # the first example pays for imports
@given(
    records=records_strategy,
    sorted_up_to=st.integers(0, 60),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    intervals=st.integers(1, 5),
    min_distance_s=st.integers(0, 3),
    known_after=st.integers(0, 60),
)
def test_any_batching_folds_as_one_at_a_time(
    *,
    records: list[Record],
    sorted_up_to: int,
    cuts: list[int],
    intervals: int,
    min_distance_s: int,
    known_after: int,
) -> None:
    # Commits mostly come in order: sort some, so that both ways through the code are taken.
    records = (
        sorted(records[:sorted_up_to], key=lambda r: (r.order, r.after_ms)) + records[sorted_up_to:]
    )
    windows = Windows(intervals, min_distance_s)
    borders = sorted({0, len(records), known_after, *cuts})

    for start, end in zip(borders, [*borders[1:], len(records)], strict=True):
        if start == known_after:
            windows.set_log_ends(log_ends(), {TOPIC: PARTITIONS})
        windows.fold(batch(records[start:end]), NOW)

    windows.set_log_ends(log_ends(), {TOPIC: PARTITIONS})
    expected = model_windows(records, intervals, min_distance_s)
    assert shown_windows(windows, ["a", "b"]) == expected
