"""The threads that bring in what is judged: one for each cluster, and one for each consumer."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from warren.config import Config
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import OutsideConsumer, TopicConsumer
from warren.pipeline.follow_offsets_topic import TopicReader
from warren.pipeline.poll_groups import GroupPoller
from warren.pipeline.threads import Trouble, surviving
from warren.pipeline.watch_brokers import Watcher
from warren.pipeline.watch_zookeeper import ZookeeperWatcher

ASKED_AGAIN_S = 5.0  # brokers that do not answer, beside the time they are given to


@dataclass(frozen=True)
class Readers:
    config: Config
    changed: Callable[[], None]  # to be told when there is something new to judge
    stop: threading.Event

    def watch(
        self, clusters: Mapping[str, ClusterState], topic_consumers: Mapping[str, TopicConsumer]
    ) -> Iterator[threading.Thread]:
        """Ask the brokers: topics, log ends, dead groups, how far there is to read."""
        for name, cluster in clusters.items():
            own = [each for each in topic_consumers.values() if each.cluster is cluster]
            settings = self.config.clusters[name]
            connection = self.config.connection(settings)
            watcher = Watcher(cluster, settings, connection, own, self.changed)
            yield surviving(
                f"cluster {name}",
                watcher.run,
                cluster,
                self.stop,
                self.changed,
                longest_s=ASKED_AGAIN_S,
            )
            yield surviving(f"pulse {name}", watcher.pulse.run, Trouble(), self.stop)
            if own:
                yield surviving(f"progress {name}", watcher.watch_progress, Trouble(), self.stop)

    def follow(
        self, topic_consumers: Mapping[str, TopicConsumer], spark: SparkSession
    ) -> Iterator[threading.Thread]:
        """Read the offsets topics."""
        for name, topic_consumer in topic_consumers.items():
            connection = self.config.connection(topic_consumer.settings)
            follower = TopicReader(spark, topic_consumer, connection, self.changed)
            progress = topic_consumer.progress
            yield surviving(f"consumer {name}", follower.run, progress, self.stop, self.changed)
            if topic_consumer.heard is not None:
                yield surviving(f"backfill {name}", follower.backfill, Trouble(), self.stop)

    def hear(self, outside_consumers: Mapping[str, OutsideConsumer]) -> Iterator[threading.Thread]:
        """Take the commits that are not read from an offsets topic."""
        for name, outside_consumer in outside_consumers.items():
            follower: GroupPoller | ZookeeperWatcher
            if outside_consumer.is_asked:
                connection = self.config.connection(outside_consumer.settings)
                follower = GroupPoller(outside_consumer, connection, self.changed)
            else:
                follower = ZookeeperWatcher(outside_consumer, self.changed)
            yield surviving(
                f"consumer {name}", follower.run, outside_consumer, self.stop, self.changed
            )
