"""One Spark, one broker and one OpenSearch for a whole run: each costs seconds to start.

`./check` runs some test files side by side, in processes that have one of each.
"""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from support.servers.opensearch import OpenSearch

from warren.demo.broker import Broker, make_offsets_topic
from warren.prepare import is_prepared
from warren.spark.session import start_session, stop_session

MakeTopics = Callable[..., None]

# Java's second compiler pays after minutes; most servers here live for seconds, and there are many.
# Without it Java has room for less compiled code, and a Spark that all tests share would go without
# any compiler once that is full.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:-UsePerfData",
)

# Under `nohup`, or in the background of a script, these are ignored, and so they would be by every
# process that the tests start and signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

hypothesis.settings.register_profile("check", deadline=None)
hypothesis.settings.register_profile("long", deadline=None, max_examples=20_000)
hypothesis.settings.load_profile(os.environ.get("WARREN_HYPOTHESIS", "check"))

pytest_plugins = ["support.side_by_side"]


# These go first: they run while another process makes the class archives.
WITHOUT_JAVA = ("test_linters.py", "test_wheel.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in WITHOUT_JAVA)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # no time limit counts meanwhile
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if item.path.name not in WITHOUT_JAVA:
        _prepare()
    return (yield)


@cache
def _prepare() -> None:
    """Class archives, made once for a cache: each start of Spark or a broker gains seconds.

    Of test processes side by side one makes them, and the others wait once they need Java. If it
    fails, all works without them.
    """
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_prepared():
            subprocess.run([sys.executable, "-m", "warren", "prepare"], check=False)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = start_session("local[2]", "warren-tests", {}, "1g")
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    with Broker(offsets_partitions=4) as running:
        make_offsets_topic(running.bootstrap)
        yield running


@pytest.fixture(scope="session")
def opensearch() -> Iterator[OpenSearch]:
    with OpenSearch() as running:
        yield running


@pytest.fixture(scope="session")
def make_topics(broker: Broker) -> MakeTopics:
    """`make_topics("orders", "bills", partitions=3)`; the topics are there when it returns."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def make(*names: str, partitions: int = 1) -> None:
        made = admin.create_topics([NewTopic(name, partitions, 1) for name in names])
        for done in made.values():
            done.result(timeout=30)

    return make
