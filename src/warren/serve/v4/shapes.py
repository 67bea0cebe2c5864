"""The shapes of the answers."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warren.model.query_facts import QueryFacts
from warren.serve.board_file.change_log import StatusChange
from warren.serve.v4.measured import (
    Lag,
    Measured,
    MeasuredColumns,
    MeasuredGroup,
)
from warren.serve.v4.second_opinion import Evidence, GroupOpinions, PartitionOpinions

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


class TopicLife(msgspec.Struct):
    topic: str
    is_subscribed: Annotated[
        bool | None,
        Meta(description="Whether some member subscribes to it or reads it; null: not known."),
    ]
    last_owners: Annotated[
        list[str],
        Meta(description="By partition: who reads it, or read it last; empty: nobody yet."),
    ]


GroupKind = Literal["none", "classic", "consumer", "share", "streams"]


class BriefLife(msgspec.Struct):
    """What the records about a group say. Moments are by the clock of the broker."""

    kind: Annotated[
        GroupKind,
        Meta(description="Its protocol; none: only its commits are known, as with assign()."),
    ]
    members: int
    static_members: Annotated[int, Meta(description="Those with a group.instance.id.")]
    generations_per_minute: Annotated[
        float, Meta(description="How often it rebalances; older generations count less.")
    ]
    churn_per_minute: Annotated[
        float, Meta(description="How many members come or leave; likewise.")
    ]
    empty_since_ms: Annotated[
        int | None, Meta(description="Null: it has members, or nothing is known of them.")
    ]
    rebalanced_ms: Annotated[
        int | None, Meta(description="When its generation began; null: not known.")
    ]


class Life(BriefLife):
    """The same, and what it says of its topics."""

    topics: list[TopicLife]


class GroupLine(MeasuredGroup):
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
    judgement: GroupOpinions | msgspec.UnsetType = msgspec.UNSET
    life: BriefLife | msgspec.UnsetType = msgspec.UNSET


class Groups(msgspec.Struct):
    board: Moment
    total: Annotated[int, Meta(description="Groups that match; `groups` is a page of them.")]
    groups: list[GroupLine]


class ClusterColumns(MeasuredColumns):
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
            description="The total lag at the last commits and now, oldest first: digits from 0, "
            "the least of them, to z, the greatest. Empty when there are too many partitions."
        ),
    ]
    topic_names: list[str] = msgspec.field(default_factory=list)
    topics: Annotated[
        list[list[int]], Meta(description="The topics each group reads: places in `topic_names`.")
    ] = msgspec.field(default_factory=list)
    owner_names: list[str] = msgspec.field(default_factory=list)
    owners: Annotated[
        list[list[int]], Meta(description="The owners of its partitions: places in `owner_names`.")
    ] = msgspec.field(default_factory=list)


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


class PartitionLine(Measured):
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
    judgement: PartitionOpinions | msgspec.UnsetType = msgspec.UNSET
    last_owner: Annotated[
        str | msgspec.UnsetType,
        Meta(description="Who read it last, where nobody does; absent: nobody is known."),
    ] = msgspec.UNSET


class Member(msgspec.Struct):
    owner: str
    client_id: str
    partitions: Annotated[int, Meta(description="How many it reads; 0: it is idle.")]


class OtherLine(msgspec.Struct):
    group: str
    kind: str
    members: int
    static_members: int
    generation: int | None
    empty_since_ms: int | None
    topics: Annotated[list[str], Meta(description="That its members subscribe to, if known.")]


class OtherGroups(msgspec.Struct):
    board: Moment
    groups: Annotated[list[OtherLine], Meta(description="At most 10,000.")]


class Since(msgspec.Struct):
    """Since when a group has its status."""

    status_ms: int
    watched_ms: Annotated[
        int,
        Meta(
            description="Since when this Warren watches. If the two are equal, the group may have "
            "had its status for longer."
        ),
    ]
    rebalances_ms: Annotated[
        list[int], Meta(description="When its last generations began, as far as they were seen.")
    ] = []


class Group(msgspec.Struct):
    board: Moment
    summary: GroupLine
    generation: int | None
    members: list[Member]
    partitions: list[PartitionLine]
    life: Life | None = None
    since: Since | None = None
    query: Annotated[
        QueryFacts | None,
        Meta(description="What keeps its offsets, if it keeps them itself, as a Spark query does."),
    ] = None
    about_query: Annotated[list[str], Meta(description="The same in sentences.")] = []


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


class Changes(msgspec.Struct):
    """Changes of status since this Warren started, the newest first."""

    board: Moment
    watched_ms: Annotated[
        int | None, Meta(description="Since when it watches; null: it is not ready yet.")
    ]
    complete_since_ms: Annotated[
        int | None,
        Meta(
            description="Every later change is remembered, and older ones may be forgotten. Null: "
            "as `watched_ms`."
        ),
    ]
    changes: list[StatusChange]


class Scale(msgspec.Struct):
    """What an autoscaler asks for."""

    board: Moment
    cluster: str
    group: str
    value: Annotated[
        int,
        Meta(
            ge=0,
            description="Lag that another member could help with: no markers, no partition that "
            "stands still. 0 when there is nothing to read.",
        ),
    ]
    lag: Lag
    partitions: Annotated[
        int, Meta(description="How many it reads. More members than that have nothing to do.")
    ]


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
    since_ms: Annotated[
        int | msgspec.UnsetType,
        Meta(description="Since when; only of Warren's evaluator, when it decides."),
    ] = msgspec.UNSET
    rhythm: Annotated[
        str | msgspec.UnsetType, Meta(description="What was learned, if anything was.")
    ] = msgspec.UNSET
    evidence: Annotated[
        Evidence | msgspec.UnsetType,
        Meta(description="The numbers that decided, if Warren's evaluator does, and it is not OK."),
    ] = msgspec.UNSET
    last_owner: Annotated[
        str | msgspec.UnsetType,
        Meta(description="Who read it last, where nobody does; absent: nobody is known."),
    ] = msgspec.UNSET
    second_opinion: Annotated[
        str | msgspec.UnsetType,
        Meta(description="What the other evaluator would say, and why, where it differs."),
    ] = msgspec.UNSET


class Explanation(msgspec.Struct):
    board: Moment
    cluster: str
    group: str
    status: GroupState
    why: str
    change: Annotated[str, Meta(description="What would change the verdict.")]
    reasons: list[Reason]
    second_opinion: Annotated[
        str | msgspec.UnsetType,
        Meta(
            description="Where the evaluators differ: what the other one would say of the "
            "partition that is worst for it, and why."
        ),
    ] = msgspec.UNSET
    life: Annotated[
        BriefLife | msgspec.UnsetType, Meta(description="Absent: the board does not say.")
    ] = msgspec.UNSET


class PipelineAnswer(msgspec.Struct):
    """An answer of the pipeline's process, which a worker passes on."""

    code: int
    answer: msgspec.Raw


class Problem(msgspec.Struct):
    board: Moment
    error: bool
    message: str
