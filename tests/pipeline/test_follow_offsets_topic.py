"""What becomes of the records of an offsets topic, decoded and folded, without broker or Spark."""

from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pyarrow as pa
from support import records
from support.batches import NOW, log_ends
from support.plain_decoder import plain_reading

from warren.config import Consumer, Storage
from warren.model import tables
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.consumers import LiveEvents, TopicConsumer
from warren.pipeline.snapshots import Snapshots
from warren.pipeline.starting_positions import reader_group
from warren.pipeline.steps import fold
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of
from warren.sources.log_ends import TopicListing
from warren.sources.offsets_topic import Batch
from warren.windows.window_reader import detail

TOPIC, TOPIC_ID = "t", UUID(int=1)
CLASSIC, GROUP, MEMBER, TARGET_EPOCH, TARGET, CURRENT, STREAMS = 2, 3, 5, 6, 7, 8, 17


class Written(NamedTuple):
    """A record where it stands in the offsets topic."""

    order: int
    key: bytes
    value: bytes | None = None
    partition: int = 0


def commit(order: int, offset: int | None, group: str = "g", partition: int = 0) -> Written:
    """A commit on the topic's first partition, or its tombstone."""
    value = None if offset is None else records.commit_value(offset, NOW * 1000 + offset)
    return Written(order, records.commit_key(group, TOPIC, 0), value, partition)


def topic_consumer(partitions: int = 1) -> TopicConsumer:
    cluster = new_cluster("c", Storage(name="default", intervals=4))
    cluster.windows.set_log_ends(log_ends(*[100] * partitions), {TOPIC: partitions})
    cluster.membership.name_topics({TOPIC_ID: TOPIC})
    return TopicConsumer(Consumer(name="c", cluster="c", servers=("h:1",)), cluster, Accepts())


def read(by: TopicConsumer, *written: Written) -> None:
    """Fold these as one batch."""
    lines = [
        plain_reading(each.key, each.value or b"")
        | {"log_partition": each.partition, "order": each.order}
        for each in written
    ]
    for line, each in zip(lines, written, strict=True):
        line.update({"value": each.value} if "key" in line else {})
    fold(by, Batch(pa.Table.from_pylist(lines, tables.DECODED), {}), NOW)


def offsets(of: TopicConsumer, group: str = "g") -> list[int]:
    parts = detail(of.cluster.windows, group).get(TOPIC, [])
    return [commit.offset for part in parts for commit in part.commits]


def owners(of: TopicConsumer, group: str = "g") -> list[str]:
    return [part.client_id for part in detail(of.cluster.windows, group).get(TOPIC, [])]


def classic(order: int, client: str, partition: int = 0) -> Written:
    """The record of a classic group with one member, that reads the topic; no client: empty."""
    member = records.ClassicMember("m", client, assigned={TOPIC: [0]})
    value = records.group_value([member] if client else [])
    return Written(order, records.group_key("g", CLASSIC), value, partition)


def test_a_group_goes_with_its_offsets_and_not_with_its_protocol() -> None:
    # As Kafka 4.1 writes them: a group that has emptied comes back with another protocol.
    no_protocol = records.group_value([], generation=0, protocol_type="")
    to_classic = [
        Written(10, records.group_key("g", TARGET_EPOCH)),
        Written(12, records.group_key("g", GROUP)),
        Written(13, records.group_key("g", CLASSIC), no_protocol),
        classic(14, "new"),  # after group.initial.rebalance.delay.ms
    ]
    to_streams = [
        Written(15, records.group_key("g", CLASSIC)),
        Written(16, records.group_key("g", STREAMS), records.epoch_value(1)),
    ]
    deleted = [commit(20, None), Written(21, records.group_key("g", CLASSIC))]
    cases = {
        "KIP-848, then classic": (to_classic, [5, 7], ["new"]),
        "the same, compacted": (to_classic[1:2] + to_classic[3:], [5, 7], ["new"]),
        "classic, then streams": (to_streams, [5, 7], [""]),
        "then it is deleted": (to_classic + deleted, [], []),
        "deleted and born again": ([*to_classic, *deleted, commit(22, 9)], [9], [""]),
    }
    wrong = []
    for name, (log, *expected) in cases.items():
        for cut in range(len(log) + 1):
            reader = topic_consumer()
            read(reader, Written(1, records.group_key("g", GROUP), records.epoch_value(1)))
            read(reader, commit(2, 5), commit(3, 7))
            read(reader, *log[:cut])
            read(reader, *log[cut:])
            if [offsets(reader), owners(reader)] != expected:
                wrong.append((name, cut, offsets(reader), owners(reader)))

    assert wrong == []


def member(order: int, name: str, *assigned: int) -> list[Written]:
    """The records of a KIP-848 member, and of what it reads."""
    current = records.current_value({TOPIC_ID.bytes: assigned})
    return [
        Written(order, records.member_key("g", name, MEMBER), records.member_value(name)),
        Written(order + 1, records.member_key("g", name, CURRENT), current),
    ]


