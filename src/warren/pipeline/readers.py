"""The threads that read what is judged: some for each cluster, and one for each consumer."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, repeat

from pyspark.sql import SparkSession

from warren.config import Config
from warren.pipeline.cluster import ClusterState
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.follow_offsets_topic import TopicReader
from warren.pipeline.outside_consumer import OutsideConsumer
from warren.pipeline.poll_groups import GroupPoller
from warren.pipeline.reported_offsets import ReportedConsumer, ReportReader
from warren.pipeline.shared_query import SharedQuery
from warren.pipeline.threads import Trouble, keep_running
from warren.pipeline.watch_brokers import Watcher
from warren.pipeline.watch_checkpoints import CheckpointWatcher
from warren.pipeline.watch_zookeeper import ZookeeperWatcher

MANY = 4  # readers; more than that share queries
TOGETHER = 10  # readers of one query at most
GATHER_S = 1.0  # a query starts when no reader has come for so long
LAST_RETRY_S = 5.0  # for brokers that do not answer, beside their timeout


def shared_queries(spark: SparkSession, readers: int) -> Iterator[SharedQuery | None]:
    """For each reader the query that it shares; None: it has one of its own."""
    if readers <= MANY:
        return repeat(None)
    count = -(-readers // TOGETHER)
    members = [len(range(n, readers, count)) for n in range(count)]
    return cycle([SharedQuery(spark, GATHER_S, each) for each in members])


@dataclass(frozen=True)
class Readers:
    config: Config
    changed: Callable[[], None]  # called when there is something new to judge
    stop: threading.Event

    def watch(
        self, clusters: Mapping[str, ClusterState], topic_consumers: Mapping[str, TopicConsumer]
    ) -> Iterator[threading.Thread]:
        """Poll the brokers for topics, log ends, dead groups and the ends of the offsets topics."""
        for name, cluster in clusters.items():
            own = [each for each in topic_consumers.values() if each.cluster is cluster]
            settings = self.config.clusters[name]
            connection = self.config.connection(settings)
            watcher = Watcher(cluster, settings, connection, own, self.changed)
            yield keep_running(
                f"cluster {name}",
                watcher.run,
                cluster,
                self.stop,
                self.changed,
                longest_s=LAST_RETRY_S,
            )
            yield keep_running(f"pulse {name}", watcher.pulse.run, Trouble(), self.stop)
            yield keep_running(f"probes {name}", watcher.probes.run, Trouble(), self.stop)
            if own:
                yield keep_running(f"progress {name}", watcher.watch_progress, Trouble(), self.stop)

    def follow(
        self, topic_consumers: Mapping[str, TopicConsumer], spark: SparkSession
    ) -> Iterator[threading.Thread]:
        """Read the offsets topics."""
        shared = shared_queries(spark, len(topic_consumers))
        for (name, topic_consumer), query in zip(topic_consumers.items(), shared, strict=False):
            connection = self.config.connection(topic_consumer.settings)
            follower = TopicReader(spark, topic_consumer, connection, self.changed, query)
            progress = topic_consumer.progress
            yield keep_running(f"consumer {name}", follower.run, progress, self.stop, self.changed)
            if topic_consumer.live_events is not None:
                trouble = topic_consumer.backfill_trouble
                yield keep_running(f"backfill {name}", follower.backfill, trouble, self.stop)

    def follow_outside(
        self, outside_consumers: Mapping[str, OutsideConsumer], spark: SparkSession
    ) -> Iterator[threading.Thread]:
        """Read the commits that do not come from an offsets topic."""
        for name, outside_consumer in outside_consumers.items():
            follower: GroupPoller | CheckpointWatcher | ReportReader | ZookeeperWatcher
            if isinstance(outside_consumer, ReportedConsumer):
                follower = ReportReader(outside_consumer, self.changed)
            elif outside_consumer.settings.class_name == "spark_checkpoint":
                follower = CheckpointWatcher(outside_consumer, spark, self.changed)
            elif outside_consumer.is_polled:
                connection = self.config.connection(outside_consumer.settings)
                follower = GroupPoller(outside_consumer, connection, self.changed)
            else:
                follower = ZookeeperWatcher(outside_consumer, self.changed)
            yield keep_running(
                f"consumer {name}", follower.run, outside_consumer, self.stop, self.changed
            )
