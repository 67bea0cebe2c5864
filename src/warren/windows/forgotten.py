"""Where groups were when the brokers forgot their offsets.

They do that with the offsets of a group that has had no members for days. When it comes back it may
read everything again: then where it was is where it has to come back to. A group that somebody
deletes begins afresh.
"""

from collections.abc import Iterable

from warren.model.arrays import Ints

Key = tuple[str, str, int]  # group, topic and partition
Pair = tuple[str, str]
Saved = list[tuple[str, str, dict[int, int]]]

MOST = 100_000  # partitions


class Forgotten:
    """By group and topic, the highest offset of each partition that has none any more."""

    def __init__(self) -> None:
        self._heights: dict[Pair, dict[int, int]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def groups(self) -> set[str]:
        return {group for group, _ in self._heights}

    def note(self, keys: Iterable[Key], heights: Ints) -> None:
        """Of more than `MOST` only the last are remembered."""
        for (group, topic, partition), height in zip(keys, heights.tolist(), strict=True):
            of_pair = self._heights.setdefault((group, topic), {})
            self._count += partition not in of_pair
            of_pair[partition] = max(height, of_pair.get(partition, 0))
        while self._count > MOST:
            self._drop(next(iter(self._heights)))

    def take(self, key: Key) -> int:
        """Of a partition that has an offset again; 0 where nothing is known."""
        *pair, partition = key
        of_pair = self._heights.get((pair[0], pair[1]), {})
        height = of_pair.pop(partition, 0)
        self._count -= height > 0
        return height

    def drop_group(self, group: str) -> None:
        for pair in [each for each in self._heights if each[0] == group]:
            self._drop(pair)

    def drop_topic(self, topic: str) -> None:
        for pair in [each for each in self._heights if each[1] == topic]:
            self._drop(pair)

    def _drop(self, pair: Pair) -> None:
        self._count -= len(self._heights.pop(pair))

    def saved(self) -> Saved:
        return [(*pair, heights) for pair, heights in self._heights.items() if heights]

    def restore(self, saved: Saved) -> None:
        self._heights = {(group, topic): heights for group, topic, heights in saved}
        self._count = sum(map(len, self._heights.values()))
