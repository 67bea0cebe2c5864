"""What every partition and every group is: the arrays that a judgement fills.

`evaluate` makes them, everybody else reads them.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Edge:
    """The first or the last commit of each window; meaningless where `filled` is 0."""

    offset: Ints
    committed_ms: Ints
    observed_s: npt.NDArray[np.uint32]
    lag: Ints  # negative: not known


@dataclass(frozen=True)
class PartitionVerdicts:
    """A line for each partition of each group: by group, then topic, then number."""

    topic: npt.NDArray[np.int32]  # place in `Verdicts.topics`
    partition: npt.NDArray[np.int32]
    status: Bytes
    rule: Bytes  # what decided, a `Rule`
    filled: npt.NDArray[np.uint16]  # commits in the window; 0: never committed to
    complete: Floats
    current_lag: Ints
    start: Edge
    end: Edge
    owner: npt.NDArray[np.int32]  # places in `Verdicts.owners`
    client: npt.NDArray[np.int32]
    lowest_end: Ints  # the lowest log end still remembered


@dataclass(frozen=True)
class GroupVerdicts:
    """A line for each group, sorted by name."""

    first: Ints  # its partitions are the lines from first[i] to before first[i + 1]
    as_of_ms: Ints  # it is judged as it was then: later commits may not have been read
    status: Bytes
    complete: Floats
    partition_count: Ints
    total_lag: Ints
    max_lag_line: Ints  # the first partition with the greatest lag
    last_commit_ms: Ints


@dataclass(frozen=True)
class Verdicts:
    """The judgement of one moment over one cluster. It owns its arrays: nothing changes them."""

    now_s: int  # when they were judged; nothing is judged as of later
    names: tuple[str, ...]  # of the groups, sorted
    topics: tuple[str, ...]
    owners: tuple[str, ...]  # names of owners and of clients; 0 is nobody
    groups: GroupVerdicts
    partitions: PartitionVerdicts

    def line(self, group: str) -> int | None:
        """Where a group stands in `names` and `groups`; None when there is no such group."""
        at = bisect_left(self.names, group)
        return at if at < len(self.names) and self.names[at] == group else None
