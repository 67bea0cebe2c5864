"""Topics, and who reads them."""

import numpy as np

from warren.model import Status
from warren.serve.site import Site
from warren.serve.v4 import shapes
from warren.serve.v4.lines import moment
from warren.serve.v4.queries import OneCluster, OneTopic
from warren.serve.view import Cluster


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
    groups = _groups(cluster, query.topic)
    return shapes.Topic(moment(site.view), query.cluster, query.topic, ends, groups)


def _groups(cluster: Cluster, topic: str) -> list[shapes.TopicGroup]:
    """A group's lines of one topic follow each other."""
    arrays = cluster.arrays
    lines = np.flatnonzero(arrays["topic"] == cluster.topics.numbers.get(topic, -1))
    if not len(lines):
        return []
    group = np.searchsorted(arrays["group_first"], lines, side="right") - 1
    first = np.flatnonzero(np.diff(group, prepend=-1))
    worst = np.maximum.reduceat(arrays["status"][lines], first).tolist()
    lags = np.add.reduceat(arrays["current_lag"][lines], first).tolist()
    return [
        shapes.TopicGroup(cluster.groups.names[number], Status(status).name, lag)  # type: ignore[arg-type]  # one of them
        for number, status, lag in zip(group[first].tolist(), worst, lags, strict=True)
    ]
