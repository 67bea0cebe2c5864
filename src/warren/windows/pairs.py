"""Which groups read which topics, and where the windows of each pair are."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from warren.model.arrays import Bytes, Codes, Floats, Ints, Mask
from warren.windows.grid import Grid
from warren.windows.limits import NO_LIMITS, Limits
from warren.windows.names import Names
from warren.windows.row_blocks import Blocks

Moments = Callable[[Sequence[str]], Floats]  # a moment in seconds for each of these groups
# Which of these last commits are too old; the first argument names the group of a place.
IsOld = Callable[[Callable[[int], str], Ints], Mask]


# What is to be found out about a pair: whoever reads it does, once for each pair.
TO_FIND_SUBSCRIBED = 255
TO_FIND_POLICY = -2


class Pairs:
    """A (group, topic) pair has a row for each partition of the topic, with a commit or not."""

    def __init__(self, grid: Grid, topics: Names, limits: Limits = NO_LIMITS) -> None:
        self.grid = grid
        self.limits = limits
        self.topics = topics
        self.groups = Names()
        self.blocks = Blocks(grid)
        self.of_group: dict[int, dict[int, int]] = {}  # group -> topic -> pair
        self.group: Ints = np.zeros(0, np.int64)
        self.topic: Ints = np.zeros(0, np.int64)
        self.subscribed: Bytes = np.zeros(0, np.uint8)  # `Subscribed`
        self.left: Mask = np.zeros(0, np.bool_)  # as far as that has been found out
        self.policy: Codes = np.zeros(0, np.int32)  # number of its policy
        self._size = 0
        self._free: list[int] = []
        self._in_order: Ints | None = None

    def ensure(self, group: str, topic: int, count: int) -> int:
        """The pair, added if needed, with at least `count` partitions; -1: no room."""
        if not self._has_room(group, topic, count):
            return -1
        number = self.groups.id(group)
        of_topic = self.of_group.setdefault(number, {})
        pair = of_topic.get(topic)
        if pair is None:
            pair = of_topic[topic] = self._new(number, topic)
        if self.blocks.count[pair] < count:
            self.blocks.ensure(pair, count)
        return pair

    def _has_room(self, group: str, topic: int, count: int) -> bool:
        pair = self.find(group, topic)
        more = count - (int(self.blocks.count[pair]) if pair >= 0 else 0)
        if more <= 0:
            return True
        is_new = self.groups.find(group) < 0
        too_many_groups = is_new and len(self.groups) >= self.limits.groups
        return not too_many_groups and self.blocks.used + more <= self.limits.partitions

    def _new(self, group: int, topic: int) -> int:
        if self._free:
            pair = self._free.pop()
        else:
            pair = self._size
            self._size += 1
            if pair == len(self.group):
                more = np.zeros(max(len(self.group), 64), np.int64)
                self.group = np.concatenate([self.group, more])
                self.topic = np.concatenate([self.topic, more])
                self.subscribed = np.concatenate([self.subscribed, more.astype(np.uint8)])
                self.left = np.concatenate([self.left, more.astype(np.bool_)])
                self.policy = np.concatenate([self.policy, more.astype(np.int32)])
            self.blocks.ensure(pair, 0)
        self.group[pair], self.topic[pair] = group, topic
        self.subscribed[pair], self.policy[pair] = TO_FIND_SUBSCRIBED, TO_FIND_POLICY
        self._in_order = None
        return pair

    def find(self, group: str, topic: int) -> int:
        """The pair, -1 if there is none."""
        return self.of_group.get(self.groups.find(group), {}).get(topic, -1)

    def of(self, group: str) -> Ints:
        return np.array([*self.of_group.get(self.groups.find(group), {}).values()], np.int64)

    def of_topic(self, topic: int) -> Ints:
        every: Ints = self.in_order()
        chosen: Ints = every[self.topic[every] == topic]
        return chosen

    def in_order(self) -> Ints:
        """All pairs, sorted by the name of their group, then of their topic."""
        if self._in_order is None:
            groups = self.of_group.values()
            pairs = np.array([pair for of_topic in groups for pair in of_topic.values()], np.int64)
            group, topic = self.groups.ranks(), self.topics.ranks()
            by_name = np.lexsort((topic[self.topic[pairs]], group[self.group[pairs]]))
            self._in_order = pairs[by_name]
        return self._in_order

    def remove(self, pairs: Ints) -> None:
        """Remove these pairs with their windows and owners, and groups that have no pair left."""
        self._in_order = None if len(pairs) else self._in_order
        self.blocks.release(pairs)
        for pair in pairs.tolist():
            group, topic = int(self.group[pair]), int(self.topic[pair])
            of_topic = self.of_group[group]
            del of_topic[topic]
            self.subscribed[pair] = self.policy[pair] = 0
            self._free.append(pair)
            if not of_topic:
                del self.of_group[group]
                self.groups.drop(group)
        self.blocks.compact()

    def remove_unused(self, pairs: Iterable[int]) -> None:
        """Remove those of these pairs that have neither a window nor an owner."""
        some = np.fromiter(pairs, np.int64)
        some = some[self.blocks.count[some] > 0]
        if not len(some):
            return
        rows, count = self.blocks.rows_of(some), self.blocks.count[some]
        grid = self.grid
        in_use = (grid.filled[rows] > 0) | (grid.owner[rows] > 0) | (grid.client[rows] > 0)
        used = np.logical_or.reduceat(in_use, np.cumsum(count) - count)
        self.remove(some[~used])


def every_group(pairs: Pairs) -> Ints:
    """The groups that have a window or an owner, sorted by name."""
    group = pairs.group[pairs.in_order()]
    groups: Ints = group[np.diff(group, prepend=-1) != 0]
    return groups


def last_commits(pairs: Pairs) -> tuple[Ints, Ints]:
    """The groups that have a window, sorted by name, and the time of their last commit."""
    in_order = pairs.in_order()
    if not len(in_order):
        return in_order, in_order
    rows, count = pairs.blocks.rows_of(in_order), pairs.blocks.count[in_order]
    group = pairs.group[in_order]
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    first_row = (np.cumsum(count) - count)[begins]
    held = np.add.reduceat(pairs.grid.filled[rows], first_row, dtype=np.int64)
    last_ms = np.maximum.reduceat(pairs.grid.last_ms[rows], first_row)
    return group[begins][held > 0], last_ms[held > 0]


def expire_groups(pairs: Pairs, is_old: IsOld) -> list[str]:
    """Remove the windows of groups whose last commit is too old; returns their names.

    Owners stay: if the group commits again it still has its members, and no record repeats them.
    """
    groups, last_ms = last_commits(pairs)
    old = is_old(lambda at: pairs.groups[int(groups[at])], last_ms)
    expired = [pairs.groups[group] for group in groups[old].tolist()]
    for group in expired:
        of_group = pairs.of(group)
        pairs.grid.clear_windows(pairs.blocks.rows_of(of_group))
        pairs.remove_unused(of_group.tolist())
    return expired
