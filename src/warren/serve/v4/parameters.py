"""The parameters of requests, and the answer when something is wrong."""

from typing import Annotated, Literal
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from warren.serve.http.answers import Answer
from warren.serve.http.site import Site
from warren.serve.v4.lines import moment
from warren.serve.v4.shapes import GroupState, Problem


def problem(site: Site, code: int, message: str) -> Answer:
    return site.raw(code, Problem(moment(site.view), error=True, message=message))


Cluster = Annotated[str, Meta(description="Name of a cluster section.")]
GroupName = Annotated[str, Meta(description="Name of a consumer group, any characters.")]
TopicName = Annotated[str, Meta(description="Name of a topic.")]
Order = Literal["name", "lag", "-lag", "status", "-status", "last_commit", "-last_commit"]
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
    min_lag: Annotated[int, Meta(ge=0, le=HIGHEST, description="Only with this lag or more.")] = 0
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


class OneCluster(Query, kw_only=True):
    cluster: Cluster


class OneTopic(Query, kw_only=True):
    cluster: Cluster
    topic: TopicName


class Why(Query, kw_only=True):
    cluster: Cluster
    group: GroupName
    all: Annotated[bool, Meta(description="Explain good partitions too.")] = False


class OneHistory(Query, kw_only=True):
    cluster: Cluster
    group: GroupName
    since: Annotated[
        str,
        Meta(description="`90m`, `24h`, `7d` ago; a date or time; milliseconds since 1970."),
    ] = "24h"
    until: Annotated[str, Meta(description="The same; now if not given.")] = ""
    partitions: Annotated[
        int,
        Meta(
            ge=0,
            le=1000,
            description="Partitions in the heat map, those that lag most; 0: no heat map.",
        ),
    ] = 200


def parse(query: str, kind: type[Query]) -> Query | str:
    """The parameters, or what is wrong with them."""
    try:
        pairs = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=50))
        return msgspec.convert(pairs, kind, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        return str(error)
