"""The loader writes what a broker would have written, where it would have written it."""

import os
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from support import loader, records

from warren.demo.broker import Broker, make_offsets_topic
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of

NEWEST_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A broker of our own: writing past its coordinators disturbs whoever commits in earnest."""
    with Broker(offsets_partitions=4) as running:
        yield running


def read_offsets_topic(broker: Broker, *, groups: set[str]) -> list[tuple[str, Message]]:
    """Every record of these groups that is in the offsets topic now."""
    settings = {"group.id": "reader", "enable.partition.eof": True, "log_level": 0}
    reader = Consumer({"bootstrap.servers": broker.bootstrap, **settings})
    reader.assign([TopicPartition(OFFSETS_TOPIC, partition, 0) for partition in range(4)])
    found, ended = [], 0
    while ended < 4:
        message = reader.poll(30)
        assert message is not None, "the offsets topic does not answer"
        if message.error():
            assert message.error().code() == KafkaError._PARTITION_EOF  # noqa: SLF001  librdkafka's own name
            ended += 1
        else:
            found.append((group_of(message.key()), message))
    reader.close()
    return [(group, message) for group, message in found if group in groups]


def group_of(key: bytes) -> str:
    (length,) = struct.unpack_from(">h", key, 2)
    return key[4 : 4 + length].decode()


def test_a_real_commit_equals_ours(broker: Broker) -> None:
    """Kafka itself is the reference for the layout, and for the partition a group lives in."""
    loader.create_topics(broker.bootstrap, loader.Load(NEWEST_MS, prefix="real-"))
    make_offsets_topic(broker.bootstrap)
    groups = [
        "billing",
        "g-1",
        "polygenelubricants",
        "ünï-😀",
    ]  # hashes below, above, and far below 0
    for group in groups:
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
        place = TopicPartition("real-topic-0", 0, 5, metadata="m" * 200)
        consumer.commit(offsets=[place], asynchronous=False)
        consumer.close()

    real = dict(read_offsets_topic(broker, groups=set(groups)))

    homes = {group: message.partition() for group, message in real.items()}
    assert homes == {group: partition_of(group, 4) for group in groups}
    for group, message in real.items():
        value = message.value()
        (committed_ms,) = struct.unpack(">q", value[-9:-1])
        # This client ends its metadata with a NUL.
        ours = records.commit_value(5, committed_ms, metadata="m" * 200 + "\0", version=4)
        assert (message.key(), value) == (
            records.commit_key(group, "real-topic-0", 0),
            ours,
        )


def test_every_group_commits_on_every_partition_in_every_round(broker: Broker) -> None:
    load = loader.Load(NEWEST_MS, groups=7, topics=2, partitions=5, rounds=3, prefix="count-")

    loader.write_all(broker.bootstrap, load)

    written = read_offsets_topic(broker, groups=set(load.group_names))
    keys = Counter(message.key() for _, message in written)
    expected = {
        records.commit_key(group, topic, partition): load.rounds
        for group in load.group_names
        for topic in load.topic_names
        for partition in range(load.partitions)
    }
    assert load.commits == 210
    assert keys == expected
    assert {group: message.partition() for group, message in written} == {
        group: partition_of(group, 4) for group in load.group_names
    }


def test_commits_grow_older_by_the_interval_and_stay_within_the_log(broker: Broker) -> None:
    load = loader.Load(
        NEWEST_MS, partitions=12, rounds=2, interval_ms=60_000, step=5, lag=3, prefix="ages-"
    )

    loader.write_all(broker.bootstrap, load)

    key = records.commit_key("ages-group-0", "ages-topic-0", 11)
    written = read_offsets_topic(broker, groups={"ages-group-0"})
    values = [message.value() for _, message in written if message.key() == key]
    commits = [struct.unpack(">hqihq", value) for value in values]
    assert commits == [(3, 6, -1, 0, NEWEST_MS - 60_000), (3, 11, -1, 0, NEWEST_MS)]
    assert log_end(broker, "ages-topic-0", 11) == 11 + 3


def log_end(broker: Broker, topic: str, partition: int) -> int:
    asker = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "asker"})
    _, end = asker.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
    asker.close()
    assert isinstance(end, int)
    return end


def test_more_than_a_broker_takes_in_one_message_is_split(broker: Broker) -> None:
    load = loader.Load(NEWEST_MS, partitions=500, rounds=50, prefix="bulk-")

    loader.write_commits(broker.bootstrap, load)

    written = read_offsets_topic(broker, groups=set(load.group_names))
    size = sum(len(message.key()) + len(message.value()) for _, message in written)
    assert len(written) == 25_000
    assert size > 1 << 20


def test_the_command_says_how_fast_it_was(broker: Broker) -> None:
    sizes = ["--groups", "2", "--partitions", "3", "--rounds", "2", "--value-version", "4"]

    done = subprocess.run(
        [sys.executable, "-m", "support.loader", "--bootstrap", broker.bootstrap, *sizes],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("12 commits in ")
