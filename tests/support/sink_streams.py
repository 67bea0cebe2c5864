"""Moments of a small cluster in a table of history, and sinks that run over it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from support.config_files import MINIMAL, load_text

from warren.config import Config
from warren.history import table
from warren.model.status import Status
from warren.model.tables import GROUP, HISTORY, LOG_END, PARTITION
from warren.sinks.stream import SinkStream

FIRST_MS = 1_794_772_920_000
MINUTE_MS = 60_000
PATIENCE_S = 120.0


def moment(number: int, partitions: int = 20) -> pa.Table:
    """One group on one topic: its row, and a row for each partition and each log end."""
    moment_ms = FIRST_MS + number * MINUTE_MS
    common = {
        "day": datetime.fromtimestamp(moment_ms / 1000, UTC).date(),
        "cluster": "local",
        "moment_ms": moment_ms,
        "status": int(Status.OK),
        "complete": 1.0,
        "offset": 1000 + number,
        "committed_ms": moment_ms - 1000,
        "owner": "",
        "client": "",
    }
    whole = {"kind": GROUP, "group": "billing", "lag": 7, "max_lag": 3, "partitions": partitions}
    of_partition = {"kind": PARTITION, "group": "billing", "topic": "orders", "lag": number}
    of_log = {"kind": LOG_END, "topic": "orders", "status": None, "committed_ms": None}
    rows: list[dict[str, Any]] = [common | whole]
    for partition in range(partitions):
        rows.append(common | of_partition | {"partition": partition})
        rows.append(common | of_log | {"partition": partition})
    return pa.Table.from_pylist(rows, HISTORY)


def append(spark: SparkSession, directory: Path, *numbers: int, partitions: int = 20) -> None:
    session = table.session(spark)
    table.make(session, str(directory))
    for number in numbers:
        table.append(session, str(directory), moment(number, partitions), "tests")


def config(folder: Path, *sinks: str) -> Config:
    history = f'[history]\ndirectory = "{folder / "history"}"\n'
    return load_text(folder, MINIMAL + history + "\n".join(sinks)).config


@contextmanager
def running(spark: SparkSession, settings: Config) -> Iterator[dict[str, SinkStream]]:
    """Every sink of a configuration, each in a thread of its own."""
    stop = threading.Event()
    sinks = {name: SinkStream(spark, settings, each) for name, each in settings.sinks.items()}
    threads = [
        threading.Thread(target=_run, args=(sink, stop), name=name, daemon=True)
        for name, sink in sinks.items()
    ]
    for thread in threads:
        thread.start()
    try:
        yield sinks
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)


def _run(sink: SinkStream, stop: threading.Event) -> None:
    """Again after a failure, as the application does."""
    while not stop.is_set():
        try:
            sink.run(stop)
        except Exception as error:  # noqa: BLE001  shown in what the test asserts
            sink.problem = repr(error)
            sink.restarts += 1
            stop.wait(0.2)


def sink_health(sinks: dict[str, SinkStream]) -> dict[str, object]:
    """How each of them is."""
    return {name: (sink.problem, sink.health()) for name, sink in sinks.items()}
