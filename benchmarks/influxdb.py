"""How fast a sink fills a real InfluxDB from history.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/influxdb.py [PARTITIONS MOMENTS]

History of MOMENTS moments is there before the clock starts; then that many again, while the sink is
stopped, and once more, so that the last part is a store that knows the series and a Spark that is
warm. The clock runs from when the stream has started.

What the store itself can take is measured beside it: the same lines, made and compressed before the
clock starts, in as many requests at a time, to an InfluxDB of their own.
"""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
from measured import cpu_seconds, where, write
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from support.config_files import MINIMAL, load_text
from support.servers.influxdb import InfluxDB

from warren.config import Config, HttpSink
from warren.history import table
from warren.model.tables import HISTORY
from warren.sinks.influxdb import lines
from warren.sinks.points import body, points, slices
from warren.sinks.store_http import REQUESTS, gzip
from warren.sinks.stream import SinkStream
from warren.spark.session import start_session, stop_session

FIRST_MS, STEP_MS = 1_794_772_920_000, 60_000
PATIENCE_S = 1800.0
NOTED_S = 3.0  # by then Spark has noted what was delivered, and will not do so again
SHAPES = ((10_000, 100), (100_000, 5))  # partitions, and moments of them
TURNS = ("new series, cold", "known series, warmer", "known series, warm")


def moment(spark: SparkSession, number: int, partitions: int) -> DataFrame:
    """Groups of a thousand partitions on topics of a hundred."""
    place, at_ms = F.col("id"), FIRST_MS + number * STEP_MS
    known = {
        "day": F.to_date(F.timestamp_millis(F.lit(at_ms))),
        "cluster": F.lit("local"),
        "moment_ms": F.lit(at_ms).cast("long"),
        "kind": F.lit("partition"),
        "group": F.concat(F.lit("group-"), F.floor(place / 1000).cast("string")),
        "topic": F.concat(F.lit("topic-"), F.floor(place / 100).cast("string")),
        "partition": (place % 100).cast("int"),
        "status": (F.lit(1) + place % 2).cast("byte"),
        "lag": place % 997 + number,
        "offset": place * 1000 + number * 60,
        "committed_ms": F.lit(at_ms - 1234).cast("long"),
        "owner": F.concat(F.lit("/10.0.0."), (place % 20).cast("string")),
    }
    types = {"complete": "float", "max_lag": "long", "partitions": "int", "client": "string"}
    unknown = {name: F.lit(None).cast(kind) for name, kind in types.items()}
    columns = known | unknown
    return spark.range(partitions).select(*(columns[name].alias(name) for name in HISTORY.names))


def append(spark: SparkSession, directory: str, numbers: range, partitions: int) -> None:
    session = table.session(spark)
    for number in numbers:
        rows = moment(session, number, partitions).coalesce(1)
        rows.write.format("delta").mode("append").partitionBy("day", "cluster").save(directory)


def deliver(sink: SinkStream, until: int) -> float:
    """Run the sink until it has delivered a moment; the seconds it took since its stream began."""
    stop, began = threading.Event(), time.monotonic()
    thread = threading.Thread(target=sink.run, args=(stop,))
    thread.start()
    wanted = FIRST_MS + until * STEP_MS
    while sink.health().state != "running":
        assert thread.is_alive(), sink.problem
        began = time.monotonic()
        time.sleep(0.02)
    while (sink.health().delivered_ms or 0) != wanted:
        assert thread.is_alive(), sink.problem
        assert time.monotonic() - began < PATIENCE_S, sink.health()
        time.sleep(0.02)
    took = time.monotonic() - began
    time.sleep(NOTED_S)
    stop.set()
    thread.join()
    return took


@contextmanager
def filled(folder: Path) -> Iterator[tuple[InfluxDB, Config]]:
    """An InfluxDB, and the configuration of a sink that fills it from the folder's history."""
    with tempfile.TemporaryDirectory() as name, InfluxDB(Path(name, "influx")) as influx:
        section = f'[sink.x]\nclass-name = "influxdb"\nurl = "{influx.url}"\ndatabase = "lag"\n'
        history = f'[history]\ndirectory = "{folder}/history"\n'
        yield influx, load_text(folder, f'{MINIMAL}{history}{section}since = "earliest"\n').config


def bodies(spark: SparkSession, history: str, numbers: range, size: int) -> list[bytes]:
    first_ms, last_ms = (FIRST_MS + number * STEP_MS for number in (numbers[0], numbers[-1]))
    rows = spark.read.format("delta").load(history).where(f"moment_ms >= {first_ms}")
    texts = lines(points(rows.where(f"moment_ms <= {last_ms}"))).toArrow()["text"]
    return [gzip(body(some)) for some in slices(texts, size)]


def post_all(influx: InfluxDB, requests: list[bytes]) -> float:
    """Send what was made beforehand; the seconds it took."""
    began = time.monotonic()
    with httpx.Client(timeout=60) as client, ThreadPoolExecutor(REQUESTS) as pool:

        def post(content: bytes) -> None:
            where, how = {"db": "lag", "precision": "ns"}, {"Content-Encoding": "gzip"}
            url = f"{influx.url}/write"
            client.post(url, params=where, headers=how, content=content).raise_for_status()

        for _ in pool.map(post, requests):
            pass
    return time.monotonic() - began


def measure(spark: SparkSession, partitions: int, moments: int) -> Iterator[str]:
    """A line of the table for each turn."""
    count = partitions * moments
    with (
        tempfile.TemporaryDirectory() as name,
        filled(folder := Path(name)) as (influx, config),
        filled(folder) as (bare, _),
    ):
        bare.query("CREATE DATABASE lag")
        history, settings = config.history_directory, config.sinks["x"]
        assert isinstance(settings, HttpSink)
        for turn, about in enumerate(TURNS):
            numbers = range(turn * moments, (turn + 1) * moments)
            append(spark, history, numbers, partitions)
            ours, theirs = cpu_seconds(os.getpid()) - influx.cpu_seconds(), influx.cpu_seconds()
            ours -= bare.cpu_seconds()
            took = deliver(SinkStream(spark, config, settings), numbers[-1])
            theirs = influx.cpu_seconds() - theirs
            now = cpu_seconds(os.getpid()) - influx.cpu_seconds() - bare.cpu_seconds()
            requests = bodies(table.session(spark), history, numbers, settings.batch)
            alone = post_all(bare, requests)
            rates = f"{count / took:,.0f} | {count / alone:,.0f} | {alone / took:.0%}"
            yield (
                f"| {partitions:,} | {moments} | {about} | {took:.1f} | {rates} "
                f"| {now - ours:.1f} | {theirs:.1f} |"
            )
        for each in (influx, bare):
            (series,) = each.query("SELECT count(lag) FROM burrow_partition", "lag")
            assert series["values"][0][1] == len(TURNS) * count


HEADER = """\
| partitions | moments | | s | points/s | the store alone | of that | our CPU s | its CPU s |
|---:|---:|---|---:|---:|---:|---:|---:|---:|"""


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    shapes = [(given[0], given[1])] if given else SHAPES
    title, machine, measured = "# Filling InfluxDB from history", where(), []
    spark = start_session("local[2]", "benchmark", {}, "2g")
    try:
        for shape in shapes:
            for line in measure(spark, *shape):
                print(line, flush=True)
                measured.append(line)
    finally:
        stop_session(spark)
    about = f"{machine}; InfluxDB 1.6.7 on the same machine, {REQUESTS} requests at a time."
    write("influxdb.md", "\n".join([title, "", about, "", HEADER, *measured, ""]))


if __name__ == "__main__":
    main()
