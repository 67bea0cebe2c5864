"""All groups of the chosen clusters: how many are well, how far behind, and which are worst."""

from collections.abc import Iterator

from grafana_foundation_sdk.builders import common
from grafana_foundation_sdk.models import common as shapes
from grafana_foundation_sdk.models.dashboard import Dashboard

from generator.page import many, page, uid
from generator.panels import (
    FULL,
    HALF,
    RECENT,
    AnyPanel,
    Drawing,
    Look,
    coloured_by_status,
    setting,
)
from generator.questions import Source

ABOUT = "Consumer groups of all clusters, as Warren judges them: status, lag, and which are worst."


def overview(source: Source) -> Dashboard:
    draw = Drawing(source)
    panels = [*_now(draw), *_over_time(draw), _groups(draw)]
    if "newest point" in source.asked:
        panels += _delivery(draw)
    return page(source, "overview", ABOUT, [*many(source, "cluster")], panels)


def _now(draw: Drawing) -> Iterator[AnyPanel]:
    statuses = Look("Groups by status", "How many groups are OK, WARN and ERR now.", HALF, 5)
    yield coloured_by_status(draw.numbers("groups by status", statuses))
    lag = Look("Total lag", "Messages that wait for all groups of the clusters.", HALF, 5)
    yield draw.numbers("total lag", lag)


def _over_time(draw: Drawing) -> Iterator[AnyPanel]:
    lag = Look("Lag by cluster", "Messages that wait for the groups of a cluster.")
    yield draw.lines("lag by cluster", lag)
    statuses = Look("Groups by status over time", "How many groups were OK, WARN and ERR.")
    panel = draw.lines("groups by status over time", statuses).fill_opacity(60)
    panel.draw_style(shapes.GraphDrawStyle.BARS)  # a minute without any is a bar less
    stacked = common.StackingConfig().mode(shapes.StackingMode.NORMAL)
    yield coloured_by_status(panel.stacking(stacked))


def _groups(draw: Drawing) -> AnyPanel:
    about = (
        "Every group with its status, its lag and the age of its oldest unread message; a click "
        "shows its partitions. "
        "From Elasticsearch: the worst status and the largest lag of the last five minutes."
    )
    panel = draw.rows(
        "groups", Look("Groups", about, FULL, 12), draw.source.group_words, "status", "lag"
    )
    link = {"title": "Partitions of ${__data.fields.group}", "url": link_to_group(draw.source)}
    panel.override_by_name("age", [setting("unit", "s")])
    return panel.override_by_name("group", [setting("links", [link])]).time_from(RECENT)


def link_to_group(source: Source) -> str:
    return (
        f"/d/{uid(source, 'group')}?var-datasource=${{datasource}}"
        "&var-cluster=${__data.fields.cluster}&var-group=${__data.fields.group}"
        "&${__url_time_range}"
    )


def _delivery(draw: Drawing) -> Iterator[AnyPanel]:
    points = Look("Points a minute", "What arrived in the store, by kind of point.")
    yield draw.lines("points delivered", points)
    newest = Look("Newest point", "How old what you see is, by cluster.")
    panel = draw.rows("newest point", newest, {})
    yield panel.override_by_name("newest point", [setting("unit", "dateTimeFromNow")])
