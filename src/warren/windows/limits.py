"""How much may be held, and what is left out when there is more."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warren.windows.names import Names

NO_ROOM = "no room"  # why commits of new groups or partitions are dropped


class Limits(NamedTuple):
    """How many a cluster may have: whoever may write to Kafka must not fill our memory."""

    groups: float = math.inf
    topics: float = math.inf
    partitions: float = math.inf  # of groups; one that nobody commits to counts as well


NO_LIMITS = Limits()


def fitting(
    ends: pa.Table, counts: Mapping[str, int], known: Names, limit: float
) -> tuple[pa.Table, Mapping[str, int]]:
    """Of LOG_ENDS and of all topics what there is room for; known topics come first."""
    if len(counts) <= limit:
        return ends, counts
    known_first = sorted(counts, key=lambda topic: known.find(topic) < 0)
    few = {topic: counts[topic] for topic in known_first[: int(limit)]}
    return ends.filter(pc.is_in(ends["topic"], pa.array([*few], ends["topic"].type))), few
