"""Which partition of the offsets topic a group belongs to, when the topic gains partitions.

Kafka keeps a group where its name hashes to. With more partitions that is another one for many
groups; a broker follows when it is started the next time, and the group goes on in its new home,
whose offsets know nothing of those in the old one. So what is read elsewhere than at a group's home
is taken for older than all that is read there: its orders are moved below zero.
"""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warren.model.arrays import Codes, Ints
from warren.sources.group_offsets import partition_of
from warren.windows.commit_columns import encoded
from warren.windows.precedence import is_kafkas
from warren.windows.windows import Windows

EARLIER = 2**56  # more than any partition holds records

REMEMBERED = 1_000_000  # names; a flood of invented groups must not fill the memory


class Homes:
    """Where each group belongs, by the number of partitions there are."""

    def __init__(self) -> None:
        self.count = 0  # of the topic's partitions, when the orders in the windows were given
        self.is_copy = False  # of an offsets topic, whose records may have been put elsewhere
        self._counts: list[int] = []  # that there were before, while it was read
        self._of: dict[str, int] = {}
        self._seen_in: dict[str, set[int]] = {}  # where groups of a copy were found
        self._heard_from: set[str] = set()  # groups whose members were told of at home

    def forget(self) -> None:
        """The topic is another: nothing was read of it yet."""
        self.count = 0
        self._counts.clear()
        for facts in (self._of, self._seen_in, self._heard_from):
            facts.clear()

    def grow(self, windows: Windows, count: int) -> range:
        """Take note of how many partitions there are; those that are new since the last time.

        What the windows hold of groups that move was read in homes that are not theirs any more.
        """
        before = self.count
        if count <= before:
            return range(0)
        self.count = count
        self._of.clear()
        if not before:
            return range(0)
        self._counts.append(before)
        self._heard_from = {
            group for group in self._heard_from if partition_of(group, before) == self.of(group)
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
        """The partition of a group; -1: there is no topic yet."""
        if not self.count:
            return -1
        home = self._of.get(group)
        if home is None:
            if len(self._of) > REMEMBERED:
                self._of.clear()
            home = self._of[group] = partition_of(group, self.count)
        return home

    @property
    def are_settled(self) -> bool:
        """Whether each group has one home, as its name says."""
        return not self.is_copy and not self._counts

    def places(self, group: str) -> Collection[int]:
        """The partitions that may hold news of a group; none: nobody knows.

        While groups move to new partitions, some of theirs are still in the old ones.
        """
        if self.is_copy:
            return self._seen_in.get(group, ())
        return {self.of(group), *(partition_of(group, count) for count in self._counts)}

    def apart(self, commits: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Commits of groups at home, and those read elsewhere, with orders below these."""
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
        if len(self._seen_in) > REMEMBERED:
            self._seen_in.clear()
        pairs = np.unique(np.stack([group, partition]), axis=1)
        for number, place in pairs.T.tolist():
            self._seen_in.setdefault(names[number], set()).add(place)

    def hears(self, windows: Windows, group: str, partition: int) -> bool:
        """Whether what a partition says of a group's members counts: not if its home has spoken.

        A coordinator goes on for a while with the groups it finds in their old partition, and
        writes there that they are empty, and gone.
        """
        if not self.count:
            return True
        if partition == self.of(group):
            if len(self._heard_from) > REMEMBERED:
                self._heard_from.clear()
            self._heard_from.add(group)
            return True
        return group not in self._heard_from and not _has_commits_of_home(windows, group)


def _age(windows: Windows, group: str) -> None:
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    _age_rows(windows.grid.order, rows)


def _age_rows(order: Ints, rows: Ints) -> None:
    order[rows] = np.where(is_kafkas(order[rows]), order[rows] - EARLIER, order[rows])


def _has_commits_of_home(windows: Windows, group: str) -> bool:
    rows = windows.pairs.blocks.rows_of(windows.pairs.of(group))
    return bool(((windows.grid.filled[rows] > 0) & (windows.grid.order[rows, -1] >= 0)).any())
