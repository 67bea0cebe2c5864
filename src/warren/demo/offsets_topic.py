"""The offsets topic of a fresh broker, which comes into being when somebody asks for a group."""

import time
from concurrent.futures import wait
from itertools import count

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from warren.demo.records import OFFSETS_TOPIC
from warren.errors import StartError
from warren.sources.placement import partition_of

WAIT_SECONDS = 60
LOADING = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._TIMED_OUT,  # noqa: SLF001  librdkafka's own name
)


def make_offsets_topic(bootstrap: str) -> int:
    """Count the topic's partitions; if it is new, wait until commits to each would be taken."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    partitions = _partitions(admin)
    if partitions:
        return partitions
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        # Clients do not retry a commit that meets a coordinator which is still loading.
        if _all_take_commits(admin, partitions or 1) and partitions:
            return partitions
        time.sleep(0.1)
        partitions = _partitions(admin)
    raise StartError(f"{OFFSETS_TOPIC} does not come into being at {bootstrap}")


def _partitions(admin: AdminClient) -> int:
    topic = admin.list_topics(timeout=10).topics.get(OFFSETS_TOPIC)
    return len(topic.partitions) if topic else 0


def _all_take_commits(admin: AdminClient, partitions: int) -> bool:
    groups = [_group_of(partition, partitions) for partition in range(partitions)]
    answers = admin.describe_consumer_groups(groups, request_timeout=5).values()
    wait(answers)
    return not any(_is_loading(answer.exception()) for answer in answers)


def _is_loading(error: BaseException | None) -> bool:
    # Any other error is a loaded coordinator's answer that there is no such group.
    return isinstance(error, KafkaException) and error.args[0].code() in LOADING


def _group_of(partition: int, partitions: int) -> str:
    """A name that hashes to the partition."""
    names = (f"nobody-{number}" for number in count())
    return next(name for name in names if partition_of(name, partitions) == partition)
