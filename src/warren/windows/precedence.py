"""Commits kept outside Kafka, beside those of the offsets topic.

The order of a ZooKeeper transaction and that of a record in the offsets topic cannot be compared.
So those from outside are given orders below all of Kafka's (some of which are negative as well, see
`homes`), and a partition's window follows one source at a time: Kafka's commits always count; one
from outside counts where Kafka has none, or has been silent, while commits went on outside, for two
minutes. A group that commits to both places is thus seen as Kafka has it, and one that moves from
either to the other is followed.
"""

import numpy as np

from warren.model.arrays import Ints, Mask
from warren.windows.pending import Key
from warren.windows.windows import Windows

BELOW_KAFKA = -(2**62)
KAFKAS_FIRST = -(2**61)
PATIENCE_MS = 60_000  # which of two commits of one moment comes first is a matter of chance


def outside_order(order: int) -> int:
    return BELOW_KAFKA + order % 2**61


def is_kafkas(order: Ints) -> Mask:
    return order >= KAFKAS_FIRST


class Precedence:
    """Which partitions of one outside source Kafka has fallen silent about, and since when."""

    def __init__(self) -> None:
        self._unanswered_ms: dict[Key, int] = {}  # the first commit that Kafka lacks

    def admits(self, windows: Windows, key: Key, committed_ms: int, order: int) -> bool:
        """Whether a commit from outside counts; if so, its window is ready to take it."""
        row = _row(windows, key)
        if row < 0 or windows.grid.order[row, -1] < KAFKAS_FIRST:
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
        """Whether a window ends with the commit outside that is gone: not if it is Kafka's."""
        self._unanswered_ms.pop(key, None)
        row = _row(windows, key)
        return row < 0 or bool(windows.grid.order[row, -1] < KAFKAS_FIRST)


def groups_outside(windows: Windows) -> set[str]:
    """Groups of which Kafka has nothing: all their windows hold commits from outside."""
    pairs = windows.pairs.in_order()
    rows, count = windows.pairs.blocks.rows_of(pairs), windows.pairs.blocks.count[pairs]
    group = np.repeat(windows.pairs.group[pairs], count)
    held = windows.grid.filled[rows] > 0
    is_outside = ~is_kafkas(windows.grid.order[rows, -1])
    outside = set(group[held & is_outside].tolist()) - set(group[held & ~is_outside].tolist())
    return {windows.pairs.groups[number] for number in outside}


def kafkas_groups(windows: Windows) -> set[str]:
    """Groups of which Kafka has something, or had something that waits."""
    waiting, rows = windows.waiting.held()
    of_kafka = is_kafkas(windows.waiting.grid.order[rows, -1]).tolist()
    told = {key[0] for key, kafkas in zip(waiting, of_kafka, strict=True) if kafkas}
    return told | ({*windows.pairs.groups.ids} - groups_outside(windows))


def forget_kafkas(windows: Windows, group: str) -> None:
    """Forget what Kafka said of a group; what is kept outside of it stays."""
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    of_kafka = is_kafkas(windows.grid.order[rows, -1])
    if (windows.grid.filled[rows][~of_kafka] > 0).any():
        windows.grid.clear(rows[of_kafka])
        windows.pairs.remove_unused(windows.pairs.of(group).tolist())
    else:
        windows.delete_group(group)


def held_outside(windows: Windows) -> tuple[dict[str, dict[tuple[str, int], int]], int]:
    """The newest offset of every window from outside, by group; and the highest of their orders."""
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


def _row(windows: Windows, key: Key) -> int:
    """The row of a window that holds something; -1 when there is none."""
    group, topic, partition = key
    pair = windows.pairs.find(group, windows.ends.topics.find(topic))
    if pair < 0 or partition >= windows.pairs.blocks.count[pair]:
        return -1
    row = int(windows.pairs.blocks.base[pair]) + partition
    return row if windows.grid.filled[row] else -1
