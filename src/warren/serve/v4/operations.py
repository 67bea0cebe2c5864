"""Every operation: where, what it is told, what it answers. Handlers and documentation follow."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from warren.serve.answers import Answer, Request, Stream
from warren.serve.routes import Handler
from warren.serve.site import Site
from warren.serve.v4 import explain, groups, queries, shapes, topics

Work = Callable[[Site, Any], object]


class Operation(NamedTuple):
    path: str
    summary: str
    query: type[queries.Query]
    answer: type[msgspec.Struct]
    work: Work  # gives the answer, a Stream, or the reason why there is none


OPERATIONS = [
    Operation(
        "/v4/groups",
        "All groups of all clusters: filtered, sorted, in pages.",
        queries.AllGroups,
        shapes.Groups,
        groups.all_groups,
    ),
    Operation(
        "/v4/group",
        "One group with its partitions and members.",
        queries.OneGroup,
        shapes.Group,
        groups.one_group,
    ),
    Operation(
        "/v4/partition",
        "One partition of a group with every commit of its window.",
        queries.OnePartition,
        shapes.Partition,
        groups.one_partition,
    ),
    Operation(
        "/v4/topics", "The topics of a cluster.", queries.OneCluster, shapes.Topics, topics.topics
    ),
    Operation(
        "/v4/topic",
        "One topic: its log ends, and the groups that read it.",
        queries.OneTopic,
        shapes.Topic,
        topics.topic,
    ),
    Operation(
        "/v4/explain",
        "Why a group has its status: the rule, the numbers it saw, a sentence.",
        queries.Why,
        shapes.Explanation,
        explain.explain,
    ),
]


def handler(operation: Operation) -> Handler:
    def handle(site: Site, request: Request) -> Answer | Stream:
        query = queries.parsed(request.query, operation.query)
        if isinstance(query, str):
            return site.raw(400, shapes.Problem(error=True, message=query))
        answer = operation.work(site, query)
        if isinstance(answer, str):
            return site.raw(404, shapes.Problem(error=True, message=answer))
        return answer if isinstance(answer, Stream) else site.raw(200, answer)

    return handle
