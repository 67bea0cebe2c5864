"""What of a board is not arrays."""

from collections.abc import Mapping

import msgspec


class ClusterFacts(msgspec.Struct):
    name: str
    now_s: int  # when it was judged
    intervals: int
    idle: dict[str, list[tuple[str, str]]] = {}  # members without partitions: owner, client id


class Facts(msgspec.Struct):
    moment_ms: int
    clusters: list[ClusterFacts]
    health: Mapping[str, object]
    process: dict[str, float]  # the pipeline's, for /metrics
