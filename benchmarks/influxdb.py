"""How fast a sink fills a real InfluxDB from history.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/influxdb.py [PARTITIONS] [MOMENTS]

History of MOMENTS moments is there before the clock starts; then that many again, while the sink is
stopped, so that the second part is a store that knows the series and a Spark that is warm.
"""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from config_files import MINIMAL, load_text
from measured import cpu_seconds, where, write
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from servers.influxdb import InfluxDB

from warren.history import table
from warren.session import start_session, stop_session
from warren.sinks.stream import Sink
from warren.tables import HISTORY

FIRST_MS, STEP_MS = 1_794_772_920_000, 60_000
PATIENCE_S = 1800.0


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


def deliver(sink: Sink, until: int) -> float:
    """Run the sink until it has delivered a moment; the seconds it took."""
    stop, began = threading.Event(), time.monotonic()
    thread = threading.Thread(target=sink.run, args=(stop,))
    thread.start()
    wanted = FIRST_MS + until * STEP_MS
    while (sink.health()["delivered_ms"] or 0) != wanted:
        assert thread.is_alive(), sink.problem
        assert time.monotonic() - began < PATIENCE_S, sink.health()
        time.sleep(0.02)
    took = time.monotonic() - began
    stop.set()
    thread.join()
    return took


def measure(partitions: int, moments: int) -> list[str]:
    points, lines = partitions * moments, []
    with tempfile.TemporaryDirectory() as name, InfluxDB(Path(name, "influx")) as influx:
        folder, history = Path(name), f"{name}/history"
        section = f'[sink.x]\nclass-name = "influxdb"\nurl = "{influx.url}"\ndatabase = "lag"\n'
        where_kept = f'[history]\ndirectory = "{history}"\n'
        text = f'{MINIMAL}{where_kept}{section}since = "earliest"\n'
        config = load_text(folder, text).config
        spark = start_session("local[2]", "benchmark", {}, "2g")
        try:
            for turn, about in enumerate(("new series, cold", "known series, warm")):
                append(spark, history, range(turn * moments, (turn + 1) * moments), partitions)
                before = cpu_seconds(os.getpid()) - influx.cpu_seconds(), influx.cpu_seconds()
                took = deliver(Sink(spark, config, config.sinks["x"]), (turn + 1) * moments - 1)
                ours = cpu_seconds(os.getpid()) - influx.cpu_seconds() - before[0]
                theirs = influx.cpu_seconds() - before[1]
                cells = (f"{points:,}", f"{took:.1f}", f"{points / took:,.0f}")
                lines.append(f"| {about} | {' | '.join(cells)} | {ours:.1f} | {theirs:.1f} |")
                print(lines[-1])
            (series,) = influx.query("SELECT count(lag) FROM burrow_partition", "lag")
            assert series["values"][0][1] == 2 * points
        finally:
            stop_session(spark)
    return lines


HEADER = """\
| | points | s | points/s | CPU s, Warren with Spark | CPU s, InfluxDB |
|---|---:|---:|---:|---:|---:|"""


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    partitions, moments = (*given, *(100_000, 10)[len(given) :])
    title, machine = "# Filling InfluxDB from history", where()
    table = "\n".join([HEADER, *measure(partitions, moments)])
    shape = (
        f"{partitions:,} partitions, {moments} moments twice, InfluxDB 1.6.7 on the same machine"
    )
    write("influxdb.md", f"{title}\n\n{machine}; {shape}.\n\n{table}\n")


if __name__ == "__main__":
    main()
