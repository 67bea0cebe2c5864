"""One real member of a consumer group."""

import time
from collections.abc import Callable

import structlog
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from warren.demo.scene import Scene

log = structlog.get_logger()

MOST_MESSAGES = 20_000
WAIT_S = 30

Places = Callable[[str, int], int]  # topic, partition -> offset


class DemoMember:
    """Either reads messages, or commits offsets (`commit_at`) without reading."""

    def __init__(self, scene: Scene, group: str, *topics: str, **settings: object) -> None:
        self.group = group
        self.committed_ms = 0  # when it committed last
        self._has_left = False
        self._scene = scene
        self._consumer = Consumer(
            scene.client(
                group_id=group,
                client_id=f"{group}-1",
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                **settings,
            )
        )
        self._consumer.subscribe([*topics])

    @property
    def consumer(self) -> Consumer:
        return self._consumer

    def read(self, seconds: float) -> list[Message]:
        """The messages that come within this time."""
        return [each for each in self._consumer.consume(MOST_MESSAGES, seconds) if not each.error()]

    def commit_read(self) -> None:
        """Commit everything that was read."""
        self._commit([each for each in self.positions() if each.offset >= 0])

    def positions(self) -> list[TopicPartition]:
        return list(self._consumer.position(self._consumer.assignment()))

    def commit_at(self, places: Places) -> None:
        """Commit these offsets for every assigned partition."""
        self.rest()
        assigned = self._consumer.assignment()
        self._commit(
            [TopicPartition(p.topic, p.partition, places(p.topic, p.partition)) for p in assigned]
        )

    def commit_all(self, offset: int) -> None:
        self.commit_at(lambda _topic, _partition: offset)

    def rest(self) -> None:
        """Stay a member without reading anything."""
        assigned = self._consumer.assignment()
        if assigned:
            self._consumer.pause(assigned)
        self._consumer.poll(0)

    def _commit(self, places: list[TopicPartition]) -> None:
        if not places:
            return
        now_ms = int(time.time() * 1000)
        try:
            self._consumer.commit(offsets=places, asynchronous=False)
            self.committed_ms = now_ms
        except KafkaException as error:  # a rebalance, or the broker is stopping; retried next time
            log.info("a commit of the demo failed", group=self.group, problem=str(error))

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self._consumer.close()

    def delete_group(self) -> None:
        """Leave the group and delete it."""
        self.leave()
        admin = AdminClient(self._scene.client())
        admin.delete_consumer_groups([self.group])[self.group].result(WAIT_S)
