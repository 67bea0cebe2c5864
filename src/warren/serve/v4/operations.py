"""Every operation: where, what it is told, what it answers. Handlers and documentation follow."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from warren.serve.answers import Answer, Request, Stream
from warren.serve.routes import Handler
from warren.serve.site import Site
from warren.serve.v4 import explain, groups, history, overview, queries, shapes, topics, windows
from warren.serve.v4.lines import starting
from warren.serve.v4.problems import problem

Work = Callable[[Site, Any], object]


class Operation(NamedTuple):
    path: str
    summary: str
    query: type[queries.Query]
    answer: type[msgspec.Struct]
    work: Work  # gives the answer, a Stream, or the reason why there is none; or does so later


OPERATIONS = [
    Operation(
        "/v4/groups",
        "All groups of all clusters: filtered, sorted, in pages.",
        queries.AllGroups,
        shapes.Groups,
        groups.all_groups,
    ),
    Operation(
        "/v4/overview",
        "All groups of all clusters at once, in columns.",
        queries.Nothing,
        shapes.Overview,
        overview.overview,
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
        "/v4/windows",
        "Every commit in the windows of a group, in columns.",
        queries.OneGroup,
        shapes.Windows,
        windows.windows,
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
    Operation(
        "/v4/history",
        "One group over time: lag, status, incidents, partitions. 404 if no history is kept, or "
        "nothing of the group.",
        queries.OneHistory,
        history.GroupHistory,
        history.history,
    ),
]


def handler(operation: Operation) -> Handler:
    def handle(site: Site, request: Request) -> Answer | Stream | Awaitable[Answer]:
        query = queries.parsed(request.query, operation.query)
        if isinstance(query, str):
            return problem(site, 400, query)
        answer = operation.work(site, query)
        if inspect.isawaitable(answer):
            return _later(site, answer)
        return answer if isinstance(answer, Stream) else _answered(site, answer)

    return handle


async def _later(site: Site, work: Awaitable[object]) -> Answer:
    return _answered(site, await work)


def _answered(site: Site, answer: object) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, str):
        goes_on = starting(site.view)  # what is not there may come
        return problem(site, 404, f"{answer}. {goes_on.rstrip('.')}" if goes_on else answer)
    return site.raw(200, answer)
