"""Topics, and who reads them."""

import numpy as np
import numpy.typing as npt

from warren import bounds
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
    told = (ends, cluster.rates(query.topic), _groups(cluster, lines))
    return shapes.Topic(moment(site.view), query.cluster, query.topic, *told)


def _groups(cluster: Cluster, lines: Ints) -> list[shapes.TopicGroup]:
    """A group's lines of one topic follow each other."""
    arrays = cluster.arrays
    if not len(lines):
        return []
    group = np.searchsorted(arrays["group_first"], lines, side="right") - 1
    first = np.flatnonzero(np.diff(group, prepend=-1))
    worst = np.maximum.reduceat(arrays["status"][lines], first).tolist()
    lags = bounds.sums(arrays["current_lag"][lines], first).tolist()
    each = np.where(arrays["filled"][lines] > 0, arrays["current_lag"][lines], -1)
    by_partition = [
        [None if lag < 0 else lag for lag in some.tolist()] for some in np.split(each, first[1:])
    ]
    columns = zip(group[first].tolist(), worst, lags, by_partition, strict=True)
    return [
        shapes.TopicGroup(cluster.groups.names[number], Status(status).name, lag, some)  # type: ignore[arg-type]  # one of them
        for number, status, lag, some in columns
    ]
