"""The shapes of the answers."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

GroupState = Literal["OK", "WARN", "ERR"]
PartitionState = Literal["OK", "WARN", "STOP", "STALL", "REWIND"]


class Moment(msgspec.Struct):
    """What an answer is valid for."""

    moment_ms: Annotated[int, Meta(description="0: nothing has been judged yet.")]
    positions: Annotated[
        dict[str, dict[str, int]],
        Meta(description="By consumer section and partition of its offsets topic: next to read."),
    ]
    behind_s: Annotated[
        float | None,
        Meta(
            description="Age of the moment up to which all commits have been read; groups are "
            "judged as of then. Null: not known yet."
        ),
    ] = None


class MaxLag(msgspec.Struct):
    topic: str
    partition: int
    lag: int


class GroupLine(msgspec.Struct):
    cluster: str
    group: str
    status: GroupState
    complete: Annotated[float, Meta(description="Share of the partitions whose window is full.")]
    partition_count: int
    total_lag: int
    max_lag: MaxLag | None
    last_commit_ms: int
    as_of_ms: Annotated[
        int,
        Meta(
            description="All its commits up to then have been read, and it is judged as it was "
            "then. 0: not known yet."
        ),
    ] = 0


class Groups(msgspec.Struct):
    board: Moment
    total: Annotated[int, Meta(description="Groups that match; `groups` is a page of them.")]
    groups: list[GroupLine]


class ClusterColumns(msgspec.Struct):
    """The groups of a cluster, sorted by name: a list for each property."""

    name: str
    problem: Annotated[str, Meta(description="Why its brokers cannot be read; empty: they can.")]
    group: list[str]
    status: list[GroupState]
    worst: Annotated[list[PartitionState], Meta(description="The worst status of its partitions.")]
    total_lag: list[int]
    partition_count: list[int]
    max_lag_topic: list[str]
    max_lag_partition: list[int]
    max_lag: list[int]
    last_commit_ms: list[int]
    owner: Annotated[
        list[str], Meta(description="The owner of the partition with the greatest lag.")
    ]
    trend: Annotated[
        list[str],
        Meta(
            description="The total lag at the last commits and now, oldest first: digits from 0 to "
            "z, z being the greatest of them. Empty when there are too many partitions."
        ),
    ]
    topic_names: list[str] = []
    topics: Annotated[
        list[list[int]], Meta(description="The topics each group reads: places in `topic_names`.")
    ] = []
    owner_names: list[str] = []
    owners: Annotated[
        list[list[int]], Meta(description="The owners of its partitions: places in `owner_names`.")
    ] = []


class Overview(msgspec.Struct):
    board: Moment
    ready: Annotated[bool, Meta(description="The offsets topics have been read to their end.")]
    clusters: list[ClusterColumns]
    starting: Annotated[
        str, Meta(description="A sentence on how far reading is; empty when it is ready.")
    ] = ""


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
        float | None,
        Meta(description="Messages a second by which the lag grew from the window's start to now."),
    ]
    commit_rate: Annotated[
        float | None,
        Meta(
            description="Messages a second that were committed since the window's start; a silence "
            "longer than usual counts too."
        ),
    ]
    last_commit_age_s: float | None
    owner: str
    client_id: str
    start: Commit | None
    end: Commit | None


class Member(msgspec.Struct):
    owner: str
    client_id: str
    partitions: Annotated[int, Meta(description="How many it reads; 0: it is idle.")]


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


class Window(msgspec.Struct):
    """Commits, oldest first."""

    topic: str
    partition: int
    committed_ms: list[int]
    offset: list[int]
    lag: Annotated[list[int | None], Meta(description="Null: not known.")]
    status: Annotated[
        list[PartitionState | None],
        Meta(description="Just after each commit; null: older commits decided, which are gone."),
    ]


class Windows(msgspec.Struct):
    board: Moment
    cluster: str
    group: str
    now_ms: Annotated[int, Meta(description="The time the verdict is for.")]
    partitions: list[Window]


class Topics(msgspec.Struct):
    board: Moment
    topics: list[str]


class TopicGroup(msgspec.Struct):
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


class Reason(msgspec.Struct):
    topic: str
    partition: int
    status: PartitionState
    rule: str
    numbers: Annotated[
        dict[str, float | None], Meta(description="What the rule saw; null: not known.")
    ]
    why: Annotated[str, Meta(description="The reason in one sentence.")]
    change: Annotated[str, Meta(description="What would change the verdict.")]


class Explanation(msgspec.Struct):
    board: Moment
    cluster: str
    group: str
    status: GroupState
    why: str
    change: Annotated[str, Meta(description="What would change the verdict.")]
    reasons: list[Reason]


class PipelineAnswer(msgspec.Struct):
    """An answer of the pipeline's process, which a worker passes on."""

    code: int
    answer: msgspec.Raw


class Problem(msgspec.Struct):
    board: Moment
    error: bool
    message: str
