"""Decides between commits of the offsets topic ("Kafka's") and those from outside it.

The order of a ZooKeeper transaction and that of a record in the offsets topic cannot be compared.
So commits from outside get orders below all of Kafka's (some of which are negative too, see
`pipeline/group_homes`), and a partition's window uses one source at a time. Kafka's commits always
count. A commit from outside counts if Kafka has none, or has been silent for two minutes while
commits went on outside. So a group that commits to both places is shown as Kafka has it, and a
group that moves from one to the other is followed.
"""

import numpy as np

from warren.model.window_arrays import is_kafkas
from warren.windows.pending import Key
from warren.windows.windows import Windows

BELOW_KAFKA = -(2**62)
PATIENCE_MS = 60_000  # two commits of one moment may arrive in any order


def outside_order(order: int) -> int:
    return BELOW_KAFKA + order % 2**61


class Precedence:
    """For one outside source: partitions for which Kafka is silent, and since when."""

    def __init__(self) -> None:
        self._unanswered_ms: dict[Key, int] = {}  # the first commit that Kafka lacks

    def admits(self, windows: Windows, key: Key, committed_ms: int, order: int) -> bool:
        """Whether a commit from outside counts; if so, prepares its window for it."""
        row = _row(windows, key)
        if row < 0 or not is_kafkas(windows.grid.order[row, -1]):
            self._unanswered_ms.pop(key, None)
            return True
        kafkas_ms = int(windows.grid.last_ms[row])
        if committed_ms <= kafkas_ms + PATIENCE_MS:
            return False
        since = self._unanswered_ms.get(key, 0)
        if kafkas_ms >= since:
            self._unanswered_ms[key] = committed_ms
            return False
        if committed_ms - since < PATIENCE_MS:
            return False
        del self._unanswered_ms[key]
        columns = np.arange(windows.grid.intervals)
        windows.grid.order[row] = order - windows.grid.intervals + columns
        return True

    def admits_removal(self, windows: Windows, key: Key) -> bool:
        """Whether a removal outside removes the window: not if the window is Kafka's."""
        self._unanswered_ms.pop(key, None)
        row = _row(windows, key)
        return row < 0 or not is_kafkas(windows.grid.order[row, -1])


def groups_outside(windows: Windows) -> set[str]:
    """Groups whose windows all hold commits from outside."""
    pairs = windows.pairs.in_order()
    rows, count = windows.pairs.blocks.rows_of(pairs), windows.pairs.blocks.count[pairs]
    group = np.repeat(windows.pairs.group[pairs], count)
    held = windows.grid.filled[rows] > 0
    is_outside = ~is_kafkas(windows.grid.order[rows, -1])
    outside = set(group[held & is_outside].tolist()) - set(group[held & ~is_outside].tolist())
    return {windows.pairs.groups[number] for number in outside}


def kafkas_groups(windows: Windows) -> set[str]:
    """Groups with a commit from Kafka in a window, or waiting for a log end."""
    waiting, rows = windows.waiting.held()
    of_kafka = is_kafkas(windows.waiting.grid.order[rows, -1]).tolist()
    groups = {key[0] for key, kafkas in zip(waiting, of_kafka, strict=True) if kafkas}
    return groups | ({*windows.pairs.groups.ids} - groups_outside(windows))


def forget_kafkas(windows: Windows, group: str) -> None:
    """Forget a group's commits from Kafka; those from outside stay."""
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    of_kafka = is_kafkas(windows.grid.order[rows, -1])
    if (windows.grid.filled[rows][~of_kafka] > 0).any():
        windows.grid.clear(rows[of_kafka])
        windows.pairs.remove_unused(windows.pairs.of(group).tolist())
    else:
        windows.delete_group(group)


def held_outside(windows: Windows) -> tuple[dict[str, dict[tuple[str, int], int]], int]:
    """By group, the newest offset of every window from outside; and the highest order."""
    held: dict[str, dict[tuple[str, int], int]] = {}
    last = 0
    for pair in windows.pairs.in_order().tolist():
        group = windows.pairs.groups[int(windows.pairs.group[pair])]
        topic = windows.ends.topics[int(windows.pairs.topic[pair])]
        rows = windows.pairs.blocks.rows_of(np.array([pair]))
        order, offset = windows.grid.order[rows, -1], windows.grid.offset[rows, -1]
        for partition in np.flatnonzero(
            (windows.grid.filled[rows] > 0) & ~is_kafkas(order)
        ).tolist():
            held.setdefault(group, {})[topic, partition] = int(offset[partition])
            last = max(last, int(order[partition]) - BELOW_KAFKA)
    return held, last


def is_held(windows: Windows, key: Key, order: int) -> bool:
    """Whether the newest commit of a window is this one from outside."""
    row = _row(windows, key)
    return row >= 0 and bool(windows.grid.order[row, -1] == outside_order(order))


def placed_ms(windows: Windows, group: str) -> dict[tuple[str, int], int]:
    """By topic and partition of one group, when the newest commit of each window was made."""
    found = {}
    for pair in windows.pairs.of(group).tolist():
        topic = windows.ends.topics[int(windows.pairs.topic[pair])]
        rows = windows.pairs.blocks.rows_of(np.array([pair]))
        for partition in np.flatnonzero(windows.grid.filled[rows] > 0).tolist():
            found[topic, partition] = int(windows.grid.last_ms[rows[partition]])
    return found


def _row(windows: Windows, key: Key) -> int:
    """The row of a window that is not empty; -1 if there is none."""
    group, topic, partition = key
    pair = windows.pairs.find(group, windows.ends.topics.find(topic))
    if pair < 0 or partition >= windows.pairs.blocks.count[pair]:
        return -1
    row = int(windows.pairs.blocks.base[pair]) + partition
    return row if windows.grid.filled[row] else -1
