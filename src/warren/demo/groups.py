"""Consumer groups in telling states, kept there by real clients in threads.

All read one topic that a producer feeds evenly. A group is a function that takes one turn with its
consumer; turns come twice a second, so that a window of ten commits tells after five.
"""

import threading
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TOPIC, PARTITIONS = "orders", 4
TURN_S = 0.5
MESSAGES_A_TURN = 40  # to each partition

Turn = Callable[[Consumer, int], None]


def healthy(consumer: Consumer, _: int) -> None:
    """Reads all there is and commits it."""
    if consumer.consume(PARTITIONS * MESSAGES_A_TURN * 2, timeout=TURN_S):
        consumer.commit(asynchronous=False)


def falling_behind(consumer: Consumer, turn: int) -> None:
    """Moves on, at half the speed of the producer."""
    if consumer.consume(PARTITIONS * MESSAGES_A_TURN // 2, timeout=TURN_S) and turn % 4 == 0:
        consumer.commit(asynchronous=False)


def stopped(consumer: Consumer, turn: int) -> None:
    """Commits for a while, then never again, though it is still a member."""
    if turn < 24:
        falling_behind(consumer, turn)
    else:
        consumer.poll(0)


def stalled(consumer: Consumer, turn: int) -> None:
    """Commits the same offsets again and again: a message it cannot get past."""
    if turn < 2:
        falling_behind(consumer, turn)
    else:
        consumer.poll(0)
        _commit_at(consumer, 10)


def rewound(consumer: Consumer, turn: int) -> None:
    """Starts over from the first offset every ten turns."""
    consumer.poll(0)
    _commit_at(consumer, 1_000 + 20 * turn if turn % 10 < 8 else 100)


def _commit_at(consumer: Consumer, offset: int) -> None:
    places = [TopicPartition(TOPIC, part.partition, offset) for part in consumer.assignment()]
    if places:
        consumer.commit(offsets=places, asynchronous=False)


GROUPS: dict[str, tuple[Turn, dict[str, str]]] = {
    "healthy": (healthy, {}),
    "healthy-kip848": (healthy, {"group.protocol": "consumer"}),
    "falling-behind": (falling_behind, {}),
    "stopped": (stopped, {}),
    "stalled": (stalled, {}),
    "rewound": (rewound, {}),
}


def make_topic(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for made in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        made.result(30)


def produce(bootstrap: str, stop: threading.Event) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    while not stop.wait(TURN_S):
        for partition in range(PARTITIONS):
            for _ in range(MESSAGES_A_TURN):
                producer.produce(TOPIC, b"an order", partition=partition)
        producer.flush(5)


def consume(bootstrap: str, group: str, stop: threading.Event) -> None:
    """Keep one group in its state until `stop`, whatever the broker says in between."""
    take_turn, settings = GROUPS[group]
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": f"{group}-1",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **settings,
        }
    )
    consumer.subscribe([TOPIC])
    turn = 0
    while not stop.wait(TURN_S):
        try:
            take_turn(consumer, turn)
        except KafkaException:  # a rebalance, or the broker on its way down: next turn
            continue
        turn += 1
    consumer.close()
