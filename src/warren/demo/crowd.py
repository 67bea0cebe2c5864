"""Many groups beside the telling ones: real groups without members, all committed by one client.

Most are at the end of the log; some fall behind, some are stuck, some have stopped.
"""

import time
from collections.abc import Iterator

import structlog
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.demo.groups import POISON, SLOW
from warren.demo.scene import Scene

log = structlog.get_logger()

TOPIC = "orders"
ROUND_S = 5.0
AT_A_TIME = 100  # requests
WAIT_S = 30
STOPPED_AFTER = 3  # rounds


def take_turns(count: int, scene: Scene) -> None:
    """Commit for every group of the crowd, round after round."""
    admin = AdminClient(scene.client())
    turn = 0
    while not scene.stop.is_set():
        began = time.monotonic()
        try:
            _commit(admin, [*_round(count, turn, scene)], scene)
        except KafkaException as error:
            log.info("commits of the demo failed", problem=str(error))
        # Before Warren watches nobody moves: it would see all these commits at once.
        turn += 1 if scene.eyes.end(TOPIC) else 0
        scene.stop.wait(max(ROUND_S - (time.monotonic() - began), SLOW))


def _round(count: int, turn: int, scene: Scene) -> Iterator[ConsumerGroupTopicPartitions]:
    end = scene.traffic.length(TOPIC)
    for number in range(count):
        at = {3: 100 + SLOW * turn, 7: POISON, 11: 100}.get(number % 20, end)
        if number % 20 == 11 and turn >= STOPPED_AFTER:
            continue
        places = [TopicPartition(TOPIC, each, at) for each in range(scene.traffic.partitions)]
        yield ConsumerGroupTopicPartitions(f"crowd-{number:05}", places)


def _commit(admin: AdminClient, groups: list[ConsumerGroupTopicPartitions], scene: Scene) -> None:
    for start in range(0, len(groups), AT_A_TIME):
        if scene.stop.is_set():
            return
        asked = [
            answer
            for group in groups[start : start + AT_A_TIME]
            for answer in admin.alter_consumer_group_offsets([group]).values()
        ]
        for answer in asked:
            answer.result(WAIT_S)
