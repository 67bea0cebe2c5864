"""`warren demo`: a broker, groups in every state, and Warren judging them."""

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from warren.app import Monitor, monitoring, spark_session
from warren.config import load
from warren.demo import groups
from warren.demo.broker import Broker
from warren.evaluate.verdicts import Verdicts
from warren.model import Status
from warren.process.life import running

CLUSTER = "demo"
COLOURS = {Status.OK: "green", Status.WARN: "yellow", Status.ERR: "red"}
CONFIGURATION = """
[general]
pidfile = "{directory}/warren.pid"
[logging]
filename = "{directory}/warren.log"
[cluster.demo]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 1
topic-refresh = 5
[consumer.demo]
class-name = "kafka"
cluster = "demo"
servers = ["{bootstrap}"]
[httpserver.default]
address = "127.0.0.1:{port}"
"""


def run(seconds: float | None, *, keep: bool) -> None:
    """Show the groups of a broker of our own until Ctrl-C, or for so many seconds."""
    console = Console()
    with ExitStack() as stack:
        directory = stack.enter_context(_directory(keep=keep, console=console))
        broker = Broker(offsets_partitions=4, directory=directory / "broker")
        config_file = directory / "burrow.toml"
        config_file.write_text(
            CONFIGURATION.format(directory=directory, bootstrap=broker.bootstrap, port=0)
        )
        config = load(config_file, {}).config
        stop = stack.enter_context(running(config))
        console.print("Starting a Kafka broker ...")
        stack.enter_context(broker)
        stack.enter_context(_busy(broker.bootstrap, stop))
        console.print("Starting Spark, and Warren on it ...")
        monitor = stack.enter_context(monitoring(config))
        url = monitor.urls[0]
        console.print(f"It answers on {url}, for example {url}/v3/kafka/demo/consumer/stopped/lag")
        spark = stack.enter_context(spark_session(config))
        if seconds is not None:
            timer = threading.Timer(seconds, stop.set)
            stack.callback(timer.cancel)
            timer.start()
        shown = threading.Thread(target=_show, args=(monitor, console, stop), name="show")
        shown.start()
        stack.callback(shown.join)
        monitor.run(spark, stop)


@contextmanager
def _directory(*, keep: bool, console: Console) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="warren-demo-"))
    try:
        yield directory
    finally:
        if keep:
            console.print(f"Kept: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _busy(bootstrap: str, stop: threading.Event) -> Iterator[None]:
    """Producer and consumers at work; they have ended when this has."""
    groups.make_topic(bootstrap)
    threads = [threading.Thread(target=groups.produce, args=(bootstrap, stop), name="producer")]
    threads += [
        threading.Thread(target=groups.consume, args=(bootstrap, name, stop), name=name)
        for name in groups.GROUPS
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _show(monitor: Monitor, console: Console, stop: threading.Event) -> None:
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while not stop.wait(1):
            judged = monitor.board.clusters.get(CLUSTER)
            if judged is not None and judged.verdicts.names:
                live.update(_overview(judged.verdicts), refresh=True)


def _overview(verdicts: Verdicts) -> Table:
    table = Table(title=f"Consumer groups at {time.strftime('%H:%M:%S')} (Ctrl-C ends the demo)")
    for name in ("group", "status", "partitions", "total lag", "worst partition"):
        table.add_column(name, justify="right" if "lag" in name else "left")
    judged, parts = verdicts.groups, verdicts.partitions
    for at, group in enumerate(verdicts.names):
        status, worst = Status(judged.status[at]), int(judged.max_lag_line[at])
        place = f"{verdicts.topics[parts.topic[worst]]}:{parts.partition[worst]}"
        table.add_row(
            group,
            f"[{COLOURS[status]}]{status.name}",
            str(judged.partition_count[at]),
            str(judged.total_lag[at]),
            f"{place} {Status(parts.status[worst]).name}",
        )
    return table
