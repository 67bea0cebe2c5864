"""Windows and log ends as plain arrays and names, to be saved and restored.

The saved rows are sorted and renumbered, without free ones. That takes a while, so the columns are
first copied as they are in memory; only this needs the lock. The memory for the copy is allocated
before: that takes ten times as long as the copying.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from warren.model.arrays import AnyArray, Counts, Ints
from warren.model.memory import FIELDS
from warren.model.window_arrays import span
from warren.windows.end_columns import Column, unpacked
from warren.windows.end_history import EndRows
from warren.windows.forgotten import Saved
from warren.windows.limits import NO_LIMITS
from warren.windows.pending import Key
from warren.windows.row_blocks import Rows
from warren.windows.windows import Windows

PAST_TIMES = "past_times"  # asked, answered; a line for each round

Arrays = dict[str, AnyArray]
Buffers = dict[str, AnyArray]  # memory for columns
RawColumns = dict[str, tuple[AnyArray, Ints]]  # a column as in memory, and the rows to save


class SavedNames(Struct):
    """The names that the arrays refer to by number."""

    groups: list[str]
    topics: list[str]
    owners: list[str]
    unplaced: dict[str, list[tuple[str, int, str, str]]]  # owners of partitions without a log end
    waiting: list[Key]
    dropped: dict[str, int]
    forgotten: Saved = []


def allocate(windows: Windows) -> Buffers:
    """Allocate memory for `copy`; the windows may change before, and grow."""
    columns = {name: column for part in _parts(windows) for name, column in _columns(*part)}
    return {name: np.full_like(column, 0) for name, column in columns.items()}  # zeros: untouched


def copy(windows: Windows, buffers: Buffers) -> tuple[SavedNames, RawColumns]:
    """Copy everything; the caller holds the lock."""
    pairs, ends, owners = windows.pairs, windows.ends, windows.owners
    topics = sorted(ends.topics.ids)
    numbers = np.array([ends.topics.ids[topic] for topic in topics], np.int64)
    in_order = pairs.in_order()
    first = np.flatnonzero(np.diff(pairs.group[in_order], prepend=-1))
    groups = [pairs.groups[number] for number in pairs.group[in_order[first]].tolist()]
    keys, waiting_rows = windows.waiting.held()
    names = SavedNames(
        groups,
        topics,
        [*owners.names.by_number()],
        owners.unplaced(),
        keys,
        {**windows.dropped},
        windows.forgotten.saved(),
    )
    index = {
        "group_pair": first,
        "pair_topic": ends.topics.ranks()[pairs.topic[in_order]],
        "pair_count": pairs.blocks.count[in_order],
        "topic_count": ends.blocks.count[numbers],
    }
    columns = {name: (array, np.arange(len(array))) for name, array in index.items()}
    chosen = (pairs.blocks.rows_of(in_order), ends.blocks.rows_of(numbers), waiting_rows)
    for part, rows in zip(_parts(windows), chosen, strict=True):
        columns |= {name: (_copy(each, buffers.get(name)), rows) for name, each in _columns(*part)}
    columns |= _past_columns(ends.rows, chosen[1])
    return names, columns


def _past_columns(ends: EndRows, rows: Ints) -> RawColumns:
    """The rounds of log ends, not copied: until `release` nothing in them changes."""
    ends.past.reach(ends.size)
    rounds = ends.past.share()
    times = np.array([(each.asked_s, each.answered_s) for each in rounds]).reshape(-1, 2)
    columns: RawColumns = {
        PAST_TIMES: (times, np.arange(len(times))),
        "past_base": (ends.past.base.copy(), rows),
        "past_known_s": (ends.past.known_s.copy(), rows),
        "past_cut_s": (ends.past.cut_s.copy(), rows),
    }
    for number, each in enumerate(rounds):
        columns[f"past_{number}"] = each.above, rows
        if each.unanswered is not None:
            columns[f"past_{number}_unanswered"] = unpacked(each.unanswered, ends.size), rows
    return columns


def release(windows: Windows) -> None:
    """What `copy` returned has been saved."""
    windows.ends.rows.past.release()


def arrange(columns: RawColumns) -> Arrays:
    """Select the rows to save; frees each copy as it goes, so `columns` is empty in the end."""
    arrays = {}
    while columns:
        name, (column, rows) = columns.popitem()
        arrays[name] = column[span(rows)]
    return arrays


def restore(windows: Windows, names: SavedNames, arrays: Arrays) -> None:
    """Fill empty windows. Raises KeyError or ValueError if the parts do not fit together.

    Limits apply to what is new: after they are lowered, what is in the snapshot stays.
    """
    ends, pairs = windows.ends, windows.pairs
    pairs.limits = NO_LIMITS
    _check(arrays["topic_count"], arrays["end_filled"], windows.intervals)
    _check(arrays["pair_count"], arrays["window_filled"], windows.intervals)
    for topic, count in zip(names.topics, arrays["topic_count"].tolist(), strict=True):
        ends.ensure(topic, count)
    _fill("end", ends.rows, arrays)
    _restore_past(ends.rows, arrays)
    group = np.repeat(np.arange(len(names.groups)), np.diff(_bounds(arrays)))
    columns = (group.tolist(), arrays["pair_topic"].tolist(), arrays["pair_count"].tolist())
    for number, topic, count in zip(*columns, strict=True):
        pairs.ensure(names.groups[number], ends.topics.ids[names.topics[topic]], count)
    _fill("window", windows.grid, arrays)
    owner = np.array([windows.owners.names.id(name) for name in names.owners], np.int32)
    grid = windows.grid
    for of_row in (grid.owner, grid.client, grid.last_owner, grid.last_client):
        of_row[: grid.size] = owner[of_row[: grid.size]]
    pairs.limits = windows.limits
    windows.owners.set_unplaced(names.unplaced)
    windows.waiting.hold(names.waiting)
    _fill("waiting", windows.waiting.grid, arrays)
    windows.dropped.update(names.dropped)
    windows.forgotten.restore(names.forgotten)


def _restore_past(ends: EndRows, arrays: Arrays) -> None:
    def column(name: str) -> AnyArray:
        if len(arrays[name]) != ends.size:
            raise ValueError(f"{len(arrays[name])} rows of {name} for {ends.size} partitions")
        return arrays[name]

    for number, (asked_s, answered_s) in enumerate(arrays[PAST_TIMES].tolist()):
        name = f"past_{number}"
        silent = f"{name}_unanswered"
        mask = np.packbits(column(silent)) if silent in arrays else None
        ends.past.append(Column(asked_s, answered_s, column(name), mask))
    ends.past.base, ends.past.known_s = column("past_base"), column("past_known_s")
    has_cuts = "past_cut_s" in arrays
    ends.past.cut_s = column("past_cut_s") if has_cuts else np.zeros(ends.size, np.uint32)
    ends.past.was_cut = bool(ends.past.cut_s.any())
    ends.asked_s = ends.past.asked_s


def _check(counts: Ints, filled: Counts, intervals: int) -> None:
    """Check the number of rows and that no window is too long, before memory is allocated."""
    if (counts < 0).any() or sum(counts.tolist()) != len(filled) or (filled > intervals).any():
        raise ValueError(f"{len(filled)} rows do not match the partition counts")


def _bounds(arrays: Arrays) -> Ints:
    """The index of each group's first pair, and the end of the last group's."""
    bounds = np.append(arrays["group_pair"], len(arrays["pair_topic"]))
    if bounds[0] != 0 or (bounds[1:] < bounds[:-1]).any():
        raise ValueError("the groups and their topics do not match")
    return bounds


def _parts(windows: Windows) -> Iterator[tuple[str, Rows]]:
    yield "window", windows.grid
    yield "end", windows.ends.rows
    yield "waiting", windows.waiting.grid


def _columns(prefix: str, rows: Rows) -> Iterator[tuple[str, AnyArray]]:
    for name in rows.saved:
        yield f"{prefix}_{name}", getattr(rows, name)[: rows.size]


def _copy(column: AnyArray, buffer: AnyArray | None) -> AnyArray:
    if buffer is None or len(buffer) < len(column):
        return column.copy()
    copied = buffer[: len(column)]
    np.copyto(copied, column)
    return copied


def _fill(prefix: str, rows: Rows, arrays: Arrays) -> None:
    """Fill the rows, which were reserved in the order they were saved in."""
    for name in rows.saved:
        saved = arrays.get(f"{prefix}_{_source(prefix, name, arrays)}")
        if saved is None and name in NOT_REMEMBERED:
            continue
        if saved is None:
            raise KeyError(f"{prefix}_{name}")
        if len(saved) != rows.size:
            raise ValueError(f"{len(saved)} rows of {prefix}_{name} for {rows.size} partitions")
        getattr(rows, name)[: rows.size] = saved


# Columns that an older snapshot may lack, and others for which another of its columns stands.
NOT_REMEMBERED = {*FIELDS, "start_every_s"}
_LATER = {"last_owner": "owner", "last_client": "client"}


def _source(prefix: str, name: str, arrays: Arrays) -> str:
    return name if f"{prefix}_{name}" in arrays else _LATER.get(name, name)
