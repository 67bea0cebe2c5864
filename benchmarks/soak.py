"""Memory over a long time while groups and topics come and go: it stays flat.

    PYTHONPATH=src .venv/bin/python benchmarks/soak.py --minutes 20

Every round makes a topic and groups that commit on it, and deletes those of some rounds ago. What
there is at any moment is the same from then on; what there ever was grows all the time. Two groups
of a round have a member, one by each protocol; one group has stopped, and somebody is told of it.
Snapshots and history are kept.

Java takes its heap little by little, however little of it is in use, until it has all it may take:
so it is given all of it at the start, and what it needs besides shows. What is in use of the heap
`jcmd` tells, after a collection, ten times in all.
"""

import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import click
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from measured import get, is_java, now_mb, tree, wait_until, where, write
from monitors import configure, running, scratch

from warren.demo.broker import Broker, make_offsets_topic

GROUPS, PARTITIONS, KEPT = 10, 20, 5  # a round's groups, its topic's partitions; rounds alive
PROTOCOLS = ("classic", "consumer")
START_S = 180
SAMPLE_S = 10.0
LOOKS = 10  # into Java's heap
WAIT_S = 30.0
NAMES = {"python_mb": "Python", "java_mb": "Java", "heap_mb": "Java's heap in use"}
MORE = 1.05  # than in the second quarter the last may need
TEMPLATE = Path(__file__).parents[1] / "config" / "default-http-post.tmpl"
STATE = """\
[general]
state-dir = "{state}"
snapshot-interval = 10
"""
KEEPING = """
[spark]
driver-memory = "512m"
[spark.conf]
"spark.driver.extraJavaOptions" = "-Xms512m -XX:+AlwaysPreTouch"
[history]
history-interval = 10
[notifier.told]
class-name = "http"
url-open = "{url}"
url-close = "{url}"
send-close = true
interval = 5
template-open = "{template}"
template-close = "{template}"
"""


class Sample(NamedTuple):
    minute: float
    rounds: int  # so far
    held: int  # groups
    told: int  # notifications so far
    python_mb: float
    java_mb: float
    heap_mb: float  # of it, in use when it was last looked at


