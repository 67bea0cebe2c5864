"""Several real brokers that make one Kafka cluster on loopback."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from confluent_kafka.admin import AdminClient
from support.waiting import eventually

from warren.demo.broker import START_SECONDS, Broker

# A broker that does not answer loses its partitions soon: Kafka's own nine seconds are long here.
PROPERTIES = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"}


class BrokerCluster:
    """`with BrokerCluster() as cluster: ...`; `cluster[2]` is the broker of that id."""

    def __init__(
        self,
        size: int = 3,
        *,
        offsets_partitions: int = 4,
        properties: Mapping[str, str] | None = None,
        heap: str = "256m",
    ) -> None:
        self.brokers = [
            Broker(offsets_partitions=offsets_partitions, heap=heap) for _ in range(size)
        ]
        numbers = range(1, size + 1)
        nodes = [*zip(numbers, self.brokers, strict=True)]
        voters = ",".join(f"{number}@{broker.controller}" for number, broker in nodes)
        of_all = {"controller.quorum.voters": voters, **PROPERTIES, **(properties or {})}
        for number, broker in nodes:
            broker.cluster_id = self.brokers[0].cluster_id
            broker.configure({"node.id": str(number), **of_all})
        self.bootstrap = ",".join(broker.bootstrap for broker in self.brokers)

    def __getitem__(self, number: int) -> Broker:
        return self.brokers[number - 1]

    def __enter__(self) -> Self:
        try:
            # At once: the first answers only when most of them are there.
            with ThreadPoolExecutor(len(self.brokers)) as starting:
                list(starting.map(Broker.start, self.brokers))
            self.wait_for_all()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def wait_for_all(self) -> None:
        """Return when every broker is a member that the others know."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        eventually(lambda: len(admin.list_topics(timeout=START_SECONDS).brokers), len(self.brokers))

    def close(self) -> None:
        with ExitStack() as closing:
            for broker in self.brokers:
                closing.callback(broker.close)
