"""The offsets topic of a new broker, and records as a broker writes them."""

import struct
import time
from concurrent.futures import wait
from itertools import count

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren.errors import StartError
from warren.sources.group_offsets import partition_of

OFFSETS_TOPIC = "__consumer_offsets"


def commit_key(group: str, topic: str, partition: int) -> bytes:
    return commit_key_head(group, topic) + struct.pack(">i", partition)


def commit_key_head(group: str, topic: str) -> bytes:
    """The key of a commit up to the partition number."""
    return struct.pack(">h", 1) + _string(group) + _string(topic)


def commit_value(offset: int, committed_ms: int, *, metadata: str = "", version: int = 3) -> bytes:
    head, between = commit_value_parts(metadata, version)
    tail = b"\x00" if version == 4 else b""  # no tagged fields
    return head + struct.pack(">q", offset) + between + struct.pack(">q", committed_ms) + tail


def commit_value_parts(metadata: str, version: int) -> tuple[bytes, bytes]:
    """The bytes before the offset, and those between the offset and the commit time."""
    text = metadata.encode()
    no_epoch = struct.pack(">i", -1)
    between = {
        0: _string(metadata),
        1: _string(metadata),
        2: _string(metadata),
        3: no_epoch + _string(metadata),
        4: no_epoch + _varint(len(text) + 1) + text,
    }
    return struct.pack(">h", version), between[version]


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


WAIT_SECONDS = 60
LOADING = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._TIMED_OUT,  # noqa: SLF001  librdkafka's own name
)


def make_offsets_topic(bootstrap: str) -> int:
    """Create the topic and wait until every partition accepts commits; returns their number."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    partitions = _partitions(admin)
    if partitions:
        return partitions
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        # Clients do not retry a commit while the coordinator is loading.
        if _all_take_commits(admin, partitions or 1) and partitions:
            return partitions
        time.sleep(0.1)
        partitions = _partitions(admin)
    raise StartError(f"the broker at {bootstrap} does not create {OFFSETS_TOPIC}")


def _partitions(admin: AdminClient) -> int:
    topic = admin.list_topics(timeout=10).topics.get(OFFSETS_TOPIC)
    return len(topic.partitions) if topic else 0


def _all_take_commits(admin: AdminClient, partitions: int) -> bool:
    groups = [_group_of(partition, partitions) for partition in range(partitions)]
    answers = admin.describe_consumer_groups(groups, request_timeout=5).values()
    wait(answers)
    return not any(_is_loading(answer.exception()) for answer in answers)


def _is_loading(error: BaseException | None) -> bool:
    # Any other error comes from a loaded coordinator: there is no such group.
    return isinstance(error, KafkaException) and error.args[0].code() in LOADING


def _group_of(partition: int, partitions: int) -> str:
    """A group name that hashes to this partition."""
    names = (f"nobody-{number}" for number in count())
    return next(name for name in names if partition_of(name, partitions) == partition)
