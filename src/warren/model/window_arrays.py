"""All windows of one cluster as arrays, for the rules to read."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warren.model.arrays import AnyArray, Codes, Counts, Floats, Ints, Mask, UInts

# Commits from outside have orders below all of Kafka's, some of which are negative.
KAFKAS_FIRST = -(2**61)


def is_kafkas(order: Ints) -> Mask:
    """Whether commits are of the offsets topic."""
    return order >= KAFKAS_FIRST


def ranges(base: Ints, count: Ints) -> Ints:
    """`base[i] .. base[i] + count[i] - 1` of every i, one after the other."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(base - ends + count, count) + np.arange(total)


def span(rows: Ints) -> slice | Ints:
    """Rows as a slice when they follow each other, which NumPy reads faster."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and (rows[1:] > rows[:-1]).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def rows_of(array: AnyArray, where: slice | Ints) -> AnyArray:
    """Whole rows; those that are listed must be there, and NumPy does not check it again."""
    if isinstance(where, slice):
        return array[where]
    return array.take(where, axis=0, mode="clip")


@dataclass(frozen=True)
class WindowArrays:
    """The arrays belong to the windows and change with the next fold: read them, do not keep them.

    Groups are sorted by name, the pairs (group, topic) of a group by topic. A pair has a row for
    each partition of its topic, committed to or not.
    """

    groups: tuple[str, ...]
    topics: tuple[str, ...]
    owners: tuple[str, ...]  # names of owners and clients; the first stands for nobody

    as_of_s: Floats  # by group: up to when its commits are read; infinite: up to now
    group_pair: Ints  # by group: its first pair
    pair_topic: Ints  # by pair: place in `topics`
    pair_row: Ints  # its first row
    pair_count: Ints  # how many rows

    # By row. The grids have a column for each interval, oldest first; free places on the left
    # repeat the oldest commit.
    offset: Ints
    order: Ints
    committed_ms: Ints
    lag: Ints  # negative: unknown
    observed_s: UInts
    filled: Counts  # commits in the window; 0: none
    last_ms: Ints  # time of the newest commit
    owner: Codes  # places in `owners`
    client: Codes
    stopped: Mask  # had stopped at the last verdict, and no commit came since
    written_s: Floats  # when the newest commit was written, by our own clock; 0: not known

    # By partition, in the order of `rows`, as of their group's moment.
    end_row: Ints  # the row of its log end
    newest_end: Ints
    lowest_end: Ints  # the lowest end that was remembered then

    # By pair: its number in the windows.
    pair: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def rows(self) -> Ints:
        """The row of every partition, group by group, topic by topic."""
        return ranges(self.pair_row, self.pair_count)