def gone(order: int, name: str) -> list[Written]:
    kinds = (CURRENT, TARGET, MEMBER)
    return [Written(order, records.member_key("g", name, kind)) for kind in kinds]


def test_a_backfill_adds_what_was_not_read_live() -> None:
    epoch = Written(90, records.group_key("g", GROUP), records.epoch_value(9))
    both = [*member(10, "a", 0), *member(12, "b", 1)]
    cases = {
        "nothing live": (both, [], ["a", "b"]),
        "the group's epoch": (both, [epoch], ["a", "b"]),
        "one member of two": (both, member(91, "b", 1), ["a", "b"]),
        "who a member is": (both, member(91, "b", 0)[:1], ["a", "b"]),
        "a new assignment": (both, [*member(91, "a", 1)[1:], *member(93, "b", 0)[1:]], ["b", "a"]),
        "a member leaves": (both, gone(91, "a"), ["", "b"]),
        "one had left before": ([*both, *gone(14, "b")], [epoch], ["a", ""]),
        "an upgrade before": ([classic(8, "old"), *both], member(91, "b", 1), ["a", "b"]),
        "a downgrade": (both, [classic(91, "new")], ["new", ""]),
        "the group is gone": (both, [Written(91, records.group_key("g", GROUP))], ["", ""]),
    }
    wrong = []
    for name, (before, since, expected) in cases.items():
        live = topic_consumer(partitions=2)
        live.live_events = LiveEvents()
        read(live, commit(95, 5), *since)
        read(live.backfill(), commit(1, 3), *before)
        if (owners(live), offsets(live)) != (expected, [3, 5]):
            wrong.append((name, owners(live), offsets(live)))

    assert wrong == []


OFFSETS = "__consumer_offsets"


def grow(of: TopicConsumer, partitions: int) -> None:
    """Let the next listing of topics tell of so many partitions of the offsets topic."""
    of.cluster.topics = TopicListing({TOPIC: 1, OFFSETS: partitions}, {}, {})


def restarted(of: TopicConsumer, directory: Path) -> TopicConsumer:
    """Another that goes on from the snapshot of this one."""
    storage, again = Storage(name="default", intervals=4), topic_consumer()
    of.cluster.ends_s = NOW
    Snapshots(directory, 60, {"c": of.cluster}, {"c": of}, storage).save()
    Snapshots(directory, 60, {"c": again.cluster}, {"c": again}, storage).restore()
    return again


def test_a_group_goes_on_where_more_partitions_of_the_offsets_topic_take_it(
    tmp_path: Path,
) -> None:
    old, new = partition_of("g", 4), partition_of("g", 6)
    before = [commit(order, order - 900, partition=old) for order in (901, 902, 903)]
    late = commit(904, 4, partition=old)  # by a broker that has not been started again
    ended = [classic(905, "", old), commit(906, None, partition=old)]  # by one that has
    since = [classic(0, "new", new), commit(1, 5, partition=new), commit(2, 6, partition=new)]
    cases = {
        "one after the other": ([[late], since], [3, 4, 5, 6]),
        "the old one is read late": ([since, [late]], [3, 4, 5, 6]),
        "the old one is ended": ([[late], since, ended], [5, 6]),
        "all at once": ([[late, *ended, *since]], [5, 6]),
    }
    wrong = []
    for name, (batches, expected) in cases.items():
        for is_restarted in (False, True):
            reader = topic_consumer()
            grow(reader, 4)
            read(reader, classic(900, "old", old), *before)
            if is_restarted:
                reader = restarted(reader, tmp_path)
            grow(reader, 6)
            for written in batches:
                read(reader, *written)
            told = offsets(reader), owners(reader), reader.progress.position
            if told != (expected, ["new"], {4: 0, 5: 0}):  # new partitions are read from the first
                wrong.append((name, is_restarted, told))

    assert old != new
    assert wrong == []


def test_spark_reads_as_a_group_whose_coordinator_answers() -> None:
    leaders = {(OFFSETS_TOPIC, 0): 1, (OFFSETS_TOPIC, 1): 2, (OFFSETS_TOPIC, 2): 2}
    topics = TopicListing({OFFSETS_TOPIC: 4}, leaders, {})

    partitions = {
        str(brokers): partition_of(reader_group(topics, brokers), 4)
        for brokers in ({1}, {2}, {1, 2}, {3}, set())
    }

    assert partitions["{1}"] == 0
    assert partitions["{2}"] in (1, 2)
    assert partitions["{1, 2}"] in (0, 1, 2)
    assert partitions.keys() >= {"{3}", "set()"}  # nobody is there to be found: any will do
    hidden = [reader_group(TopicListing({}, {}, {}), {1}) for _ in range(2)]
    assert all(each.startswith("warren-reader-") for each in hidden)
    assert len({*hidden}) == 2  # Spark takes consumers of one group for consumers of one cluster
