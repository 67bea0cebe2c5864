"""Where to start reading an offsets topic, by which group, and what to forget that is not in it."""

from collections.abc import Callable, Collection
from itertools import count
from uuid import uuid4

from confluent_kafka.admin import AdminClient

from warren.clients.kafka import READER
from warren.pipeline.consumers import TopicConsumer
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of
from warren.sources.offsets_topic import Positions
from warren.windows.precedence import forget_kafkas, kafkas_groups


def starting_positions(
    topic_consumer: TopicConsumer, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> Positions:
    """Where to start reading: after the last folded record, or as configured the first time."""
    topic_consumer.notice_growth()
    leaders, isolation = topic_consumer.leaders, topic_consumer.isolation
    first = earliest_positions(topic_consumer, admin, timeout_s)
    end = log_ends.fetch_ends(admin, leaders, isolation=isolation, timeout_s=timeout_s)
    last = log_ends.by_number(end.table)
    answering = sorted(first.keys() & last.keys())
    position = dict(topic_consumer.progress.position)
    skips_the_past = topic_consumer.settings.start_latest and not topic_consumer.is_new_topic
    fresh = dict(last if skips_the_past else first)
    for partition in answering:
        is_shortened = partition in topic_consumer.progress.shortened
        if is_shortened or position.get(partition, 0) > last[partition]:
            # The partition lost records: everything in it now is new to us.
            forget_partition(topic_consumer, partition)
            position.pop(partition, None)
            fresh[partition] = first[partition]
    # Retention may have deleted the next record to read.
    return {each: max(position.get(each, fresh[each]), first[each]) for each in answering}


def reader_group(topics: log_ends.TopicListing, brokers: Collection[int]) -> str:
    """A name for Spark's own group whose coordinator is one of these brokers, if possible.

    Spark's client looks for the coordinator of its group before it reads, and waits until it finds
    one: so it must not be on a broker that does not answer. Every query has a group of its own,
    because Spark caches its consumers by group.
    """
    leaders = {number: broker for (_, number), broker in topics.leaders_of(OFFSETS_TOPIC).items()}
    names = (f"{READER}-{uuid4()}" for _ in count())
    if not {*leaders.values()} & {*brokers}:
        return next(names)
    partitions = topics.counts[OFFSETS_TOPIC]
    return next(each for each in names if leaders.get(partition_of(each, partitions)) in brokers)


def forget_topic(topic_consumer: TopicConsumer) -> None:
    """Forget everything that was read from an offsets topic that was deleted.

    Its record offsets cannot be compared with those of the new topic.
    """
    topic_consumer.is_new_topic = True
    with topic_consumer.cluster.lock:
        _forget(topic_consumer, lambda _: True)
        topic_consumer.progress.forget_positions()
        topic_consumer.homes.forget()


def forget_partition(topic_consumer: TopicConsumer, partition: int) -> None:
    """Forget the groups of one partition that now ends before our position.

    This happens after an unclean election: records are lost, and their offsets are used again.
    """
    topics = topic_consumer.cluster.topics
    count = topics.counts[topic_consumer.settings.offsets_topic] if topics else 1
    with topic_consumer.cluster.lock:
        _forget(topic_consumer, lambda group: partition_of(group, count) == partition)
        own, topic = topic_consumer.own_group, topic_consumer.settings.offsets_topic
        topic_consumer.cluster.windows.delete_group(own, topic)  # it has commits of all partitions
        topic_consumer.progress.read_s.pop(partition, None)
        topic_consumer.progress.shortened.discard(partition)


def _forget(topic_consumer: TopicConsumer, is_affected: Callable[[str], bool]) -> None:
    """Forget what was read from Kafka about these groups, if this consumer follows them."""
    cluster = topic_consumer.cluster
    for group in sorted(kafkas_groups(cluster.windows) | cluster.membership.groups.keys()):
        if topic_consumer.follows(group) and is_affected(group):
            forget_kafkas(cluster.windows, group)
            cluster.membership.forget(group)


def earliest_positions(
    topic_consumer: TopicConsumer, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> dict[int, int]:
    which = log_ends.EARLIEST
    first = log_ends.fetch_ends(admin, topic_consumer.leaders, which=which, timeout_s=timeout_s)
    return log_ends.by_number(first.table)
