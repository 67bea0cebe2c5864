"""How all groups fared over a time: what `warren report` tells, over HTTP."""

import time
from typing import Annotated

import msgspec
from msgspec import Meta

from warren.model import period
from warren.model.history_question import ReportQuestion
from warren.serve.http.answers import Answer
from warren.serve.http.channel import PeriodReport
from warren.serve.http.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.group_past import NOT_KEPT, passed_on
from warren.serve.v4.parameters import OneReport, problem
from warren.serve.v4.shapes import GroupState


class Spread(msgspec.Struct, kw_only=True):
    """Shares of the time in each status, and percentiles of the total lag."""

    ok: float
    warn: float
    err: float
    err_seconds: int
    lag_p50: int
    lag_p95: int
    lag_p99: int
    lag_max: int


class ClusterSpread(Spread, kw_only=True):
    cluster: str
    groups: int


class GroupSpread(Spread, kw_only=True):
    cluster: str
    group: str
    status: Annotated[GroupState, Meta(description="The last.")]
    lag: Annotated[int, Meta(description="The last.")]


class LongIncident(msgspec.Struct):
    cluster: str
    group: str
    began_ms: int
    ended_ms: Annotated[int | None, Meta(description="Null: it had not ended at the last moment.")]
    seconds: int
    status: Annotated[GroupState, Meta(description="The worst.")]
    lag_max: int


class BusyTopic(msgspec.Struct):
    cluster: str
    topic: str
    partitions: int
    messages: int
    per_second: float | None


class Curve(msgspec.Struct):
    name: Annotated[str, Meta(description="A group, or a status.")]
    values: Annotated[list[int | None], Meta(description="By step; null: nothing was kept.")]


class ReportSeries(msgspec.Struct):
    times_ms: Annotated[list[int], Meta(description="Where each step begins.")]
    lags: Annotated[list[Curve], Meta(description="Total lag of the worst groups.")]
    statuses: Annotated[
        dict[str, list[Curve]], Meta(description="By cluster: how many groups had each status.")
    ]


class GroupsReport(msgspec.Struct):
    board: shapes.Moment
    since_ms: int
    until_ms: int
    clusters: list[ClusterSpread]
    groups: Annotated[list[GroupSpread], Meta(description="The worst first.")]
    incidents: Annotated[list[LongIncident], Meta(description="The longest first.")]
    topics: Annotated[list[BusyTopic], Meta(description="The busiest first.")]
    series: ReportSeries


async def report(site: Site, query: OneReport) -> Answer | str:
    if not site.settings.keeps_history:
        return NOT_KEPT
    if query.cluster and query.cluster not in site.settings.clusters:
        return "there is no such cluster"
    try:
        chosen = period.between(query.since, query.until, int(time.time() * 1000))
    except ValueError as error:
        return problem(site, 400, str(error))
    asked = ReportQuestion(chosen, query.cluster, query.group, query.top)
    return passed_on(site, await site.call(PeriodReport(asked)))
