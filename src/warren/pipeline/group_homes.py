"""Which partition of the offsets topic a group belongs to, when the topic gains partitions.

Kafka keeps a group in the partition that its name hashes to: its home. When the topic gains
partitions, many groups get another home, and use it after the next restart of their broker. Record
offsets of the two partitions cannot be compared. So a record that is read outside a group's home
counts as older than all records at home: its order is moved below zero.
"""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.model.arrays import Codes, Ints
from warren.model.window_arrays import is_kafkas
from warren.sources.group_offsets import partition_of
from warren.windows.commit_columns import encoded
from warren.windows.windows import Windows

EARLIER = 2**56  # more than any partition holds records

MAX_REMEMBERED = 1_000_000  # groups; a flood of invented names must not fill the memory


class Homes:
    """The home partition of each group, by the number of partitions."""

    def __init__(self) -> None:
        self.count = 0  # partitions that the orders in the windows are based on
        self.is_copy = False  # the topic is a copy: a record may be in any of its partitions
        self._counts: list[int] = []  # earlier counts, while the topic was read
        self._of: dict[str, int] = {}
        self._seen_in: dict[str, set[int]] = {}  # the partitions of each group, in a copy
        self._seen_at_home: set[str] = set()  # groups with a record about members at home

    def forget(self) -> None:
        """Start over with a new topic."""
        self.count = 0
        self._counts.clear()
        for facts in (self._of, self._seen_in, self._seen_at_home):
            facts.clear()

    def grow(self, windows: Windows, count: int) -> range:
        """Note how many partitions there are, and return the new ones.

        The commits of a group that gets another home become older than all that follow.
        """
        before = self.count
        if count <= before:
            return range(0)
        self.count = count
        self._of.clear()
        if not before:
            return range(0)
        self._counts.append(before)
        self._seen_at_home = {
            group for group in self._seen_at_home if partition_of(group, before) == self.of(group)
        }
        for group in [*windows.pairs.groups.ids]:
            if partition_of(group, before) != self.of(group):
                _age(windows, group)
        keys, rows = windows.waiting.held()
        for (group, *_), row in zip(keys, rows.tolist(), strict=True):
            if partition_of(group, before) != self.of(group):
                _age_rows(windows.waiting.grid.order, np.array([row]))
        return range(before, count)

    def of(self, group: str) -> int:
        """The home of a group; -1: there is no topic yet."""
        if not self.count:
            return -1
        home = self._of.get(group)
        if home is None:
            if len(self._of) > MAX_REMEMBERED:
                self._of.clear()
            home = self._of[group] = partition_of(group, self.count)
        return home

    @property
    def are_settled(self) -> bool:
        """Whether every group has been in one partition only."""
        return not self.is_copy and not self._counts

    def places(self, group: str) -> Collection[int]:
        """The partitions that may hold records of a group; none: unknown.

        While groups move to new partitions, some of their records are still in the old ones.
        """
        if self.is_copy:
            return self._seen_in.get(group, ())
        return {self.of(group), *(partition_of(group, count) for count in self._counts)}

    def split_by_home(self, commits: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Commits read at their group's home, and all others, with orders below those."""
        if not self.count or not len(commits):
            return commits, commits.slice(0, 0)
        commits = commits.filter(commits["group"].is_valid())
        group, names = encoded(commits["group"])
        if self.is_copy:
            self._note_seen(names, group, commits["log_partition"].to_numpy())
        homes = np.array([self.of(name) for name in names], np.int64)
        is_home = homes[group] == commits["log_partition"].to_numpy()
        if is_home.all():
            return commits, commits.slice(0, 0)
        elsewhere = commits.filter(pa.array(~is_home))
        earlier = pc.subtract(elsewhere["order"], EARLIER)
        at = elsewhere.schema.get_field_index("order")
        return commits.filter(pa.array(is_home)), elsewhere.set_column(at, "order", earlier)

    def _note_seen(self, names: list[str], group: Codes, partition: Codes) -> None:
        if len(self._seen_in) > MAX_REMEMBERED:
            self._seen_in.clear()
        pairs = np.unique(np.stack([group, partition]), axis=1)
        for number, place in pairs.T.tolist():
            self._seen_in.setdefault(names[number], set()).add(place)

    def accepts_event(self, windows: Windows, group: str, partition: int) -> bool:
        """Whether to use a record about a group's members: once its home has one, only from there.

        After a group has moved, its old coordinator still writes to the old partition that the
        group is empty, and then that it is deleted.
        """
        if not self.count:
            return True
        if partition == self.of(group):
            if len(self._seen_at_home) > MAX_REMEMBERED:
                self._seen_at_home.clear()
            self._seen_at_home.add(group)
            return True
        return group not in self._seen_at_home and not _has_commits_of_home(windows, group)


def _age(windows: Windows, group: str) -> None:
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    _age_rows(windows.grid.order, rows)


def _age_rows(order: Ints, rows: Ints) -> None:
    order[rows] = np.where(is_kafkas(order[rows]), order[rows] - EARLIER, order[rows])


def _has_commits_of_home(windows: Windows, group: str) -> bool:
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    return bool(((windows.grid.filled[rows] > 0) & (windows.grid.order[rows, -1] >= 0)).any())
