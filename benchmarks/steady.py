"""Caught up, ten commits a second, 50 offsets partitions: what it costs, how old answers are.

PYTHONPATH=src:tests .venv/bin/python benchmarks/steady.py
"""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import click
from confluent_kafka import Consumer, TopicPartition
from measured import cpu_seconds, get, peak_mb, wait_until, where, write
from support.loader import Load, create_topics

from warren.demo.broker import Broker, free_ports

COMMITS_A_SECOND = 10
GROUPS = 10
TOPIC_PARTITIONS = 10
CONFIGURATION = """
[general]
pidfile = "{directory}/warren.pid"
[logging]
level = "error"
[cluster.local]
class-name = "kafka"
servers = ["{bootstrap}"]
[consumer.local]
class-name = "kafka"
cluster = "local"
servers = ["{bootstrap}"]
[httpserver.default]
address = "127.0.0.1:{port}"
"""


class Committer:
    """Real clients that commit evenly, each time one higher than the last."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._consumers = [
            Consumer(
                {"bootstrap.servers": bootstrap, "group.id": f"g{n}", "enable.auto.commit": False}
            )
            for n in range(GROUPS)
        ]
        self._count = 0

    def commit(self) -> tuple[str, int]:
        """The group and the offset it has just committed to partition 0."""
        self._count += 1
        number = self._count % GROUPS
        place = TopicPartition(self._topic, 0, self._count)
        self._consumers[number].commit(offsets=[place], asynchronous=False)
        return f"g{number}", self._count

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(1 / COMMITS_A_SECOND):
            self.commit()


@click.command()
@click.option("--warm-up", default=420, help="Seconds before measuring; the JIT needs them.")
@click.option("--seconds", default=60)
@click.option("--probes", default=60, help="Commits whose way into an answer is timed.")
def main(warm_up: int, seconds: int, probes: int) -> None:
    about = where()
    with (
        Broker(offsets_partitions=50) as broker,
        tempfile.TemporaryDirectory(prefix="warren-benchmark-") as directory,
    ):
        (port,) = free_ports(1)
        text = CONFIGURATION.format(directory=directory, bootstrap=broker.bootstrap, port=port)
        Path(directory, "burrow.toml").write_text(text)
        load = Load(newest_ms=0, partitions=TOPIC_PARTITIONS)
        create_topics(broker.bootstrap, load)
        (topic,) = load.topic_names
        committer = Committer(broker.bootstrap, topic)
        command = [sys.executable, "-m", "warren", "serve", "--config-dir", directory]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: get(f"{url}/burrow/admin/ready")[0] == 200, 0.5, 300)
            busy = _cpu_share(process.pid, committer, warm_up, seconds)
            ages = sorted(_age(url, topic, committer) for _ in range(probes))
            memory = peak_mb(process.pid)
        finally:
            process.terminate()
            process.wait(30)
    write("steady.md", _report(about, busy, ages, memory, warm_up))


def _cpu_share(pid: int, committer: Committer, warm_up: int, seconds: int) -> float:
    stop = threading.Event()
    thread = threading.Thread(target=committer.run, args=(stop,))
    thread.start()
    time.sleep(warm_up)
    began, cpu = time.monotonic(), cpu_seconds(pid)
    time.sleep(seconds)
    share = (cpu_seconds(pid) - cpu) / (time.monotonic() - began)
    stop.set()
    thread.join()
    return share


def _age(url: str, topic: str, committer: Committer) -> float:
    """Seconds from a commit to the answer that shows it."""
    group, offset = committer.commit()
    detail = f"{url}/v3/kafka/local/consumer/{group}"

    def is_shown() -> bool:
        code, answer = get(detail)
        if code != 200:
            return False
        newest = answer["topics"][topic][0]["offsets"][-1]
        return newest is not None and bool(newest["offset"] >= offset)

    seconds = wait_until(is_shown, 0.05, 60)
    time.sleep(offset % 7 / 10)  # meet the stream at every point of its rhythm
    return seconds


def _report(about: str, busy: float, ages: list[float], memory: float, warm_up: int) -> str:
    return (
        f"# Caught up, {COMMITS_A_SECOND} commits a second, 50-partition offsets topic\n\n"
        f"{about}. After {warm_up} s of warming up.\n\n"
        "| | |\n|---|---|\n"
        f"| CPU, of one core | {busy:.1%} |\n"
        f"| commit to answer, median of {len(ages)} | {ages[len(ages) // 2]:.2f} s |\n"
        f"| commit to answer, worst | {ages[-1]:.2f} s |\n"
        f"| peak memory, Java included | {memory:,.0f} MB |\n"
    )


if __name__ == "__main__":
    main()
