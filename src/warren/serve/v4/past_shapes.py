"""What the answer about a group's past looks like."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warren.serve.v4.shapes import GroupState, PartitionState


class Incident(msgspec.Struct):
    """A time in which a group was not OK without a break."""

    began_ms: int
    ended_ms: Annotated[int | None, Meta(description="Null: it was not over at the last moment.")]
    status: Annotated[GroupState, Meta(description="The worst.")]
    max_lag: Annotated[int, Meta(description="The greatest total lag.")]


class KeptPartition(msgspec.Struct):
    topic: str
    partition: Annotated[int | None, Meta(description="Null: kept by topic.")]
    max_lag: int


class HeatMap(msgspec.Struct):
    """Lines are partitions, sorted by name and number; columns are times."""

    step_ms: int
    times_ms: Annotated[list[int], Meta(description="Where each step begins.")]
    total: Annotated[int, Meta(description="Partitions there are; `partitions` may be fewer.")]
    partitions: list[KeptPartition]
    lag: Annotated[
        list[list[int | None]], Meta(description="The greatest in the step; null: nothing kept.")
    ]
    status: list[list[PartitionState | None]]


class History(msgspec.Struct):
    """Steps of equal length, 500 at most; null where nothing was kept."""

    cluster: str
    group: str
    since_ms: int
    until_ms: int
    moments: Annotated[int, Meta(description="How many were kept of the group in the period.")]
    step_ms: int
    times_ms: Annotated[list[int], Meta(description="Where each step begins.")]
    lag: Annotated[list[int | None], Meta(description="The greatest total lag in the step.")]
    max_lag: Annotated[list[int | None], Meta(description="The greatest of one partition.")]
    status: Annotated[list[GroupState | None], Meta(description="The worst in the step.")]
    offset: Annotated[
        list[int | None], Meta(description="Sum of the committed offsets, at the step's end.")
    ]
    incidents: list[Incident]
    heat_map: HeatMap
