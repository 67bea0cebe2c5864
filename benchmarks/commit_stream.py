"""Commits at a steady rate, straight into `__consumer_offsets`, from a process of their own.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/commit_stream.py \
        --bootstrap HOST:PORT --rate 20000 --seconds 60

The groups and the topic are those of `support.loader`, which has written the first round. One group
after the other commits on all its partitions, each time one higher. At the end it prints how many
times a group did so, as JSON.
"""

import json
import time

import click
from confluent_kafka import Producer
from support import records
from support.loader import IN_FLIGHT, INTERNAL_WRITER, PRODUCER, WAIT_SECONDS, Load, LoadError

from warren.demo.broker import make_offsets_topic
from warren.sources.group_offsets import OFFSETS_TOPIC, partition_of

TOPIC = "topic-0"
BUCKET_S = 0.1  # of commits that may be made up for at once


class Writer:
    """Writes a group's commits where the coordinator would."""

    def __init__(self, bootstrap: str) -> None:
        settings = {"bootstrap.servers": bootstrap, "client.id": INTERNAL_WRITER, "log_level": 0}
        self._producer = Producer(settings | PRODUCER)
        self._offsets_partitions = make_offsets_topic(bootstrap)
        self._failed: list[str] = []

    def write(self, group: str, topic: str, offsets: list[int]) -> None:
        """`offsets` are those of the partitions, from the first on."""
        now_ms, head = int(time.time() * 1000), records.commit_key_head(group, topic)
        messages = [
            {"key": head + records.int32(n), "value": records.commit_value(offset, now_ms)}
            for n, offset in enumerate(offsets)
        ]
        home = partition_of(group, self._offsets_partitions)
        taken = self._producer.produce_batch(
            OFFSETS_TOPIC, messages, home, on_delivery=lambda e, _: self._failed.append(str(e))
        )
        self._producer.poll(0)
        while len(self._producer) > IN_FLIGHT:
            self._producer.poll(0.01)
        if self._failed or taken < len(messages):
            raise LoadError(self._failed[0] if self._failed else "the producer is full")

    def flush(self) -> None:
        left = self._producer.flush(WAIT_SECONDS)
        if self._failed or left:
            raise LoadError(self._failed[0] if self._failed else f"{left} records are left")


def offset_of(written: int, groups: int, number: int) -> int:
    """What group `number` has last committed on partition 0, after so many turns of all groups."""
    turns = written // groups + (number < written % groups)
    return Load(newest_ms=0).offset(turns, 0)  # the loader's round was the first


@click.command()
@click.option("--bootstrap", required=True)
@click.option("--rate", default=20_000, help="Commits a second.")
@click.option("--seconds", default=60.0)
@click.option("--groups", default=500)
@click.option("--partitions", default=100)
def main(bootstrap: str, rate: int, seconds: float, groups: int, partitions: int) -> None:
    writer, load = Writer(bootstrap), Load(newest_ms=0, groups=groups, partitions=partitions)
    names, began, written = load.group_names, time.monotonic(), 0
    full = BUCKET_S * rate
    allowed, last = 0.0, began
    while (now := time.monotonic()) - began < seconds:
        allowed, last = min(allowed + (now - last) * rate, max(full, partitions)), now
        if allowed < partitions:
            time.sleep((partitions - allowed) / rate)
            continue
        turn = written // groups + 1
        offsets = [load.offset(turn, partition) for partition in range(partitions)]
        writer.write(names[written % groups], TOPIC, offsets)
        allowed -= partitions
        written += 1
    writer.flush()
    took = time.monotonic() - began
    print(json.dumps({"written": written, "rate": written * partitions / took}))


if __name__ == "__main__":
    main()
