"""The history of one group. The pipeline's process has it; workers request it from there."""

import time
from typing import Annotated

import msgspec
from msgspec import Meta

from warren.model import period
from warren.model.history_question import HistoryQuestion, Progress
from warren.serve.http.answers import Answer
from warren.serve.http.channel import HistoryProgress, RecentHistory, TableHistory
from warren.serve.http.site import ActionFailed, Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.parameters import OneHistory, OneReading, problem
from warren.serve.v4.shapes import GroupState, PartitionState

FAILED = 500
NOT_KEPT = "history is not kept; a section [history] in the configuration turns it on"


class Incident(msgspec.Struct):
    """A time during which a group was never OK."""

    began_ms: int
    ended_ms: Annotated[int | None, Meta(description="Null: it had not ended at the last moment.")]
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
    """Steps of equal length; null where nothing was kept."""

    cluster: str
    group: str
    since_ms: int
    until_ms: int
    moments: Annotated[int, Meta(description="How many were kept of the group in the period.")]
    step_ms: int
    times_ms: Annotated[list[int], Meta(description="Where each step begins.")]
    lag: Annotated[list[int | None], Meta(description="The greatest total lag in the step.")]
    max_lag: Annotated[list[int | None], Meta(description="The greatest of one partition.")]
    age_s: Annotated[
        list[float | None],
        Meta(description="The greatest age of the oldest unread record; null too if not known."),
    ]
    status: Annotated[list[GroupState | None], Meta(description="The worst in the step.")]
    offset: Annotated[
        list[int | None], Meta(description="Sum of the committed offsets, at the step's end.")
    ]
    incidents: list[Incident]
    heat_map: HeatMap


class GroupHistory(History, kw_only=True):
    """A history, and the board at the time of the request."""

    board: shapes.Moment


class HistoryReading(msgspec.Struct):
    """How far a `/v4/history` that takes long is; null: it has not begun, or is answered."""

    board: shapes.Moment
    share: Annotated[float | None, Meta(description="From 0 to 1, of what is to be read.")]
    moments: Annotated[int | None, Meta(description="Of the group, read so far.")]


async def progress(site: Site, query: OneReading) -> HistoryReading:
    known = msgspec.json.decode(
        await site.call(HistoryProgress(query.ticket)) or "null", type=Progress | None
    )
    return HistoryReading(moment(site.view), *(known or (None, None)))


async def history(site: Site, query: OneHistory) -> Answer | str:
    if not site.settings.keeps_history:
        return NOT_KEPT
    if query.cluster not in site.settings.clusters:
        return "there is no such cluster"
    try:
        chosen = period.between(query.since, query.until, int(time.time() * 1000))
    except ValueError as error:
        return problem(site, 400, str(error))
    if query.partition is not None and not query.topic:
        return problem(site, 400, "`partition` needs `topic`")
    question = HistoryQuestion(
        query.cluster,
        query.group,
        chosen,
        query.partitions,
        topic=query.topic,
        partition=query.partition,
        steps=query.steps,
        ticket=query.ticket,
    )
    # Two calls: recent history must not wait behind calls that read the table.
    found = await site.call(RecentHistory(question))
    return passed_on(site, found or await site.call(TableHistory(question)))


def passed_on(site: Site, found: str | None) -> Answer:
    """What the pipeline's process has replied, with the board."""
    answer = msgspec.json.decode(found or "", type=shapes.PipelineAnswer)
    if answer.code == FAILED:  # so that the log has a line with the path
        raise ActionFailed(msgspec.json.decode(answer.answer)["message"])
    board = msgspec.json.encode(moment(site.view))
    # The answer is a JSON object. It may be large, so it is not decoded.
    return site.raw(
        answer.code, msgspec.Raw(b'{"board":' + board + b"," + bytes(answer.answer)[1:])
    )
