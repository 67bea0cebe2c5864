"""Memory over a long time while groups and topics come and go: it stays flat.

    PYTHONPATH=src .venv/bin/python benchmarks/soak.py --minutes 20

Every round makes a topic and groups that commit on it, and deletes those of some rounds ago. What
there is at any moment is the same from then on; what there ever was grows all the time.
"""

import sys
import threading
import time
from collections import deque
from pathlib import Path

import click
from catch_up import configure, running, scratch
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from measured import get, now_mb, tree, wait_until, where, write

from warren.demo.broker import Broker
from warren.demo.offsets_topic import make_offsets_topic

GROUPS, PARTITIONS, KEPT = 10, 20, 5  # a round's groups, its topic's partitions; rounds alive
START_S = 180
SAMPLE_S = 10.0
WAIT_S = 30.0


class Churn:
    """Makes and deletes, round after round, until told to stop."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        self._alive: deque[int] = deque()
        self.rounds = 0

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self._make(self.rounds)
            if len(self._alive) > KEPT:
                self._delete(self._alive.popleft())
            self.rounds += 1

    def _make(self, number: int) -> None:
        topic = f"soak-{number}"
        self._admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(WAIT_S)
        places = [TopicPartition(topic, each, number) for each in range(PARTITIONS)]
        for group in range(GROUPS):
            settings = {
                "bootstrap.servers": self._bootstrap,
                "group.id": f"soak-{number}-{group}",
                "enable.auto.commit": False,
            }
            consumer = Consumer(settings)
            consumer.commit(offsets=places, asynchronous=False)
            consumer.close()
        self._alive.append(number)

    def _delete(self, number: int) -> None:
        groups = [f"soak-{number}-{group}" for group in range(GROUPS)]
        for done in self._admin.delete_consumer_groups(groups).values():
            done.result(WAIT_S)
        self._admin.delete_topics([f"soak-{number}"])[f"soak-{number}"].result(WAIT_S)


@click.command()
@click.option("--minutes", default=20.0)
def main(minutes: float) -> None:
    about = where()
    with Broker(offsets_partitions=8) as broker, scratch() as directory:
        make_offsets_topic(broker.bootstrap)
        place, url = configure(directory, "warren", broker.bootstrap)
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


def _samples(url: str, pid: int, churn: Churn, seconds: float) -> list[tuple[float, ...]]:
    """Minute, rounds so far, groups held, memory of Python, of Java."""
    samples: list[tuple[float, ...]] = []
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        _, answer = get(f"{url}/v3/kafka/local/consumer")
        java = next(each for each in tree(pid) if _is_java(each))
        java_mb = now_mb(java)
        python_mb = now_mb(pid) - java_mb
        held = len(answer["consumers"])
        samples.append((passed / 60, churn.rounds, held, python_mb, java_mb))
        time.sleep(SAMPLE_S)
    return samples


def _is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/exe").readlink().name == "java"


def _report(about: str, minutes: float, samples: list[tuple[float, ...]]) -> str:
    a_round = f"A round is {GROUPS} groups on a topic of {PARTITIONS} partitions"
    lines = [
        f"# {minutes:g} minutes of groups and topics that come and go",
        "",
        f"{about}. {a_round}; {KEPT} rounds are alive at a time. Java's heap may take 2 GB.",
        "",
        "| minute | groups ever | groups held | Python MB | Java MB |",
        "|---:|---:|---:|---:|---:|",
    ]
    for tenth in range(11):
        at = samples[min(len(samples) * tenth // 10, len(samples) - 1)]
        minute, rounds, held, python_mb, java_mb = at
        ever = rounds * GROUPS
        lines.append(f"| {minute:.1f} | {ever:,.0f} | {held} | {python_mb:,.0f} | {java_mb:,.0f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
