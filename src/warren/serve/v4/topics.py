"""Topics: where their logs end, how fast they grow, and the groups that read them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warren.model import bounds
from warren.model.arrays import AnyArray, Ints
from warren.model.status import Status
from warren.model.topic_facts import TopicTable
from warren.serve.board_file.board_view import ClusterView
from warren.serve.http.site import Site
from warren.serve.v4 import measured, topic_shapes
from warren.serve.v4.lines import MS, moment
from warren.serve.v4.measured import Until
from warren.serve.v4.parameters import AllTopics, OneTopic


def topics(site: Site, query: AllTopics) -> topic_shapes.Topics | str:
    clusters = site.view.clusters
    if query.cluster and query.cluster not in clusters:
        return "there is no such cluster"
    lines = [
        line
        for name, cluster in sorted(clusters.items())
        if query.cluster in {"", name}
        for line in _topic_lines(name, cluster)
        if query.match.lower() in line.topic.lower()
    ]
    return topic_shapes.Topics(moment(site.view), [line.topic for line in lines], lines)


def _topic_lines(where: str, cluster: ClusterView) -> Iterator[topic_shapes.TopicLine]:
    names, first = cluster.topics_with_ends.names, cluster.arrays["end_first"]
    rates = np.nan_to_num(cluster.arrays["end_rates"].astype(np.float64))
    is_known = ~np.isnan(cluster.arrays["end_rates"])
    readers, table = _readers(cluster), cluster.configured.table
    for at, name in enumerate(names):
        own = slice(int(first[at]), int(first[at + 1]))
        rate = round(float(rates[own].sum()), 3) if is_known[own].any() else None
        groups, worst, lag, age = readers.get(name, (0, None, None, measured.Age()))
        count, retention_s = own.stop - own.start, _retention_s(table, name)
        yield topic_shapes.TopicLine(where, name, count, rate, groups, worst, lag, age, retention_s)


def _readers(cluster: ClusterView) -> dict[str, tuple[int, Any, int, measured.Age]]:
    """Of each topic that groups read: how many, the worst status, lag and age."""
    arrays, count = cluster.arrays, len(cluster.topics.names)
    if not len(arrays["topic"]):
        return {}
    group = np.repeat(np.arange(len(cluster.groups.names)), np.diff(arrays["group_first"]))
    is_first = (np.diff(group, prepend=-1) != 0) | (np.diff(arrays["topic"], prepend=-1) != 0)
    first = np.flatnonzero(is_first)  # of each group and topic
    topic = arrays["topic"][first]
    groups = np.bincount(topic, minlength=count)
    lags = _greatest(bounds.sums(arrays["current_lag"], first), topic, count)
    worst = _greatest(np.maximum.reduceat(arrays["status"], first), topic, count)
    rows = zip(groups.tolist(), worst.tolist(), lags.tolist(), _ages(arrays, count), strict=True)
    return {
        name: (number, Status(status).name, lag, age)
        for name, (number, status, lag, age) in zip(cluster.topics.names, rows, strict=True)
        if number
    }


def _ages(arrays: dict[str, AnyArray], topics: int) -> Iterator[measured.Age]:
    """Of each topic that of its oldest line, with its bounds; what is not known is youngest."""
    ages, topic = np.nan_to_num(arrays["age_s"].astype(np.float64), nan=-1.0), arrays["topic"]
    oldest = _greatest(ages, topic, topics)
    lines = np.flatnonzero(ages == oldest[topic])
    line = np.zeros(topics, np.int64)
    line[topic[lines[::-1]]] = lines[::-1]  # the first of equals
    columns = (arrays[name][line].tolist() for name in measured.AGE)
    return (measured.age(*each) for each in zip(*columns, strict=True))


def _greatest(values: AnyArray, topic: AnyArray, count: int) -> AnyArray:
    found = np.full(count, -1, values.dtype if values.dtype.kind != "u" else np.int64)
    np.maximum.at(found, topic, values)
    return found


def _retention_s(table: TopicTable, topic: str) -> Until:
    facts = table.topics.get(topic)
    if facts is None:
        return None
    retention_ms = facts.retention_ms if facts.is_deleted else None
    return "never" if retention_ms is None else retention_ms / MS


def topic(site: Site, query: OneTopic) -> topic_shapes.Topic | str:
    cluster = site.view.clusters.get(query.cluster)
    ends = cluster.ends(query.topic) if cluster else None
    if cluster is None or ends is None:
        return "there is no such topic"
    lines = np.flatnonzero(cluster.arrays["topic"] == cluster.topics.numbers.get(query.topic, -1))
    return topic_shapes.Topic(
        moment(site.view),
        query.cluster,
        query.topic,
        ends,
        cluster.rates(query.topic),
        _groups(cluster, lines),
        cluster.starts(query.topic) or [],
        **_configuration(cluster, query.topic),
    )


def _configuration(cluster: ClusterView, topic: str) -> dict[str, Any]:
    table = cluster.configured.table
    facts = table.topics.get(topic)
    if facts is None:
        reason = table.problems.get(topic, "it has not been read")
        unknown = dict.fromkeys(("retention_s", "retention_bytes", "compacted"))
        return {**unknown, "lacks": [f"the topic's configuration is not known: {reason}"]}
    return {
        "retention_s": _retention_s(table, topic),
        "retention_bytes": facts.retention_bytes if facts.is_deleted else None,
        "compacted": facts.is_compacted,
        "lacks": [],
    }


def _groups(cluster: ClusterView, lines: Ints) -> list[topic_shapes.TopicGroup]:
    """The groups of one topic; the lines of a group are next to each other."""
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
    numbers = measured.of_topics(cluster, lines, first)
    columns = zip(group[first].tolist(), worst, lags, by_partition, numbers, strict=True)
    return [
        topic_shapes.TopicGroup(cluster.groups.names[number], Status(status).name, lag, some, **own)  # type: ignore[arg-type]  # one of them
        for number, status, lag, some, own in columns
    ]
