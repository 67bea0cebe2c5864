"""All groups in columns, compact enough to send ten thousand with every board.

The answer is made once for each board and kept as bytes: every open page requests it.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from warren.model import bounds
from warren.model.arrays import AnyArray, Ints
from warren.model.status import Status
from warren.serve.board_file.board_view import ClusterView, View
from warren.serve.http.answers import JSON, Stream
from warren.serve.http.site import Site
from warren.serve.v4 import measured, shapes
from warren.serve.v4.lines import moment, starting
from warren.serve.v4.parameters import Nothing

MOST_LINES = 500_000  # a cluster with more partitions has no trends; for so many they take 0.1 s
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def overview(site: Site, _query: Nothing) -> Stream:
    body = site.once("overview", lambda view: msgspec.json.encode(columns(view)))
    headers = [("content-type", JSON), ("cache-control", "no-store"), *site.cors]
    return Stream(200, headers, iter([body]))


def columns(view: View) -> shapes.Overview:
    health = view.facts.health
    problems = {name: each.problem for name, each in health.clusters.items()}
    return shapes.Overview(
        moment(view),
        bool(health.ready),
        [
            _cluster(name, cluster, problems.get(name, ""))
            for name, cluster in sorted(view.clusters.items())
        ],
        starting(view),
    )


def _cluster(name: str, cluster: ClusterView, problem: str) -> shapes.ClusterColumns:
    arrays = cluster.arrays
    worst = arrays["group_max_lag_line"]
    return shapes.ClusterColumns(
        name=name,
        problem=problem,
        group=cluster.groups.names,
        status=_status_names(arrays["group_status"]),
        worst=_status_names(_over_groups(np.maximum, arrays["status"], cluster)),
        total_lag=arrays["group_total_lag"].tolist(),
        partition_count=np.diff(arrays["group_first"]).tolist(),
        max_lag_topic=[cluster.topics.names[at] for at in arrays["topic"][worst].tolist()],
        max_lag_partition=arrays["partition"][worst].tolist(),
        max_lag=arrays["current_lag"][worst].tolist(),
        last_commit_ms=arrays["group_last_commit_ms"].tolist(),
        owner=[cluster.owners.names[at] for at in arrays["owner"][worst].tolist()],
        **measured.in_columns(cluster),
        trend=list(_trends(cluster)),
        topic_names=cluster.topics.names,
        topics=_distinct(arrays["topic"], cluster),
        owner_names=cluster.owners.names,
        owners=_distinct(arrays["owner"], cluster),
    )


def _status_names(statuses: AnyArray) -> list[Any]:
    names = [status.name for status in Status]
    return [names[number] for number in statuses.tolist()]


def _over_groups(reduce: np.ufunc, values: AnyArray, cluster: ClusterView) -> AnyArray:
    """Combine the values of each group's partitions; every group has at least one."""
    first = cluster.arrays["group_first"][:-1]
    return reduce.reduceat(values, first, axis=0) if len(first) else values[:0]


def _distinct(numbers: AnyArray, cluster: ClusterView) -> list[list[int]]:
    """The distinct numbers of each group's partitions."""
    first = cluster.arrays["group_first"]
    highest = int(numbers.max(initial=0)) + 1
    group = np.repeat(np.arange(len(first) - 1), np.diff(first))
    pairs = group * highest + numbers
    pairs = np.unique(pairs[np.flatnonzero(np.diff(pairs, prepend=-1))])
    bounds = np.searchsorted(pairs // highest, np.arange(len(first))).tolist()
    found = (pairs % highest).tolist()
    return [found[start:stop] for start, stop in pairwise(bounds)]


def _trends(cluster: ClusterView) -> Iterator[str]:
    """The lags of each group at its last commits and now: digits from the least to the greatest."""
    if len(cluster.arrays["status"]) > MOST_LINES:
        yield from [""] * len(cluster.groups.names)
        return
    total = bounds.sums(lags(cluster, slice(None)), cluster.arrays["group_first"][:-1])
    least, greatest = total.min(axis=1, keepdims=True), total.max(axis=1, keepdims=True)
    span = np.maximum(greatest - least, 1)
    heights = np.rint((total - least) / span * (len(DIGITS) - 1)).astype(np.int64)
    for line in heights.tolist():
        yield "".join([DIGITS[height] for height in line])


def lags(cluster: ClusterView, lines: slice) -> Ints:
    """For each partition: the lag at each commit of its window, and now.

    An unknown lag counts as the next known one, so that it does not look like growth.
    """
    now = cluster.arrays["current_lag"][lines]
    known = cluster.windows_of(lines)["lag"]
    grid = np.concatenate([known, now[:, None]], axis=1)
    for column in range(grid.shape[1] - 2, -1, -1):
        grid[:, column] = np.where(grid[:, column] < 0, grid[:, column + 1], grid[:, column])
    grid[cluster.arrays["filled"][lines] == 0] = 0
    return grid
