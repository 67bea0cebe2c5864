"""The parameters of requests, and the answer when something is wrong."""

from typing import Annotated, Literal
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from warren.model.history_question import STEPS
from warren.serve.http.answers import Answer
from warren.serve.http.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.shapes import GroupState, Problem


def problem(site: Site, code: int, message: str) -> Answer:
    return site.raw(code, Problem(moment(site.view), error=True, message=message))


Cluster = Annotated[str, Meta(description="Name of a cluster section.")]
GroupName = Annotated[str, Meta(description="Name of a consumer group, any characters.")]
TopicName = Annotated[str, Meta(description="Name of a topic.")]
Order = Literal[
    "name", "lag", "-lag", "age", "-age", "status", "-status", "last_commit", "-last_commit"
]
HIGHEST = 2**53  # beyond it, JSON's numbers are not exact everywhere


class Query(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of an operation."""


class Nothing(Query):
    """No parameters."""


class Listening(Query, kw_only=True):
    boards: Annotated[
        bool, Meta(description="Send an event for every board, also when no status has changed.")
    ] = False


class AllGroups(Query, kw_only=True):
    cluster: Annotated[str, Meta(description="Only of this cluster.")] = ""
    status: Annotated[GroupState | None, Meta(description="Only with this status.")] = None
    match: Annotated[
        str, Meta(description="Only with this in the name; upper and lower case are equal.")
    ] = ""
    search: Annotated[
        str,
        Meta(
            description="Only if each of these words is in the name, in a topic or in an owner of "
            "its partitions, as the page searches."
        ),
    ] = ""
    min_lag: Annotated[int, Meta(ge=0, le=HIGHEST, description="Only with this lag or more.")] = 0
    min_age: Annotated[
        float,
        Meta(ge=0, le=HIGHEST, description="Only with an unread record of so many seconds."),
    ] = 0
    sort: Annotated[Order, Meta(description="`-` is descending; ties are sorted by name.")] = "name"
    offset: Annotated[int, Meta(ge=0, le=HIGHEST, description="Groups to skip.")] = 0
    limit: Annotated[int, Meta(ge=1, le=10_000, description="Groups to return.")] = 100
    format: Annotated[
        Literal["json", "ndjson"],
        Meta(description="`ndjson`: a line for each group that matches, no pages."),
    ] = "json"


class OneGroup(Query, kw_only=True):
    cluster: Cluster
    group: GroupName


class OnePartition(Query, kw_only=True):
    cluster: Cluster
    group: GroupName
    topic: TopicName
    partition: Annotated[int, Meta(ge=0, le=2**31 - 1)]


class SomeChanges(Query, kw_only=True):
    cluster: Annotated[str, Meta(description="Only of this cluster.")] = ""
    group: Annotated[str, Meta(description="Only of the group with this name.")] = ""
    limit: Annotated[int, Meta(ge=1, le=500, description="Changes to return.")] = 100


class SomeSilences(Query, kw_only=True):
    cluster: Annotated[str, Meta(description="With `group`: its cluster.")] = ""
    group: Annotated[str, Meta(description="Only those that name this group or its cluster.")] = ""
    groups: Annotated[bool, Meta(description="Also which groups are silenced now.")] = False


class OneCluster(Query, kw_only=True):
    cluster: Cluster


class AllTopics(Query, kw_only=True):
    cluster: Annotated[str, Meta(description="Only of this cluster.")] = ""
    match: Annotated[
        str, Meta(description="Only with this in the name; upper and lower case are equal.")
    ] = ""


class OneTopic(Query, kw_only=True):
    cluster: Cluster
    topic: TopicName


class Why(Query, kw_only=True):
    cluster: Cluster
    group: GroupName
    all: Annotated[bool, Meta(description="Explain good partitions too.")] = False


Since = Annotated[
    str, Meta(description="`90m`, `24h`, `7d` ago; a date or time; milliseconds since 1970.")
]
UntilWhen = Annotated[str, Meta(description="The same; now if not given.")]


class OneHistory(Query, kw_only=True):
    cluster: Cluster
    group: GroupName
    topic: Annotated[str, Meta(description="Only what the group reads of this topic.")] = ""
    partition: Annotated[
        Annotated[int, Meta(ge=0, le=2**31 - 1)] | None,
        Meta(description="Only this partition of `topic`."),
    ] = None
    since: Since = "24h"
    until: UntilWhen = ""
    steps: Annotated[int, Meta(ge=1, le=STEPS, description="Steps of the curve, at most.")] = STEPS
    partitions: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            description="Partitions in the heat map, those that lag most; 0: no heat map.",
        ),
    ] = 200
    ticket: Annotated[
        str,
        Meta(
            max_length=100, description="Any text; `/v4/history/progress` knows the request by it."
        ),
    ] = ""


class OneReading(Query, kw_only=True):
    ticket: Annotated[str, Meta(min_length=1, max_length=100, description="Of `/v4/history`.")]


class OneReport(Query, kw_only=True):
    since: Since = "24h"
    until: UntilWhen = ""
    cluster: Annotated[str, Meta(description="Only of this cluster.")] = ""
    group: Annotated[str, Meta(description="Only of this group.")] = ""
    top: Annotated[int, Meta(ge=1, le=10_000, description="Rows of each table, at most.")] = 20


def parse(query: str, kind: type[Query]) -> Query | str:
    """The parameters, or what is wrong with them."""
    try:
        pairs = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=50))
        found = msgspec.convert(pairs, kind, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        return str(error)
    # A text "null" is converted to None, which only a parameter that is left out has.
    nulls = [name for name in pairs if getattr(found, name) is None]
    return f"Invalid value - at `$.{nulls[0]}`" if nulls else found
