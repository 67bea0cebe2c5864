"""Synthetic commits by the million, written straight into `__consumer_offsets`.

    PYTHONPATH=src:tests .venv/bin/python -m support.loader --bootstrap 127.0.0.1:9092

A round is one commit of every group on every partition of every topic; all groups read the same
topics, so 500 groups with 1,000 partitions each need one topic. Offsets are small on purpose: log
ends that fit them then cost a few records each.

The broker's group coordinators do not see what is written past them: the next real commit makes
them read it, and commits that come meanwhile may be refused (COORDINATOR_LOAD_IN_PROGRESS).
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import click
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from support import records

from warren.demo.broker import make_offsets_topic
from warren.errors import WarrenError
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of

# Only a client of this name may write to an internal topic.
INTERNAL_WRITER = "__admin_client"
IN_FLIGHT = 400_000
CHUNK = 10_000
WAIT_SECONDS = 60
PRODUCER = {
    "acks": "1",
    "linger.ms": "20",
    "batch.num.messages": "100000",
    "batch.size": "900000",  # brokers take a megabyte unless told otherwise
    "queue.buffering.max.messages": str(2 * IN_FLIGHT),
    "queue.buffering.max.kbytes": str(1 << 20),
    "delivery.report.only.error": True,
}

Batch = tuple[str, int, Iterator[dict[str, Any]]]  # topic, partition, messages for produce_batch


@dataclass(frozen=True)
class Load:
    """What to write; the last round is as of `newest_ms`, each before it `interval_ms` earlier."""

    newest_ms: int
    groups: int = 1
    topics: int = 1
    partitions: int = 1  # of each topic
    rounds: int = 1
    interval_ms: int = 10_000
    step: int = 1  # how far a group moves from round to round
    lag: int = 0  # how far log ends lie beyond the last commit
    version: int = 3  # of the commits' values
    metadata: str = ""
    prefix: str = ""  # of group and topic names

    @property
    def group_names(self) -> list[str]:
        return [f"{self.prefix}group-{n}" for n in range(self.groups)]

    @property
    def topic_names(self) -> list[str]:
        return [f"{self.prefix}topic-{n}" for n in range(self.topics)]

    @property
    def commits(self) -> int:
        return self.groups * self.topics * self.partitions * self.rounds

    def committed_ms(self, round_number: int) -> int:
        return self.newest_ms - (self.rounds - 1 - round_number) * self.interval_ms

    def offset(self, round_number: int, partition: int) -> int:
        # Neighbours differ, so that a mix-up of partitions shows.
        return (round_number + 1) * self.step + partition % 10

    def log_end(self, partition: int) -> int:
        return self.offset(self.rounds - 1, partition) + self.lag


class LoadError(WarrenError):
    def __init__(self, problem: str) -> None:
        super().__init__(f"loading stopped: {problem}")


def write_all(bootstrap: str, load: Load) -> None:
    """Topics, log ends that fit, and the commits."""
    create_topics(bootstrap, load)
    write_log_ends(bootstrap, load)
    write_commits(bootstrap, load)


def create_topics(bootstrap: str, load: Load) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [NewTopic(name, load.partitions, 1) for name in load.topic_names]
    for name, made in admin.create_topics(topics).items():
        try:
            made.result(WAIT_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise LoadError(f"topic {name}: {error}") from error


def write_log_ends(bootstrap: str, load: Load) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, **PRODUCER})
    batches = (
        (topic, partition, iter([{"value": b""}] * load.log_end(partition)))
        for topic in load.topic_names
        for partition in range(load.partitions)
    )
    _produce(producer, batches)


def write_commits(bootstrap: str, load: Load) -> None:
    settings = {"bootstrap.servers": bootstrap, "client.id": INTERNAL_WRITER, **PRODUCER}
    _produce(Producer(settings), _commits(load, make_offsets_topic(bootstrap)))


def _commits(load: Load, offsets_partitions: int) -> Iterator[Batch]:
    """Round by round, as time would bring them."""
    homes: dict[int, list[bytes]] = defaultdict(list)
    for group in load.group_names:
        heads = [records.commit_key_head(group, topic) for topic in load.topic_names]
        homes[partition_of(group, offsets_partitions)] += heads
    for values in _values(load):
        for home, heads in homes.items():
            commits = (
                {"key": head + end, "value": value} for head in heads for end, value in values
            )
            yield OFFSETS_TOPIC, home, commits


def _values(load: Load) -> Iterator[list[tuple[bytes, bytes]]]:
    """For every round, each partition's end of the key and its value: all groups go at one pace."""
    for number in range(load.rounds):
        yield [(records.int32(p), _value(load, number, p)) for p in range(load.partitions)]


def _value(load: Load, number: int, partition: int) -> bytes:
    offset, committed_ms = load.offset(number, partition), load.committed_ms(number)
    return records.commit_value(offset, committed_ms, metadata=load.metadata, version=load.version)


def _produce(producer: Producer, batches: Iterable[Batch]) -> None:
    failed: list[str] = []
    for topic, partition, messages in batches:
        while chunk := list(islice(messages, CHUNK)):
            while len(producer) > IN_FLIGHT:
                producer.poll(0.01)
            # Only failures are reported back (see PRODUCER).
            taken = producer.produce_batch(
                topic, chunk, partition, on_delivery=lambda e, _: failed.append(str(e))
            )
            if taken < len(chunk):
                failed.append(f"the producer took {taken} of {len(chunk)} records")
            if failed:
                raise LoadError(failed[0])
    left = producer.flush(WAIT_SECONDS)
    if failed or left:
        raise LoadError(failed[0] if failed else f"{left} records were not taken in time")


@click.command()
@click.option("--bootstrap", required=True, help="The broker, host:port.")
@click.option("--groups", default=500, show_default=True)
@click.option("--topics", default=1, show_default=True)
@click.option("--partitions", default=1000, show_default=True, help="Of each topic.")
@click.option("--rounds", default=6, show_default=True, help="Commits of each partition.")
@click.option("--interval", default=10, show_default=True, help="Seconds between two rounds.")
@click.option("--age", default=0, show_default=True, help="Seconds since the last round.")
@click.option("--lag", default=0, show_default=True, help="Records after the last commit.")
@click.option("--value-version", "version", default=3, show_default=True, type=click.IntRange(0, 4))
def main(bootstrap: str, interval: int, age: int, **sizes: Any) -> None:
    """Write synthetic commits, and topics whose log ends fit them."""
    newest_ms = int((time.time() - age) * 1000)
    load = Load(newest_ms=newest_ms, interval_ms=interval * 1000, **sizes)
    try:
        create_topics(bootstrap, load)
        write_log_ends(bootstrap, load)
        started = time.perf_counter()
        write_commits(bootstrap, load)
    except WarrenError as error:
        raise click.ClickException(str(error)) from error
    seconds = time.perf_counter() - started
    rate = load.commits / seconds
    click.echo(f"{load.commits:,} commits in {seconds:.1f} s, {rate:,.0f} a second")


if __name__ == "__main__":
    main()
