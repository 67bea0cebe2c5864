"""Snapshots of a small cluster, for tests that save and restore them."""

from pathlib import Path
from uuid import UUID

from support.batches import NOW, Record, batch, log_ends

from warren.config import Consumer, Storage
from warren.model.group_events import ClassicGroup, ClassicMember
from warren.pipeline.cluster import Accepts, ClusterState, new_cluster
from warren.pipeline.consumers import TopicConsumer
from warren.pipeline.snapshots import Snapshots
from warren.sources.log_ends import TopicListing

TOPIC_ID = UUID(int=7)


def snapshots(directory: Path, intervals: int = 10) -> Snapshots:
    storage = Storage(name="default", intervals=intervals)
    cluster = new_cluster("a/b", storage)
    consumer = Consumer(name="c", cluster="a/b", servers=("localhost:1",))
    topic_consumers = {"c": TopicConsumer(consumer, cluster, Accepts())}
    return Snapshots(directory, 60, {"a/b": cluster}, topic_consumers, storage)


def only(of: Snapshots) -> ClusterState:
    (cluster,) = of.clusters.values()
    return cluster


def fill(of: Snapshots) -> None:
    cluster = only(of)
    cluster.topics, cluster.topics_s, cluster.ends_s = (
        TopicListing({"t": 1}, {}, {"t": TOPIC_ID}),
        5,
        6,
    )
    cluster.windows.set_log_ends(log_ends(10), {"t": 1})
    cluster.windows.fold(batch(Record(1, 5, group="caf\u00e9")), NOW)
    member = ClassicMember("m", "", "client", "/host", {"t": (0,)})
    cluster.membership.fold([ClassicGroup("café", 3, (member,))])
    of.topic_consumers["c"].progress.position.update({0: 2, 1: 99})


def only_file(directory: Path) -> Path:
    """The one snapshot; beside it is nothing but the lock."""
    (file,) = (each for each in directory.iterdir() if each.name != "lock")
    return file
