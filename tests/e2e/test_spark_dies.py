"""Spark's Java process is held, and then dies, under a serving Warren."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.kafka_clients import Kafka
from support.monitor import Site, source
from support.serve_process import HTTP, Served, served
from support.servers.http_receiver import HttpReceiver, http_receiver
from support.waiting import eventually

from warren.demo.broker import Broker

TOPIC, OUTLIVES, STEADY = "spark-dies", "outlives-spark", "commits-steadily"
EVERY_S = 0.25  # so that a window spans two seconds and a half
HELD_S = 12.0

NOTIFIER = """
[notifier.hook]
class-name = "http"
interval = 1
url-open = "{url}/{{{{.Group}}}}"
template-open = "{template}"
group-allowlist = "^commits-steadily$"
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as started:
        yield started


@pytest.fixture(scope="module")
def warren(
    broker: Broker, receiver: HttpReceiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    template = folder / "open.tmpl"
    template.write_text("{{.Group}} is {{.Result.Status}}")
    kafka = Kafka(broker.bootstrap)
    kafka.make_topic(TOPIC, 9, 9)
    kafka.commit(OUTLIVES, TOPIC, {0: 3})
    state = f'[general]\nstate-dir = "{folder / "state"}"\nsnapshot-interval = 3600\n'
    config = (
        state
        + HTTP.format(port=0)
        + source("local", broker.bootstrap)
        + NOTIFIER.format(url=receiver.url, template=template)
    )
    with committing(kafka), served(folder, config) as started:
        yield started


@contextmanager
def committing(kafka: Kafka) -> Iterator[None]:
    """A group that keeps up: it commits all that is written, several times a second."""
    stop = threading.Event()

    def work() -> None:
        end = 9
        while not stop.wait(EVERY_S):
            kafka.produce(TOPIC, 0, 1)
            end += 1
            kafka.commit(STEADY, TOPIC, {1: end})

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def test_while_spark_is_held_no_group_is_judged_by_our_own_delay(
    warren: Served, receiver: HttpReceiver
) -> None:
    site = warren.site
    eventually(site.is_ready, expected=True)
    eventually(lambda: verdict(site)[:2], ("OK", 1.0))
    java = java_of(warren)

    os.kill(java, signal.SIGSTOP)
    try:
        held = until(site, lambda seen: seen[2] > HELD_S)
    finally:
        os.kill(java, signal.SIGCONT)
    after = until(site, lambda seen: seen[2] < HELD_S / 2)

    assert {status for status, _, _ in [*held, *after]} == {"OK"}
    assert site.metric('warren_reading_behind_seconds{consumer="local"}') is not None
    assert receiver.got == []


Verdict = tuple[str, float, float]  # status, how complete, how far reading is behind in seconds


def verdict(site: Site) -> Verdict:
    told = site.json(f"/v4/groups?match={STEADY}")
    if not told["groups"]:
        return ("", 0.0, 0.0)
    behind_s = told["board"]["behind_s"]
    group = site.json(f"/v4/group?cluster=local&group={STEADY}")
    complete = max(each["complete"] for each in group["partitions"])
    return told["groups"][0]["status"], complete, behind_s or 0.0


def until(site: Site, is_reached: Callable[[Verdict], bool]) -> list[Verdict]:
    """All that is said until something is."""
    said = [verdict(site)]

    def look() -> bool:
        said.append(verdict(site))
        return is_reached(said[-1])

    eventually(look, expected=True)
    return said


def test_it_ends_with_a_line_and_code_1_for_a_new_start_to_go_on_from(warren: Served) -> None:
    site = warren.site
    eventually(lambda: site.committed("local", OUTLIVES), {TOPIC: [3, None]})

    os.kill(java_of(warren), signal.SIGKILL)
    code = warren.process.wait(60)
    left = warren.left()

    assert code == 1
    assert "warren: Spark's Java process was ended by signal 9" in warren.err
    assert "Traceback" not in warren.err
    assert left == []
    assert (warren.folder / "state" / "snapshots" / "local.npz").exists()


def java_of(warren: Served) -> int:
    """Its child that is Java; what Java itself starts looks like Java, too, for a moment."""
    (pid,) = (
        int(entry.name)
        for entry in Path("/proc").glob("[0-9]*")
        if parent_of(entry) == warren.process.pid and is_java(entry)
    )
    return pid


def parent_of(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended meanwhile
        return 0


def is_java(entry: Path) -> bool:
    try:
        return (entry / "exe").readlink().name == "java"
    except OSError:
        return False
