"""`/metrics`: Burrow's six metrics of groups and topics, and our two by topic."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from warren.model import bounds
from warren.model.arrays import AnyArray, Bytes
from warren.model.board import NO_END
from warren.model.granularity import Level
from warren.serve.board_file.board_view import ClusterView, View
from warren.serve.metrics.exposition import Exposition, label
from warren.serve.metrics.series import Plan

# Characters and lines made at a time; other requests wait no longer than that takes.
CHUNK, AT_ONCE = 32_768, 1000

Lines = Iterator[str]
Combine = Callable[[AnyArray, AnyArray], AnyArray]


class ScrapedCluster(NamedTuple):
    """One cluster of a scrape, with the series it has."""

    name: str  # escaped for labels
    cluster: ClusterView
    levels: Bytes
    with_ends: bool


def burrow_metrics(view: View, plan: Plan, exposition: Exposition) -> Lines:
    """Texts of a few lines each, family by family, in Burrow's order."""
    scraped = [
        ScrapedCluster(label(name), view.clusters[name], plan.levels[name], plan.with_ends)
        for name in sorted(view.clusters)
    ]
    for name, about, lines in FAMILIES:
        started = False
        for text in chain.from_iterable(lines(name, each) for each in scraped):
            if not started:
                yield exposition.head(name, "gauge", about)
                started = True
            yield text


def in_chunks(texts: Lines) -> Iterator[bytes]:
    held, size = list[str](), 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= CHUNK:
            yield "".join(held).encode()
            held, size = [], 0
    if held:
        yield "".join(held).encode()


def _lag_total(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_group(name, scraped, "group_total_lag")


def _group_status(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_group(name, scraped, "group_status")


def _by_group(name: str, scraped: ScrapedCluster, column: str) -> Lines:
    groups, values = scraped.cluster.groups.names, scraped.cluster.arrays[column].tolist()
    for number in np.flatnonzero(scraped.levels != Level.NOTHING).tolist():
        group, value = label(groups[number]), values[number]
        yield f'{name}{{cluster="{scraped.name}",consumer_group="{group}"}} {value}\n'


def _partition_lag(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_partition(name, scraped, "current_lag", complete_only=False)


def _current_offset(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_partition(name, scraped, "end_offset", complete_only=True)


def _partition_status(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_partition(name, scraped, "status", complete_only=True)


def _by_partition(name: str, scraped: ScrapedCluster, column: str, *, complete_only: bool) -> Lines:
    cluster = scraped.cluster
    arrays, topics = cluster.arrays, [label(topic) for topic in cluster.topics.names]
    for number, lines in _in_parts(cluster, scraped.levels):
        columns = [arrays[each][lines] for each in ("partition", "topic", column)]
        if complete_only:
            is_complete = arrays["complete"][lines] == 1
            columns = [each[is_complete] for each in columns]
        group = label(cluster.groups.names[number])
        start = f'{name}{{cluster="{scraped.name}",consumer_group="{group}",partition="'
        text = "".join(
            [
                f'{start}{partition}",topic="{topics[topic]}"}} {value}\n'
                for partition, topic, value in zip(*(e.tolist() for e in columns), strict=True)
            ]
        )
        if text:
            yield text


def _in_parts(cluster: ClusterView, levels: Bytes) -> Iterator[tuple[int, slice]]:
    """The lines of each group that has series by partition, in slices."""
    for number in np.flatnonzero(levels == Level.PARTITION).tolist():
        lines = cluster.lines(number)
        for start in range(lines.start, lines.stop, AT_ONCE):
            yield number, slice(start, min(start + AT_ONCE, lines.stop))


def _topic_offset(name: str, scraped: ScrapedCluster) -> Lines:
    if not scraped.with_ends:
        return
    arrays = scraped.cluster.arrays
    first, ends = arrays["end_first"].tolist(), arrays["ends"].tolist()
    for number, topic in enumerate(scraped.cluster.topics_with_ends.names):
        end = f'",topic="{label(topic)}"}}'
        text = "".join(
            [
                f'{name}{{cluster="{scraped.name}",partition="{partition}{end} {value}\n'
                for partition, value in enumerate(ends[first[number] : first[number + 1]])
                if value != NO_END
            ]
        )
        if text:
            yield text


def _topic_lag(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_topic(name, scraped, "current_lag", bounds.sums)


def _topic_status(name: str, scraped: ScrapedCluster) -> Lines:
    return _by_topic(name, scraped, "status", np.maximum.reduceat)


def _by_topic(name: str, scraped: ScrapedCluster, column: str, combine: Combine) -> Lines:
    """One series for each topic, its partitions combined; a group's lines are sorted by topic."""
    cluster = scraped.cluster
    for number in np.flatnonzero(scraped.levels == Level.TOPIC).tolist():
        lines = cluster.lines(number)
        topic = cluster.arrays["topic"][lines]
        first = np.flatnonzero(np.diff(topic, prepend=-1))
        values = combine(cluster.arrays[column][lines], first)
        group = label(cluster.groups.names[number])
        for each, value in zip(topic[first].tolist(), values.tolist(), strict=True):
            labels = f'topic="{label(cluster.topics.names[each])}"'
            yield f'{name}{{cluster="{scraped.name}",consumer_group="{group}",{labels}}} {value}\n'


STATUS_HELP = (
    "The status of {}. It is calculated from the highest status for the individual partitions. "
    "Statuses are an index list from {}"
)
# Names, help texts and order of the first six are Burrow's.
FAMILIES: list[tuple[str, str, Callable[[str, ScrapedCluster], Lines]]] = [
    (
        "burrow_kafka_consumer_current_offset",
        "Latest offset that Burrow is storing for this partition",
        _current_offset,
    ),
    (
        "burrow_kafka_consumer_lag_total",
        "The sum of all partition current lag values for the group",
        _lag_total,
    ),
    (
        "burrow_kafka_consumer_partition_lag",
        "Number of messages the consumer group is behind by for a partition as reported by Burrow",
        _partition_lag,
    ),
    (
        "burrow_kafka_consumer_status",
        STATUS_HELP.format("the consumer group", "NOTFOUND, OK, WARN, or ERR"),
        _group_status,
    ),
    (
        "burrow_kafka_topic_partition_offset",
        "Latest offset the topic that Burrow is storing for this partition",
        _topic_offset,
    ),
    (
        "burrow_kafka_topic_partition_status",
        STATUS_HELP.format("topic partition", "OK, WARN, STOP, STALL, REWIND"),
        _partition_status,
    ),
    (
        "warren_consumer_topic_lag",
        "Sum of the lags of a topic's partitions, for groups that have series by topic",
        _topic_lag,
    ),
    (
        "warren_consumer_topic_status",
        "Status of the worst partition of a topic, for groups that have series by topic",
        _topic_status,
    ),
]
