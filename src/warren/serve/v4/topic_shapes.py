"""The shapes of the answers about topics."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warren.serve.v4.measured import Age, MeasuredTopic, Until
from warren.serve.v4.shapes import Moment, PartitionState


class TopicLine(msgspec.Struct):
    """A topic, and the groups that read it. Null: not known, or nobody reads it."""

    cluster: str
    topic: str
    partitions: int
    rate: Annotated[float | None, Meta(description="Messages a second by which it grows.")]
    groups: int
    worst: Annotated[
        PartitionState | None, Meta(description="The worst status of a group's partition.")
    ]
    max_lag: Annotated[int | None, Meta(description="The greatest total lag of a group.")]
    age: Annotated[Age, Meta(description="The greatest of an unread record, of any group.")]
    retention_s: Annotated[
        Until,
        Meta(description="Older records are deleted. `never`: not for their age. Null: not known."),
    ]


class Topics(msgspec.Struct):
    board: Moment
    topics: list[str]
    lines: Annotated[list[TopicLine], Meta(description="The same topics, in the same order.")]


class TopicGroup(MeasuredTopic):
    group: str
    status: PartitionState
    total_lag: int
    lags: Annotated[list[int | None], Meta(description="By partition; null: never committed.")]


class Topic(msgspec.Struct):
    board: Moment
    cluster: str
    topic: str
    log_ends: Annotated[list[int | None], Meta(description="By partition; null: not known.")]
    rates: Annotated[
        list[float | None],
        Meta(
            description="Messages a second by which each partition grew in the last minute or "
            "so; null: its end was read once only."
        ),
    ]
    groups: list[TopicGroup]
    log_starts: Annotated[
        list[int | None],
        Meta(description="By partition; null: not known. Only of topics that groups read."),
    ]
    retention_s: Annotated[
        Until,
        Meta(description="Older records are deleted. `never`: not for their age. Null: not known."),
    ]
    retention_bytes: Annotated[
        int | None,
        Meta(description="A partition holds no more. Null: there is no limit, or it is not known."),
    ]
    compacted: Annotated[bool | None, Meta(description="Null: not known.")]
    lacks: Annotated[list[str], Meta(description="Why the configuration is not known.")]
