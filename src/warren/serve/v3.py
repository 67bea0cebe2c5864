"""Burrow's HTTP API: clusters, topics and groups."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from warren.model.arrays import Ints
from warren.model.go_json import number
from warren.model.status import Status
from warren.model.window_commits import COLUMNS, make_commits
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.answers import Answer, Request
from warren.serve.http.channel import DeleteGroup
from warren.serve.http.site import Site

STATUS_NAMES = [status.name for status in Status]


class V3Commit(msgspec.Struct, rename={"observed_at": "observedAt"}):
    offset: int
    timestamp: int
    observed_at: int
    lag: int | None


class V3Partition(msgspec.Struct):
    topic: str
    partition: int
    owner: str
    client_id: str
    status: str
    start: V3Commit | None
    end: V3Commit | None
    current_lag: int
    complete: msgspec.Raw


class V3GroupStatus(msgspec.Struct):
    """The defaults are those of an unknown group."""

    cluster: str
    group: str
    status: str = "NOTFOUND"
    complete: msgspec.Raw = number(1)
    partitions: list[V3Partition] = []
    partition_count: int = 0
    maxlag: V3Partition | None = None
    totallag: int = 0


class PartitionDetail(msgspec.Struct, rename={"current_lag": "current-lag"}):
    offsets: list[V3Commit | None]
    owner: str
    client_id: str
    current_lag: int


def clusters(site: Site, request: Request) -> Answer:
    names = sorted(site.settings.clusters)
    return site.json(request, 200, "cluster list returned", clusters=names)


def topics(site: Site, request: Request, name: str) -> Answer:
    if name not in site.settings.clusters:
        return site.problem(request, 404, "cluster not found")
    cluster = site.view.clusters.get(name)
    found = cluster.topics_with_ends.names if cluster else []
    return site.json(request, 200, "topic list returned", topics=found)


def topic(site: Site, request: Request, name: str, topic: str) -> Answer:
    cluster = site.view.clusters.get(name)
    ends = cluster.ends(topic) if cluster else None
    if ends is None:
        return site.problem(request, 404, "cluster or topic not found")
    return site.json(request, 200, "topic offsets returned", offsets=ends)


def groups_of_topic(site: Site, request: Request, name: str, topic: str) -> Answer:
    if name not in site.settings.clusters:
        return site.problem(request, 404, "cluster not found")
    cluster = site.view.clusters.get(name)
    found = cluster.groups_of(topic) if cluster else []
    return site.json(request, 200, "consumers of topic returned", consumers=found)


def groups(site: Site, request: Request, name: str) -> Answer:
    if name not in site.settings.clusters:
        return site.problem(request, 404, "cluster not found")
    cluster = site.view.clusters.get(name)
    found = cluster.groups.names if cluster else []
    return site.json(request, 200, "consumer list returned", consumers=found)


def group(site: Site, request: Request, name: str, group: str) -> Answer:
    cluster = site.view.clusters.get(name)
    number = cluster.groups.numbers.get(group) if cluster else None
    if cluster is None or number is None:
        return site.problem(request, 404, "cluster or consumer not found")
    return site.json(
        request, 200, "consumer detail returned", topics=_details(cluster, cluster.lines(number))
    )


def status(site: Site, request: Request, name: str, group: str) -> Answer:
    return _status(site, request, name, group, only_bad=True)


def lag(site: Site, request: Request, name: str, group: str) -> Answer:
    return _status(site, request, name, group, only_bad=False)


def _status(site: Site, request: Request, name: str, group: str, *, only_bad: bool) -> Answer:
    found = group_status(site.view.clusters.get(name), name, group, only_bad=only_bad)
    # An unknown group is a 404 whose body says `"error": false`: Burrow's clients read
    # `status.status == "NOTFOUND"` instead.
    code = 404 if found.status == "NOTFOUND" else 200
    return site.json(request, code, "consumer status returned", status=found)


def group_status(
    cluster: ClusterView | None, name: str, group: str, *, only_bad: bool
) -> V3GroupStatus:
    at = cluster.groups.numbers.get(group) if cluster else None
    if cluster is None or at is None:
        return V3GroupStatus(name, group)
    lines, arrays = cluster.lines(at), cluster.arrays
    shown = np.arange(lines.start, lines.stop)
    if only_bad:
        shown = shown[arrays["status"][lines] > Status.OK]
    *partitions, max_lag = _partitions(cluster, np.append(shown, arrays["group_max_lag_line"][at]))
    return V3GroupStatus(
        name,
        group,
        STATUS_NAMES[int(arrays["group_status"][at])],
        number(float(arrays["group_complete"][at])),
        partitions,
        lines.stop - lines.start,
        max_lag,
        int(arrays["group_total_lag"][at]),
    )


def _partitions(cluster: ClusterView, lines: Ints) -> Iterator[V3Partition]:
    topics, owners = cluster.topics.names, cluster.owners.names
    windows, filled = cluster.windows_of(lines), cluster.arrays["filled"][lines].tolist()
    first, last = _edge(windows, 0), _edge(windows, -1)
    columns = ("topic", "partition", "owner", "client", "status", "current_lag", "complete")
    values = (cluster.arrays[column][lines].tolist() for column in columns)
    for line, (topic, partition, owner, client, status, lag, complete) in enumerate(
        zip(*values, strict=True)
    ):
        start, end = (first[line], last[line]) if filled[line] else (None, None)
        yield V3Partition(
            topics[topic],
            partition,
            owners[owner],
            owners[client],
            STATUS_NAMES[status],
            start,
            end,
            lag,
            number(complete),
        )


def _edge(windows: Any, column: int) -> list[V3Commit]:
    """The first or last commit of each window; unused places repeat the first."""
    return make_commits(V3Commit, *(windows[name][:, column] for name in COLUMNS))


def _details(cluster: ClusterView, lines: slice) -> dict[str, list[PartitionDetail]]:
    topics, owners = cluster.topics.names, cluster.owners.names
    columns = ("topic", "owner", "client", "current_lag")
    values = (cluster.arrays[column][lines].tolist() for column in columns)
    found: dict[str, list[PartitionDetail]] = {}
    for topic, owner, client, lag, held in zip(
        *values, cluster.commits(lines, V3Commit), strict=True
    ):
        free = cluster.facts.intervals - len(held)
        offsets = [*[None] * free, *held] if held else []
        detail = PartitionDetail(offsets, owners[owner], owners[client], lag)
        found.setdefault(topics[topic], []).append(detail)
    return found


async def delete_group(site: Site, request: Request, name: str, group: str) -> Answer:
    await site.call(DeleteGroup(name, group))
    return site.json(request, 200, "consumer group removed")


async def delete_topic_of_group(
    site: Site, request: Request, name: str, group: str, topic: str
) -> Answer:
    await site.call(DeleteGroup(name, group, topic))
    return site.json(request, 200, "consumer group removed")
