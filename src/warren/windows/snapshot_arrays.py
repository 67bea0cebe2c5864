"""Windows and log ends as plain arrays and names, to be saved and made again.

Saved is what they mean and not how they lie: rows are numbered anew, free ones are left out. That
takes its time, so they are first copied as they lie, which is all that others have to wait for. The
memory for it is had beforehand: the system takes ten times as long to give it as we to fill it.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from warren.model.arrays import AnyArray, Counts, Ints
from warren.model.window_arrays import span
from warren.windows.limits import NO_LIMITS
from warren.windows.pending import Key
from warren.windows.row_blocks import Rows
from warren.windows.windows import Windows

Arrays = dict[str, AnyArray]
Room = dict[str, AnyArray]  # memory for columns
Lying = dict[str, tuple[AnyArray, Ints]]  # a column as it lies, and the rows to be taken


class SavedNames(Struct):
    """What the arrays refer to by number."""

    groups: list[str]
    topics: list[str]
    owners: list[str]
    unplaced: dict[str, list[tuple[str, int, str, str]]]  # owners of partitions without a log end
    waiting: list[Key]
    dropped: dict[str, int]


def room(windows: Windows) -> Room:
    """Memory for a copy of windows that may change meanwhile; what grew gets its own later on."""
    columns = {name: column for part in _parts(windows) for name, column in _columns(*part)}
    return {name: np.full_like(column, 0) for name, column in columns.items()}  # zeros: untouched


def copy(windows: Windows, room: Room) -> tuple[SavedNames, Lying]:
    """Copy everything; whoever calls sees to it that nothing changes meanwhile."""
    pairs, ends, owners = windows.pairs, windows.ends, windows.owners
    topics = sorted(ends.topics.ids)
    numbers = np.array([ends.topics.ids[topic] for topic in topics], np.int64)
    in_order = pairs.in_order()
    first = np.flatnonzero(np.diff(pairs.group[in_order], prepend=-1))
    groups = [pairs.groups[number] for number in pairs.group[in_order[first]].tolist()]
    keys, waiting_rows = windows.waiting.held()
    names = SavedNames(
        groups, topics, [*owners.names.by_number()], owners.unplaced(), keys, {**windows.dropped}
    )
    index = {
        "group_pair": first,
        "pair_topic": ends.topics.ranks()[pairs.topic[in_order]],
        "pair_count": pairs.blocks.count[in_order],
        "topic_count": ends.blocks.count[numbers],
    }
    lying = {name: (array, np.arange(len(array))) for name, array in index.items()}
    chosen = (pairs.blocks.rows_of(in_order), ends.blocks.rows_of(numbers), waiting_rows)
    for part, rows in zip(_parts(windows), chosen, strict=True):
        lying |= {name: (_copied(each, room.get(name)), rows) for name, each in _columns(*part)}
    return names, lying


def arrange(lying: Lying) -> Arrays:
    """Put the copies in order, one after the other: `lying` is empty in the end."""
    arrays = {}
    while lying:
        name, (column, rows) = lying.popitem()
        arrays[name] = column[span(rows)]
    return arrays


def restore(windows: Windows, names: SavedNames, arrays: Arrays) -> None:
    """Fill windows that are empty. Raises KeyError or ValueError if the parts do not fit.

    Limits bind what is new: what was there when they were lowered stays.
    """
    ends, pairs = windows.ends, windows.pairs
    pairs.limits = NO_LIMITS
    _check(arrays["topic_count"], arrays["end_filled"], windows.intervals)
    _check(arrays["pair_count"], arrays["window_filled"], windows.intervals)
    for topic, count in zip(names.topics, arrays["topic_count"].tolist(), strict=True):
        ends.ensure(topic, count)
    _fill("end", ends.rows, arrays)
    group = np.repeat(np.arange(len(names.groups)), np.diff(_bounds(arrays)))
    columns = (group.tolist(), arrays["pair_topic"].tolist(), arrays["pair_count"].tolist())
    for number, topic, count in zip(*columns, strict=True):
        pairs.ensure(names.groups[number], ends.topics.ids[names.topics[topic]], count)
    _fill("window", windows.grid, arrays)
    owner = np.array([windows.owners.names.id(name) for name in names.owners], np.int32)
    for of_row in (windows.grid.owner, windows.grid.client):
        of_row[: windows.grid.size] = owner[of_row[: windows.grid.size]]
    pairs.limits = windows.limits
    windows.owners.set_unplaced(names.unplaced)
    windows.waiting.hold(names.waiting)
    _fill("waiting", windows.waiting.grid, arrays)
    windows.dropped.update(names.dropped)


def _check(counts: Ints, filled: Counts, intervals: int) -> None:
    """Whether there are so many rows, and not more in any than fits: before room is made."""
    if (counts < 0).any() or sum(counts.tolist()) != len(filled) or (filled > intervals).any():
        raise ValueError(f"{len(filled)} rows, and other numbers of partitions")


def _bounds(arrays: Arrays) -> Ints:
    """Where the pairs of each group begin, and where the last ones end."""
    bounds = np.append(arrays["group_pair"], len(arrays["pair_topic"]))
    if bounds[0] != 0 or (bounds[1:] < bounds[:-1]).any():
        raise ValueError("the groups do not share out their topics")
    return bounds


def _parts(windows: Windows) -> Iterator[tuple[str, Rows]]:
    yield "window", windows.grid
    yield "end", windows.ends.rows
    yield "waiting", windows.waiting.grid


def _columns(prefix: str, rows: Rows) -> Iterator[tuple[str, AnyArray]]:
    for name in rows.fields:
        yield f"{prefix}_{name}", getattr(rows, name)[: rows.size]


def _copied(column: AnyArray, room: AnyArray | None) -> AnyArray:
    if room is None or len(room) < len(column):
        return column.copy()
    copied = room[: len(column)]
    np.copyto(copied, column)
    return copied


def _fill(prefix: str, rows: Rows, arrays: Arrays) -> None:
    """Rows were reserved in the order they were saved in, so they lie in that order."""
    for name in rows.fields:
        saved = arrays[f"{prefix}_{name}"]
        if len(saved) != rows.size:
            raise ValueError(f"{len(saved)} rows of {prefix}_{name} for {rows.size} partitions")
        getattr(rows, name)[: rows.size] = saved
