"""`/metrics`: our numbers under the names of other exporters, so that their dashboards work.

Names and labels are those of kafka-lag-exporter 0.8 and kafka_exporter 1.9. The latter has no label
for the cluster; without one, two clusters with a group of the same name would be one series twice.
"""

from collections.abc import Callable, Mapping

import numpy as np

from warren.model import bounds
from warren.model.arrays import AnyArray, Ints
from warren.model.board import NO_END
from warren.model.granularity import Level
from warren.model.numbers import UNKNOWN
from warren.serve.board_file.board_view import ClusterView
from warren.serve.metrics.families import Family, Found, Of, Style, parts
from warren.serve.metrics.number_families import count, known

LAG_EXPORTER = Style(cluster="cluster_name", group="group")
WITH_MEMBER = LAG_EXPORTER._replace(with_member=True)
KAFKA_EXPORTER = Style(cluster="cluster", group="consumergroup")
FINE, BELOW = (Level.PARTITION,), (Level.PARTITION, Level.TOPIC)


def committed(cluster: ClusterView) -> Found:
    return Found(cluster.arrays["end_offset"], cluster.arrays["filled"] > 0)


def sum_of_topic(find: Callable[[ClusterView], Found]) -> Callable[[ClusterView], Found]:
    """The sum over each topic of each group; what is not known counts as nothing."""

    def found(cluster: ClusterView) -> Found:
        values, is_there = find(cluster)
        first = parts(cluster)
        if not len(first):
            return Found(values[:0], is_there[:0])
        wide = np.where(is_there, values, 0).astype(np.int64)
        return Found(bounds.sums(wide, first), np.logical_or.reduceat(is_there, first))

    return found


def greatest_lag(cluster: ClusterView) -> Found:
    first, lag = cluster.arrays["group_first"][:-1], cluster.arrays["lag"]
    values = np.maximum.reduceat(lag, first) if len(first) else lag[:0]
    return Found(values, values != UNKNOWN)


def log_ends(cluster: ClusterView) -> Found:
    ends = cluster.arrays["ends"]
    return Found(ends, ends != NO_END)


def log_starts(cluster: ClusterView) -> Found:
    starts = cluster.arrays["starts"]
    return Found(starts, starts != NO_END)


def partition_counts(cluster: ClusterView) -> Found:
    counts = np.diff(cluster.arrays["end_first"])
    return Found(counts, np.ones(len(counts), np.bool_))


def members(cluster: ClusterView) -> Found:
    """Distinct owners, and the members that own nothing."""
    owner, client = (cluster.arrays[name].astype(np.int64) for name in ("owner", "client"))
    first = cluster.arrays["group_first"]
    group = np.repeat(np.arange(len(first) - 1), np.diff(first))
    is_owned = (owner > 0) | (client > 0)
    counts = _distinct(group[is_owned], owner[is_owned], client[is_owned], len(first) - 1)
    for name, idle in cluster.facts.idle.items():
        number = cluster.groups.numbers.get(name)
        if number is not None:
            counts[number] += len(idle)
    return Found(counts, np.ones(len(counts), np.bool_))


def _distinct(group: Ints, owner: Ints, client: Ints, groups: int) -> Ints:
    """How many different pairs of owner and client each group has."""
    pair = np.unique(np.stack([group, owner, client], axis=1), axis=0)
    counts: AnyArray = np.bincount(pair[:, 0], minlength=groups)
    return counts.astype(np.int64)


OTHER_NAMES: Mapping[str, list[Family]] = {
    "kafka-lag-exporter": [
        Family(
            "kafka_consumergroup_group_offset",
            "Last group consumed offset of a partition",
            Of.PARTITION_OF_GROUP,
            WITH_MEMBER,
            committed,
            FINE,
        ),
        Family(
            "kafka_consumergroup_group_lag",
            "Group offset lag of a partition",
            Of.PARTITION_OF_GROUP,
            WITH_MEMBER,
            count("lag"),
            FINE,
        ),
        Family(
            "kafka_consumergroup_group_lag_seconds",
            "Group time lag of a partition",
            Of.PARTITION_OF_GROUP,
            WITH_MEMBER,
            known("age_s"),
            FINE,
        ),
        Family(
            "kafka_consumergroup_group_max_lag",
            "Max group offset lag",
            Of.GROUP,
            LAG_EXPORTER,
            greatest_lag,
        ),
        Family(
            "kafka_consumergroup_group_max_lag_seconds",
            "Max group time lag",
            Of.GROUP,
            LAG_EXPORTER,
            known("group_age_s"),
        ),
        Family(
            "kafka_consumergroup_group_sum_lag",
            "Sum of group offset lag",
            Of.GROUP,
            LAG_EXPORTER,
            count("group_lag"),
        ),
        Family(
            "kafka_consumergroup_group_topic_sum_lag",
            "Sum of group offset lag across topic partitions",
            Of.TOPIC_OF_GROUP,
            LAG_EXPORTER,
            sum_of_topic(count("lag")),
            BELOW,
        ),
        Family(
            "kafka_partition_latest_offset",
            "Latest offset of a partition",
            Of.PARTITION,
            LAG_EXPORTER,
            log_ends,
        ),
        Family(
            "kafka_partition_earliest_offset",
            "Earliest offset of a partition",
            Of.PARTITION,
            LAG_EXPORTER,
            log_starts,
        ),
    ],
    "kafka_exporter": [
        Family(
            "kafka_consumergroup_current_offset",
            "Current Offset of a ConsumerGroup at Topic/Partition",
            Of.PARTITION_OF_GROUP,
            KAFKA_EXPORTER,
            committed,
            FINE,
        ),
        Family(
            "kafka_consumergroup_current_offset_sum",
            "Current Offset of a ConsumerGroup at Topic for all partitions",
            Of.TOPIC_OF_GROUP,
            KAFKA_EXPORTER,
            sum_of_topic(committed),
            BELOW,
        ),
        Family(
            "kafka_consumergroup_lag",
            "Current Approximate Lag of a ConsumerGroup at Topic/Partition",
            Of.PARTITION_OF_GROUP,
            KAFKA_EXPORTER,
            count("lag"),
            FINE,
        ),
        Family(
            "kafka_consumergroup_lag_sum",
            "Current Approximate Lag of a ConsumerGroup at Topic for all partitions",
            Of.TOPIC_OF_GROUP,
            KAFKA_EXPORTER,
            sum_of_topic(count("lag")),
            BELOW,
        ),
        Family(
            "kafka_consumergroup_members",
            "Amount of members in a consumer group",
            Of.GROUP,
            KAFKA_EXPORTER,
            members,
        ),
        Family(
            "kafka_topic_partition_current_offset",
            "Current Offset of a Broker at Topic/Partition",
            Of.PARTITION,
            KAFKA_EXPORTER,
            log_ends,
        ),
        Family(
            "kafka_topic_partition_oldest_offset",
            "Oldest Offset of a Broker at Topic/Partition",
            Of.PARTITION,
            KAFKA_EXPORTER,
            log_starts,
        ),
        Family(
            "kafka_topic_partitions",
            "Number of partitions for this Topic",
            Of.TOPIC,
            KAFKA_EXPORTER,
            partition_counts,
        ),
    ],
}
