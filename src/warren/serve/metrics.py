"""`/metrics`: Burrow's six, made from the board as they are sent."""

from collections.abc import Callable, Iterator

import numpy as np

from warren.board import NO_END
from warren.serve.exposition import head, label
from warren.serve.view import Cluster, View

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
CHUNK = 32_768  # characters sent at once, and so the longest that others wait

Lines = Iterator[str]


def burrow_metrics(view: View) -> Lines:
    """Pieces of text, each a few lines; a family's are together, families in Burrow's order."""
    for name, about, lines in FAMILIES:
        started = False
        for cluster_name, cluster in sorted(view.clusters.items()):
            for text in lines(f"burrow_kafka_{name}", label(cluster_name), cluster):
                if not started:
                    yield head(f"burrow_kafka_{name}", "gauge", about)
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


def _lag_total(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    yield from _by_group(name, cluster_name, cluster, "group_total_lag")


def _group_status(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    yield from _by_group(name, cluster_name, cluster, "group_status")


def _by_group(name: str, cluster_name: str, cluster: Cluster, column: str) -> Lines:
    values = cluster.arrays[column].tolist()
    for group, value in zip(cluster.groups.names, values, strict=True):
        yield f'{name}{{cluster="{cluster_name}",consumer_group="{label(group)}"}} {value}\n'


def _partition_lag(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    yield from _by_partition(name, cluster_name, cluster, "current_lag", complete_only=False)


def _current_offset(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    yield from _by_partition(name, cluster_name, cluster, "end_offset", complete_only=True)


def _partition_status(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    yield from _by_partition(name, cluster_name, cluster, "status", complete_only=True)


def _by_partition(
    name: str, cluster_name: str, cluster: Cluster, column: str, *, complete_only: bool
) -> Lines:
    arrays, topics = cluster.arrays, [label(topic) for topic in cluster.topics.names]
    for number, group in enumerate(cluster.groups.names):
        lines = cluster.lines(number)
        chosen = np.arange(lines.start, lines.stop)
        if complete_only:
            chosen = chosen[arrays["complete"][lines] == 1]
        if not len(chosen):
            continue
        start = f'{name}{{cluster="{cluster_name}",consumer_group="{label(group)}",partition="'
        columns = (arrays[each][chosen].tolist() for each in ("partition", "topic", column))
        yield "".join(
            [
                f'{start}{partition}",topic="{topics[topic]}"}} {value}\n'
                for partition, topic, value in zip(*columns, strict=True)
            ]
        )


def _topic_offset(name: str, cluster_name: str, cluster: Cluster) -> Lines:
    first, ends = cluster.arrays["end_first"].tolist(), cluster.arrays["ends"].tolist()
    for number, topic in enumerate(cluster.topics_with_ends.names):
        end = f'",topic="{label(topic)}"}}'
        yield "".join(
            [
                f'{name}{{cluster="{cluster_name}",partition="{partition}{end} {value}\n'
                for partition, value in enumerate(ends[first[number] : first[number + 1]])
                if value != NO_END
            ]
        )


STATUS_HELP = (
    "The status of {}. It is calculated from the highest status for the individual partitions. "
    "Statuses are an index list from {}"
)
# Names, help texts and order are Burrow's.
FAMILIES: list[tuple[str, str, Callable[[str, str, Cluster], Lines]]] = [
    (
        "consumer_current_offset",
        "Latest offset that Burrow is storing for this partition",
        _current_offset,
    ),
    (
        "consumer_lag_total",
        "The sum of all partition current lag values for the group",
        _lag_total,
    ),
    (
        "consumer_partition_lag",
        "Number of messages the consumer group is behind by for a partition as reported by Burrow",
        _partition_lag,
    ),
    (
        "consumer_status",
        STATUS_HELP.format("the consumer group", "NOTFOUND, OK, WARN, or ERR"),
        _group_status,
    ),
    (
        "topic_partition_offset",
        "Latest offset the topic that Burrow is storing for this partition",
        _topic_offset,
    ),
    (
        "topic_partition_status",
        STATUS_HELP.format("topic partition", "OK, WARN, STOP, STALL, REWIND"),
        _partition_status,
    ),
]
