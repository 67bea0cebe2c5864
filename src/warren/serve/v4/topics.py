"""Topics, and who reads them."""

import numpy as np
import numpy.typing as npt

from warren.model import Status
from warren.serve.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.queries import OneCluster, OneTopic
from warren.serve.view import Cluster

Ints = npt.NDArray[np.int64]


def topics(site: Site, query: OneCluster) -> shapes.Topics | str:
    cluster = site.view.clusters.get(query.cluster)
    if cluster is None:
        return "there is no such cluster"
    return shapes.Topics(moment(site.view), cluster.topics_with_ends.names)


def topic(site: Site, query: OneTopic) -> shapes.Topic | str:
    cluster = site.view.clusters.get(query.cluster)
    ends = cluster.ends(query.topic) if cluster else None
    if cluster is None or ends is None:
        return "there is no such topic"
    lines = np.flatnonzero(cluster.arrays["topic"] == cluster.topics.numbers.get(query.topic, -1))
    told = (ends, _rates(cluster, lines, ends), _groups(cluster, lines))
    return shapes.Topic(moment(site.view), query.cluster, query.topic, *told)


def _rates(cluster: Cluster, lines: Ints, ends: list[int | None]) -> list[float | None]:
    """A commit and its lag tell where the log ended then: the oldest is compared with now."""
    windows = cluster.windows_of(lines)
    is_known = (windows["lag"] >= 0) & (cluster.arrays["filled"][lines] > 0)[:, None]
    at = (np.arange(len(lines)), is_known.argmax(axis=1))
    oldest_end = (windows["offset"] + windows["lag"])[at].tolist()
    seconds = (cluster.facts.now_s - windows["observed_s"].astype(np.int64))[at]
    seconds[~is_known.any(axis=1)] = 0
    partitions = cluster.arrays["partition"][lines].tolist()
    rates: list[float | None] = [None] * len(ends)
    for number in np.argsort(seconds, kind="stable").tolist():  # the longest time has the last word
        partition, past = partitions[number], int(seconds[number])
        end = ends[partition] if partition < len(ends) else None
        if end is not None and past > 0:
            rates[partition] = round(max(end - oldest_end[number], 0) / past, 3)
    return rates


def _groups(cluster: Cluster, lines: Ints) -> list[shapes.TopicGroup]:
    """A group's lines of one topic follow each other."""
    arrays = cluster.arrays
    if not len(lines):
        return []
    group = np.searchsorted(arrays["group_first"], lines, side="right") - 1
    first = np.flatnonzero(np.diff(group, prepend=-1))
    worst = np.maximum.reduceat(arrays["status"][lines], first).tolist()
    lags = np.add.reduceat(arrays["current_lag"][lines], first).tolist()
    each = np.where(arrays["filled"][lines] > 0, arrays["current_lag"][lines], -1)
    by_partition = [
        [None if lag < 0 else lag for lag in some.tolist()] for some in np.split(each, first[1:])
    ]
    columns = zip(group[first].tolist(), worst, lags, by_partition, strict=True)
    return [
        shapes.TopicGroup(cluster.groups.names[number], Status(status).name, lag, some)  # type: ignore[arg-type]  # one of them
        for number, status, lag, some in columns
    ]
