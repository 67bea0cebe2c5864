"""Every operation: path, parameters, answer. Handlers and documentation are made from them."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from warren.serve.http.answers import Answer, Request, Stream
from warren.serve.http.routes import Handler
from warren.serve.http.site import Site
from warren.serve.v4 import (
    all_groups,
    all_past,
    changes,
    explain,
    group_past,
    groups,
    parameters,
    scale,
    shapes,
    topic_shapes,
    topics,
)
from warren.serve.v4.lines import starting
from warren.serve.v4.parameters import problem

Work = Callable[[Site, Any], object]


class Operation(NamedTuple):
    path: str
    summary: str
    query: type[parameters.Query]
    answer: type[msgspec.Struct]
    work: Work  # returns the answer, a Stream, or the reason for a 404; or a coroutine of these


OPERATIONS = [
    Operation(
        "/v4/groups",
        "All groups of all clusters: filtered, sorted, in pages.",
        parameters.AllGroups,
        shapes.Groups,
        groups.all_groups,
    ),
    Operation(
        "/v4/overview",
        "All groups of all clusters at once, in columns.",
        parameters.Nothing,
        shapes.Overview,
        all_groups.overview,
    ),
    Operation(
        "/v4/group",
        "One group with its partitions and members.",
        parameters.OneGroup,
        shapes.Group,
        groups.one_group,
    ),
    Operation(
        "/v4/others",
        "Groups of a cluster without a verdict: share groups, and those that have no commits.",
        parameters.OneCluster,
        shapes.OtherGroups,
        groups.others,
    ),
    Operation(
        "/v4/partition",
        "One partition of a group with every commit of its window.",
        parameters.OnePartition,
        shapes.Partition,
        groups.one_partition,
    ),
    Operation(
        "/v4/scale",
        "How much another member of a group could help with: one number for an autoscaler.",
        parameters.OneGroup,
        shapes.Scale,
        scale.scale,
    ),
    Operation(
        "/v4/windows",
        "Every commit in the windows of a group, in columns.",
        parameters.OneGroup,
        shapes.Windows,
        groups.windows,
    ),
    Operation(
        "/v4/topics",
        "All topics of all clusters, and who reads them.",
        parameters.AllTopics,
        topic_shapes.Topics,
        topics.topics,
    ),
    Operation(
        "/v4/topic",
        "One topic: its log ends, and the groups that read it.",
        parameters.OneTopic,
        topic_shapes.Topic,
        topics.topic,
    ),
    Operation(
        "/v4/explain",
        "Why a group has its status: the rule, the numbers it saw, a sentence.",
        parameters.Why,
        shapes.Explanation,
        explain.explain,
    ),
    Operation(
        "/v4/changes",
        "The last changes of status, the newest first.",
        parameters.SomeChanges,
        shapes.Changes,
        changes.changes,
    ),
    Operation(
        "/v4/history",
        "One group over time: lag, status, incidents, partitions. 404 if no history is kept, or "
        "nothing of the group.",
        parameters.OneHistory,
        group_past.GroupHistory,
        group_past.history,
    ),
    Operation(
        "/v4/history/progress",
        "How far a `/v4/history` is that was given a ticket.",
        parameters.OneReading,
        group_past.HistoryReading,
        group_past.progress,
    ),
    Operation(
        "/v4/report",
        "How all groups fared over a time: the worst, incidents, topics. 404 if no history is "
        "kept.",
        parameters.OneReport,
        all_past.GroupsReport,
        all_past.report,
    ),
]


def handler(operation: Operation) -> Handler:
    def handle(site: Site, request: Request) -> Answer | Stream | Awaitable[Answer]:
        query = parameters.parse(request.query, operation.query)
        if isinstance(query, str):
            return problem(site, 400, query)
        answer = operation.work(site, query)
        if inspect.isawaitable(answer):
            return _await_answer(site, answer)
        return answer if isinstance(answer, Stream) else _as_answer(site, answer)

    return handle


async def _await_answer(site: Site, work: Awaitable[object]) -> Answer:
    return _as_answer(site, await work)


def _as_answer(site: Site, answer: object) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, str):
        progress = starting(site.view)  # what is missing may not have been read yet
        return problem(site, 404, f"{answer}. {progress.rstrip('.')}" if progress else answer)
    return site.raw(200, answer)
