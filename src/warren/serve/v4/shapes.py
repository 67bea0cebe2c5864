"""What the answers look like."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

GroupState = Literal["OK", "WARN", "ERR"]
PartitionState = Literal["OK", "WARN", "STOP", "STALL", "REWIND"]


class Moment(msgspec.Struct):
    """What an answer is valid for."""

    moment_ms: int
    positions: Annotated[
        dict[str, dict[str, int]],
        Meta(description="By consumer section and partition of its offsets topic: next to read."),
    ]


class MaxLag(msgspec.Struct):
    topic: str
    partition: int
    lag: int


class GroupLine(msgspec.Struct):
    cluster: str
    group: str
    status: GroupState
    complete: Annotated[float, Meta(description="Part of the partitions whose window is full.")]
    partition_count: int
    total_lag: int
    max_lag: MaxLag | None
    last_commit_ms: int


class Groups(msgspec.Struct):
    board: Moment
    total: Annotated[int, Meta(description="Groups that match; `groups` is a page of them.")]
    groups: list[GroupLine]


class Commit(msgspec.Struct):
    offset: int
    committed_ms: int
    observed_ms: int
    lag: int | None


class PartitionLine(msgspec.Struct):
    topic: str
    partition: int
    status: PartitionState
    rule: Annotated[str, Meta(description="What decided; see /v4/explain.")]
    complete: float
    current_lag: int
    lag_trend: Annotated[
        float | None, Meta(description="Messages a second by which the lag grew over the window.")
    ]
    commit_rate: Annotated[
        float | None, Meta(description="Messages a second that were committed over the window.")
    ]
    last_commit_age_s: float | None
    owner: str
    client_id: str
    start: Commit | None
    end: Commit | None


class Member(msgspec.Struct):
    owner: str
    client_id: str
    partitions: int


class Group(msgspec.Struct):
    board: Moment
    summary: GroupLine
    generation: int | None
    members: list[Member]
    partitions: list[PartitionLine]


class Partition(msgspec.Struct):
    board: Moment
    cluster: str
    group: str
    summary: PartitionLine
    window: list[Commit]


class Topics(msgspec.Struct):
    board: Moment
    topics: list[str]


class TopicGroup(msgspec.Struct):
    group: str
    status: PartitionState
    total_lag: int


class Topic(msgspec.Struct):
    board: Moment
    cluster: str
    topic: str
    log_ends: Annotated[list[int | None], Meta(description="By partition; null: not known.")]
    groups: list[TopicGroup]


class Reason(msgspec.Struct):
    topic: str
    partition: int
    status: PartitionState
    rule: str
    numbers: Annotated[
        dict[str, float | None], Meta(description="What the rule saw; null: not known.")
    ]
    why: Annotated[str, Meta(description="The reason in one sentence.")]


class Explanation(msgspec.Struct):
    board: Moment
    cluster: str
    group: str
    status: GroupState
    why: str
    reasons: list[Reason]


class Problem(msgspec.Struct):
    error: bool
    message: str