class Churn:
    """Makes and deletes, round after round, until told to stop."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        self._producer = Producer({"bootstrap.servers": bootstrap})
        self._alive: deque[tuple[int, list[Consumer]]] = deque()
        self.rounds = 0

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self._alive.append((self.rounds, self._make(self.rounds)))
            for _, members in self._alive:
                for member in members:
                    member.poll(0.1)
            if len(self._alive) > KEPT:
                self._delete(*self._alive.popleft())
            self.rounds += 1
        for _, members in self._alive:
            for member in members:
                member.close()

    def _make(self, number: int) -> list[Consumer]:
        topic = f"soak-{number}"
        self._admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(WAIT_S)
        self._producer.produce(topic, b"unread", partition=0)
        self._producer.flush(WAIT_S)
        places = [TopicPartition(topic, each, 0) for each in range(PARTITIONS)]
        for group in range(GROUPS):
            consumer = self._consumer(f"soak-{number}-{group}")
            consumer.commit(offsets=places[1 if group else 0 :], asynchronous=False)
            consumer.close()
        return [self._member(number, protocol) for protocol in PROTOCOLS]

    def _member(self, number: int, protocol: str) -> Consumer:
        member = self._consumer(f"soak-{number}-{protocol}", {"group.protocol": protocol})
        member.subscribe([f"soak-{number}"])
        until = time.monotonic() + WAIT_S
        while not member.assignment() and time.monotonic() < until:
            member.poll(0.1)
        member.commit(offsets=[TopicPartition(f"soak-{number}", 1, 0)], asynchronous=False)
        return member

    def _consumer(self, group: str, more: dict[str, str] | None = None) -> Consumer:
        settings = {
            "bootstrap.servers": self._bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
        return Consumer(settings | (more or {}))

    def _delete(self, number: int, members: list[Consumer]) -> None:
        for member in members:
            member.close()
        groups = [f"soak-{number}-{group}" for group in (*range(GROUPS), *PROTOCOLS)]
        for done in self._admin.delete_consumer_groups(groups).values():
            done.result(WAIT_S)
        self._admin.delete_topics([f"soak-{number}"])[f"soak-{number}"].result(WAIT_S)


class Told(BaseHTTPRequestHandler):
    """Takes notifications and counts them."""

    count = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        Told.count += 1
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def listening() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Told) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@click.command()
@click.option("--minutes", default=20.0)
def main(minutes: float) -> None:
    about = where()
    with (
        Broker(offsets_partitions=8) as broker,
        scratch() as directory,
        listening() as receiver,
    ):
        make_offsets_topic(broker.bootstrap)
        place, url = configure(directory, "warren", broker.bootstrap)
        file = place / "burrow.toml"
        state = STATE.format(state=directory / "state")
        kept = KEEPING.format(url=receiver, template=TEMPLATE)
        file.write_text(file.read_text().replace("[general]\n", state) + kept)
        command = [sys.executable, "-m", "warren", "serve", "--config-dir", str(place)]
        with running(command) as pid:
            wait_until(lambda: get(f"{url}/burrow/admin/ready")[0] == 200, 0.5, START_S)
            churn, stop = Churn(broker.bootstrap), threading.Event()
            churning = threading.Thread(target=churn.run, args=(stop,))
            churning.start()
            samples = _samples(url, pid, churn, minutes * 60)
            stop.set()
            churning.join()
    write("soak.md", _report(about, minutes, samples))


def _samples(url: str, pid: int, churn: Churn, seconds: float) -> list[Sample]:
    samples: list[Sample] = []
    began, java = time.monotonic(), next(filter(is_java, tree(pid)))
    look, heap_mb = -1, 0.0
    while (passed := time.monotonic() - began) < seconds:
        if look != (now := int(passed / seconds * LOOKS)):
            look, heap_mb = now, _heap_mb(java)
        _, answer = get(f"{url}/v3/kafka/local/consumer")
        java_mb = now_mb(java)
        python_mb = now_mb(pid) - java_mb
        held = len(answer["consumers"])
        samples.append(
            Sample(passed / 60, churn.rounds, held, Told.count, python_mb, java_mb, heap_mb)
        )
        time.sleep(SAMPLE_S)
    return samples


def _heap_mb(java: int) -> float:
    """What is left of the heap by a collection."""
    subprocess.run(["jcmd", str(java), "GC.run"], check=True, capture_output=True)
    told = subprocess.run(
        ["jcmd", str(java), "GC.heap_info"], check=True, capture_output=True, text=True
    ).stdout
    used = re.search(r"heap.* used (\d+)K", told)
    assert used, told
    return int(used[1]) / 1024


def _report(about: str, minutes: float, samples: list[Sample]) -> str:
    a_round = (
        f"A round is {GROUPS + len(PROTOCOLS)} groups on a topic of {PARTITIONS} partitions, two "
        f"of them with a member; {KEPT} rounds are alive at a time"
    )
    lines = [
        f"# {minutes:g} minutes of groups and topics that come and go",
        "",
        f"{about}. {a_round}. With snapshots, history and a notifier. All of Java's heap counts.",
        "",
        "| minute | groups ever | groups held | notified | Python MB | Java MB | heap in use MB |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for tenth in range(11):
        at = samples[min(len(samples) * tenth // 10, len(samples) - 1)]
        ever = at.rounds * (GROUPS + len(PROTOCOLS))
        lines.append(
            f"| {at.minute:.1f} | {ever:,} | {at.held} | {at.told} "
            f"| {at.python_mb:,.0f} | {at.java_mb:,.0f} | {at.heap_mb:,.0f} |"
        )
    lines += ["", *(_bound(name, samples) for name in NAMES)]
    return "\n".join(lines) + "\n"


def _bound(field: str, samples: list[Sample]) -> str:
    """Flat: the last quarter needs no more than the second, give or take a twentieth."""
    values, quarter = [getattr(each, field) for each in samples], len(samples) // 4
    second, last = mean(values[quarter : 2 * quarter]), mean(values[3 * quarter :])
    verdict = "flat" if last <= second * MORE else "NOT FLAT"
    name = NAMES[field]
    return (
        f"{name}: {second:,.0f} MB in the second quarter, {last:,.0f} MB in the last: {verdict} "
        f"(at most {MORE:.0%} is asked for)."
    )


if __name__ == "__main__":
    main()
