"""`warren prepare`: everything that a first start would download or make, at once.

To learn which classes Java needs, Warren runs for a moment: a broker, a commit, Spark reading it,
and a history table.
"""

import shutil
import tempfile
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from rich.console import Console

from warren.demo import show
from warren.demo.broker import Broker, make_offsets_topic
from warren.demo.place import interruptible
from warren.demo.run import fetch_jars
from warren.errors import StartError
from warren.pipeline import steps
from warren.process.signals import stopping
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.offsets_topic import HandOver, TopicSource, TopicStream
from warren.spark import class_archive, jars
from warren.spark.class_archive import ClassArchive, Recording
from warren.spark.java import java_home
from warren.spark.java_process import find_archive, is_plain
from warren.spark.session import recordings, start_session, stop_session

MASTER = "local[2]"
TOPIC = "prepare"
BATCH_S = 120.0
EARLIEST = -2  # Kafka's


def prepare(*, demo: bool) -> int:
    """Download the jars and make the archives; returns the exit code.

    Without `demo` nothing of the broker stays that was not there before.
    """
    console = show.console()
    had_broker = jars.is_cached(jars.BROKER)
    with stopping(forced=lambda: None) as stop:
        try:
            with interruptible():
                _prepare(console, stop, demo=demo)
        except KeyboardInterrupt:
            console.print("Stopped before all was there.")
            return 1
        finally:
            if not (demo or had_broker):
                shutil.rmtree(jars.cache_dir() / "jars" / jars.BROKER.folder, ignore_errors=True)
    console.print(f"Ready: {jars.cache_dir()}")
    return 0


def is_prepared() -> bool:
    """Whether all jars and archives are there, those of the broker too."""
    bundles = (jars.SPARK_KAFKA, jars.DELTA, jars.BROKER)
    return all(map(jars.is_cached, bundles)) and not _missing(demo=True)


def _prepare(console: Console, stop: threading.Event, *, demo: bool) -> None:
    for bundle in (jars.SPARK_KAFKA, jars.DELTA):
        fetch_jars(console, bundle)
        jars.resolve(bundle)  # a directory of the user's may lack some
    if _spark_archive() is None:
        console.print("No class archive for Spark: what is set in the environment rules it out.")
    if not demo and not _missing(demo=False):
        return
    fetch_jars(console, jars.BROKER)
    if demo:
        jars.resolve(jars.BROKER)
    missing = _missing(demo=demo)
    if not missing:
        return
    with ExitStack() as stack:
        with show.step(console, "Running Kafka and Spark to see which classes they load"):
            learned = _learn(stack)
        for each in learned:
            if each.archive in missing:
                kind = each.archive.file.stem.partition("-")[0]
                with show.step(console, f"Making the class archive of {kind}, for fast starts"):
                    class_archive.make(each, stop)


def _spark_archive() -> ClassArchive | None:
    """Nothing where Spark's own scripts must start it, or an option rules an archive out."""
    return find_archive() if is_plain(MASTER, {}) else None


def _missing(*, demo: bool) -> list[ClassArchive]:
    spark = _spark_archive()
    wanted = [spark] if spark else []
    if demo:
        wanted.append(class_archive.find("broker", java_home(), jars.resolve(jars.BROKER)))
    return [archive for archive in wanted if not archive.is_made]


def _learn(stack: ExitStack) -> Iterable[Recording]:
    """Run what a demo runs; the recordings are there until the stack ends."""
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="warren-prepare-")))
    spark = start_session(MASTER, "warren prepare", {}, "512m")
    stack.callback(stop_session, spark)
    _keep_history(spark, directory / "history")
    learned = recordings(spark)
    if jars.at_hand(jars.BROKER):  # a directory of the user's may lack it
        broker = stack.enter_context(Broker(offsets_partitions=1))
        _read(spark, broker.bootstrap, directory / "scratch")
        learned += broker.recordings
    return learned


def _keep_history(spark: SparkSession, directory: Path) -> None:
    for _ in range(2):
        spark.range(3).write.format("delta").mode("append").save(str(directory))
    spark.read.format("delta").load(str(directory)).groupBy().count().toArrow()


def _read(spark: SparkSession, bootstrap: str, scratch: Path) -> None:
    make_offsets_topic(bootstrap)
    _commit(bootstrap)
    options, start = {"kafka.bootstrap.servers": bootstrap}, {0: EARLIEST}
    for until_now in (True, False):  # they need different classes
        source = TopicSource(OFFSETS_TOPIC, options, start, until_now)
        hand_over = HandOver()
        query = steps.follow(spark, [TopicStream(source, hand_over)], scratch / str(until_now))
        if hand_over.take(BATCH_S) is None:
            raise StartError("Spark reads nothing from the broker")
        hand_over.stop()
        query.stop()


def _commit(bootstrap: str) -> None:
    address = {"bootstrap.servers": bootstrap, "log_level": 0}
    admin = AdminClient(address)
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
    consumer = Consumer({**address, "group.id": TOPIC})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, 0)], asynchronous=False)
    consumer.close()
