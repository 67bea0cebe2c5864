"""Where the reading of an offsets topic begins, and what is forgotten when it begins anew."""

from collections.abc import Callable, Collection
from itertools import count
from uuid import uuid4

from confluent_kafka.admin import AdminClient

from warren.clients.kafka import READER
from warren.cluster import Following
from warren.sources import log_ends
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.offsets_topic import Positions
from warren.sources.placement import partition_of
from warren.windows.precedence import forget_kafkas, kafkas_groups


def starting_positions(
    following: Following, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> Positions:
    """Where to read on: after what was folded last, and at first as configured."""
    following.notice_growth()
    leaders, isolation = following.leaders, following.isolation
    first = earliest_positions(following, admin, timeout_s)
    end = log_ends.fetch_ends(admin, leaders, isolation=isolation, timeout_s=timeout_s)
    last = log_ends.by_number(end.table)
    answering = sorted(first.keys() & last.keys())
    stood = dict(following.progress.position)
    skips_the_past = following.settings.start_latest and not following.is_new_topic
    fresh = dict(last if skips_the_past else first)
    for partition in answering:
        is_shortened = partition in following.progress.shortened
        if is_shortened or stood.get(partition, 0) > last[partition]:
            # What there is now was written later, and all of it is news.
            forget_partition(following, partition)
            stood.pop(partition, None)
            fresh[partition] = first[partition]
    # Retention may have taken what was to be read next.
    return {each: max(stood.get(each, fresh[each]), first[each]) for each in answering}


def reader_group(topics: log_ends.Topics, brokers: Collection[int]) -> str:
    """A group whose coordinator is one of these brokers, if there is such a group.

    Spark's client looks for the coordinator of its group before it reads, and waits as long as
    there is none: it must not be on a broker that gives no answer. Every query has a group of its
    own, as Spark keeps its consumers by group.
    """
    leaders = {number: broker for (_, number), broker in topics.leaders_of(OFFSETS_TOPIC).items()}
    names = (f"{READER}-{uuid4()}" for _ in count())
    if not {*leaders.values()} & {*brokers}:
        return next(names)
    partitions = topics.counts[OFFSETS_TOPIC]
    return next(each for each in names if leaders.get(partition_of(each, partitions)) in brokers)


def begin_anew(following: Following) -> None:
    """Forget what the records of an offsets topic said that no longer exists.

    Their orders would say nothing about those of the records there are now.
    """
    following.is_new_topic = True
    with following.cluster.lock:
        _forget(following, lambda _: True)
        following.progress.forget_positions()
        following.homes.forget()


def forget_partition(following: Following, partition: int) -> None:
    """Forget the groups of one partition, whose end is before where reading stood.

    So it is after an unclean election: records were lost, and their orders are given anew.
    """
    topics = following.cluster.topics
    count = topics.counts[following.settings.offsets_topic] if topics else 1
    with following.cluster.lock:
        _forget(following, lambda group: partition_of(group, count) == partition)
        own, topic = following.own_group, following.settings.offsets_topic
        following.cluster.windows.delete_group(own, topic)  # its orders are all partitions'
        following.progress.read_s.pop(partition, None)
        following.progress.shortened.discard(partition)


def _forget(following: Following, is_of_it: Callable[[str], bool]) -> None:
    """Forget what Kafka said of these groups, as far as this consumer follows them."""
    cluster = following.cluster
    for group in sorted(kafkas_groups(cluster.windows) | cluster.membership.groups.keys()):
        if following.follows(group) and is_of_it(group):
            forget_kafkas(cluster.windows, group)
            cluster.membership.forget(group)


def earliest_positions(
    following: Following, admin: AdminClient, timeout_s: float = log_ends.TIMEOUT_S
) -> dict[int, int]:
    which = log_ends.EARLIEST
    first = log_ends.fetch_ends(admin, following.leaders, which=which, timeout_s=timeout_s)
    return log_ends.by_number(first.table)
