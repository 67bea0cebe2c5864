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
    """Of LOG_ENDS and of all topics what there is room for; known topics stay."""
    if len(counts) <= limit:
        return ends, counts
    new = sorted(topic for topic in counts if known.find(topic) < 0)
    no_room = {*new[int(max(limit - (len(counts) - len(new)), 0)) :]}
    few = {topic: count for topic, count in counts.items() if topic not in no_room}
    return ends.filter(pc.is_in(ends["topic"], pa.array([*few], ends["topic"].type))), few
