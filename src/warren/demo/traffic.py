"""Topics, and a producer that writes evenly: all partitions of a topic are equally long."""

import threading
import time
from collections import Counter

import structlog
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

log = structlog.get_logger()

TURN_S = 0.5
WAIT_S = 30

# Messages in each partition: before the groups start, and per second after that.
TOPICS = {
    "orders": (6_000, 20),
    "invoices": (500, 20),
    "refunds": (500, 10),
    "imports": (3_000, 4),
    "archive": (50, 0),
    "receipts": (0, 0),  # the transactional producer writes it
}
BURST_S, BURST = 60, 3_000  # `imports` is written in bursts


class Traffic:
    def __init__(self, bootstrap: str, partitions: int) -> None:
        self.partitions = partitions
        self._bootstrap = bootstrap
        self._length: Counter[str] = Counter()  # of every partition of a topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 20})

    def length(self, topic: str) -> int:
        return self._length[topic]

    def prepare(self) -> None:
        """Create the topics and write their first messages."""
        admin = AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})
        made = admin.create_topics([NewTopic(name, self.partitions, 1) for name in TOPICS])
        for done in made.values():
            done.result(WAIT_S)
        self._write({topic: before for topic, (before, _) in TOPICS.items()})

    def run(self, stop: threading.Event) -> None:
        """Write until `stop` is set."""
        next_burst = time.monotonic() + BURST_S
        while not stop.wait(TURN_S):
            counts = Counter({topic: int(rate * TURN_S) for topic, (_, rate) in TOPICS.items()})
            if time.monotonic() >= next_burst:
                next_burst += BURST_S
                counts["imports"] += BURST
            try:
                self._write(counts)
            except KafkaException as error:
                log.warning("the demo's producer failed", problem=str(error))

    def _write(self, counts: dict[str, int]) -> None:
        for topic, count in counts.items():
            for partition in range(self.partitions):
                for _ in range(count):
                    self._produce(topic, partition)
        self._producer.flush(WAIT_S)
        # Counted after the write: no group may commit beyond the end.
        self._length.update(counts)

    def _produce(self, topic: str, partition: int) -> None:
        while True:
            try:
                self._producer.produce(topic, b"a message", partition=partition)
            except BufferError:  # with many partitions the queue fills up: let it send
                self._producer.poll(1)
            else:
                return
