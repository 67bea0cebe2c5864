"""The verdicts on all partitions and groups of a cluster, as arrays.

`evaluate` makes them; all others only read them.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from warren.model.arrays import Bytes, Codes, Counts, Ints, Singles, UInts


@dataclass(frozen=True)
class Edge:
    """The first or the last commit of each window; meaningless where `filled` is 0."""

    offset: Ints
    committed_ms: Ints
    observed_s: UInts
    lag: Ints  # negative: unknown


@dataclass(frozen=True)
class PartitionVerdicts:
    """A line for each partition of each group, sorted by group, topic and number."""

    topic: Codes  # place in `Verdicts.topics`
    partition: Codes
    status: Bytes
    rule: Bytes  # the `Rule` that decided
    filled: Counts  # commits in the window; 0: never committed to
    complete: Singles
    current_lag: Ints
    start: Edge
    end: Edge
    owner: Codes  # places in `Verdicts.owners`
    client: Codes
    lowest_end: Ints  # the lowest log end still remembered


@dataclass(frozen=True)
class GroupVerdicts:
    """A line for each group, sorted by name."""

    first: Ints  # its partitions are the lines from first[i] to before first[i + 1]
    as_of_ms: Ints  # its verdict is as of then: later commits may not have been read yet
    status: Bytes
    complete: Singles
    partition_count: Ints
    total_lag: Ints
    max_lag_line: Ints  # the first partition with the greatest lag
    last_commit_ms: Ints


@dataclass(frozen=True)
class Verdicts:
    """All verdicts on one cluster at one moment. The arrays are its own and never change."""

    now_s: int  # when they were made; no verdict is as of a later time
    names: tuple[str, ...]  # of the groups, sorted
    topics: tuple[str, ...]
    owners: tuple[str, ...]  # names of owners and of clients; 0 is nobody
    groups: GroupVerdicts
    partitions: PartitionVerdicts

    def unread_groups(self, since_ms: int = 0) -> frozenset[str]:
        """Groups that are not known to have been read beyond a moment; by default, not at all."""
        lines = np.flatnonzero(self.groups.as_of_ms <= max(since_ms, 0))
        return frozenset(self.names[line] for line in lines.tolist())

    def line(self, group: str) -> int | None:
        """Where a group stands in `names` and `groups`; None when there is no such group."""
        at = bisect_left(self.names, group)
        return at if at < len(self.names) and self.names[at] == group else None
