"""The owner and client id of each partition, from the assignments of the group's members."""

from collections.abc import Mapping

import numpy as np

from warren.model.arrays import Ints
from warren.windows.end_history import LogEnds
from warren.windows.limits import NO_LIMITS, Limits
from warren.windows.names import Names
from warren.windows.pairs import Pairs

Assignment = Mapping[tuple[str, int], tuple[str, str]]  # (topic, partition) -> (owner, client id)

# Clients with a new name at each start leave old names behind; below this many we keep them.
TIDY_FROM = 4096


class Owners:
    """A new assignment replaces the whole old one; a partition that is not in it has no owner.

    Who owned it last stays known for as long as the partition has a window.
    """

    def __init__(self, pairs: Pairs, ends: LogEnds, limits: Limits = NO_LIMITS) -> None:
        self.names = Names("")  # zero: no owner
        self._pairs = pairs
        self._ends = ends
        self._limits = limits
        self._unplaced: dict[str, dict[tuple[str, int], tuple[str, str]]] = {}
        self._unplaced_count = 0
        self._tidy_at = TIDY_FROM

    def set(self, group: str, assignment: Assignment) -> None:
        had = self._blank(group)
        self._place(group, assignment)
        self._pairs.remove_unused(had.tolist())
        self._tidy()

    def clear(self, group: str) -> None:
        self._keep_unplaced(group, {})
        self._pairs.remove_unused(self._blank(group).tolist())

    def forget(self, group: str, topic: str | None = None) -> None:
        """Forget the unplaced owners of a deleted group, or of one topic of it."""
        unplaced = self._unplaced.get(group, {})
        left = {key: owner for key, owner in unplaced.items() if topic not in (None, key[0])}
        self._keep_unplaced(group, left)

    def unplace(self, pairs: Ints) -> None:
        """Keep the owners of pairs whose topic is deleted, for when it is created again."""
        grid = self._pairs.grid
        for pair in pairs.tolist():
            group = self._pairs.groups[int(self._pairs.group[pair])]
            topic = self._pairs.topics[int(self._pairs.topic[pair])]
            rows = self._pairs.blocks.rows_of(np.array([pair]))
            owned = np.flatnonzero((grid.owner[rows] > 0) | (grid.client[rows] > 0))
            who = {
                (topic, at): (self.names[int(grid.owner[row])], self.names[int(grid.client[row])])
                for at, row in zip(owned.tolist(), rows[owned].tolist(), strict=True)
            }
            self._keep_unplaced(group, self._unplaced.get(group, {}) | who)

    def place_unplaced(self) -> None:
        """Try again to place owners, after new log ends."""
        for group, assignment in [*self._unplaced.items()]:
            self._place(group, assignment)

    def unplaced(self) -> dict[str, list[tuple[str, int, str, str]]]:
        """By group: topic, partition, owner and client id of partitions without a log end."""
        return {
            group: [(*where, *who) for where, who in assignment.items()]
            for group, assignment in self._unplaced.items()
        }

    def set_unplaced(self, unplaced: Mapping[str, list[tuple[str, int, str, str]]]) -> None:
        for group, lines in unplaced.items():
            who = {(topic, partition): (owner, client) for topic, partition, owner, client in lines}
            self._keep_unplaced(group, who)

    def _place(self, group: str, assignment: Assignment) -> None:
        unplaced = {}
        grid = self._pairs.grid
        for (topic, partition), (owner, client) in assignment.items():
            if not self._ends.has_end(topic, partition):
                unplaced[topic, partition] = (owner, client)
                continue
            row = self.row(group, topic, partition)
            if row >= 0:
                grid.owner[row], grid.client[row] = self.names.id(owner), self.names.id(client)
                grid.last_owner[row], grid.last_client[row] = grid.owner[row], grid.client[row]
        self._keep_unplaced(group, unplaced)

    def _keep_unplaced(self, group: str, unplaced: dict[tuple[str, int], tuple[str, str]]) -> None:
        """Replace the unplaced owners of a group; drop them if all groups have too many."""
        self._unplaced_count -= len(self._unplaced.pop(group, {}))
        if unplaced and self._unplaced_count + len(unplaced) <= self._limits.partitions:
            self._unplaced[group] = unplaced
            self._unplaced_count += len(unplaced)

    def row(self, group: str, topic: str, partition: int) -> int:
        """The row of a partition with a log end; adds its pair if needed; -1: no room."""
        number = self._ends.topics.ids[topic]
        pair = self._pairs.ensure(group, number, int(self._ends.blocks.count[number]))
        return int(self._pairs.blocks.base[pair]) + partition if pair >= 0 else -1

    def _blank(self, group: str) -> Ints:
        pairs = self._pairs.of(group)
        rows = self._pairs.blocks.rows_of(pairs)
        self._pairs.grid.owner[rows] = 0
        self._pairs.grid.client[rows] = 0
        return pairs

    def _tidy(self) -> None:
        """Drop unused names each time the number of names has doubled."""
        if len(self.names) < self._tidy_at:
            return
        grid = self._pairs.grid
        columns = (grid.owner, grid.client, grid.last_owner, grid.last_client)
        used = np.unique(np.concatenate([column[: grid.size] for column in columns]))
        for number in set(self.names.ids.values()) - {0, *used.tolist()}:
            self.names.drop(number)
        self._tidy_at = max(TIDY_FROM, 2 * len(self.names))
