"""A store that is away under load: whether anything is missing or there twice when it is back.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/outage.py [SECONDS] [PARTITIONS]

Moments are kept and delivered every two seconds all the time. InfluxDB is killed, stays away for
SECONDS (120), comes back, and is compared with history, moment by moment.
"""

import sys
import tempfile
import threading
import time
from pathlib import Path

from boards import board
from measured import wait_until, where, write
from pyspark.sql import SparkSession
from support.config_files import MINIMAL, load_text
from support.servers.influxdb import InfluxDB

from warren.config import Config
from warren.history.keeper import Keeper
from warren.pipeline.threads import keep_running
from warren.sinks.stream import SinkStream
from warren.spark.session import start_session, stop_session

WIDTH = 100  # partitions of a group
INTERVAL_S = 2
BEFORE_S = AFTER_S = 20
PATIENCE_S = 600.0
MEASUREMENTS = ("burrow_group", "burrow_partition", "burrow_topic")


def stored(influx: InfluxDB) -> dict[int, int]:
    """How many points each moment has."""
    found: dict[int, int] = {}
    for name in MEASUREMENTS:
        query = f'SELECT count("offset") FROM {name} GROUP BY time({INTERVAL_S}s) fill(none)'  # noqa: S608  our names
        for series in influx.query(query, "lag"):
            for interval_ms, count in series["values"]:
                found[interval_ms] = found.get(interval_ms, 0) + count
    return found


def kept(spark: SparkSession, directory: str) -> dict[int, int]:
    rows = spark.read.format("delta").load(directory).groupBy("moment_ms").count().collect()
    step_ms = INTERVAL_S * 1000
    return {row.moment_ms // step_ms * step_ms: row["count"] for row in rows}


def reached(sink: SinkStream, keeper: Keeper) -> bool:
    return sink.health().delivered_ms == keeper.health().last_moment_ms


def measure(spark: SparkSession, config: Config, influx: InfluxDB, away_s: int, groups: int) -> str:
    assert config.history
    stop = threading.Event()
    directory = config.history_directory
    keeper = Keeper(
        spark, directory, config.history, lambda: board(groups, WIDTH, int(time.time() * 1000))
    )
    sink = SinkStream(spark, config, config.sinks["x"])
    keeping = keep_running("keeper", keeper.run, keeper, stop)
    delivering = threading.Event()
    sending = keep_running("sink", sink.run, sink, delivering)
    wait_until(lambda: bool(sink.health().delivered_ms), 0.1, PATIENCE_S)
    time.sleep(BEFORE_S)
    influx.kill()
    time.sleep(away_s)
    influx.start()
    time.sleep(AFTER_S)
    stop.set()
    keeping.join()
    caught_up_s = wait_until(lambda: reached(sink, keeper), 0.1, PATIENCE_S)
    delivering.set()
    sending.join()
    expected, found = kept(spark, directory), stored(influx)
    wrong = {at for at in expected.keys() | found.keys() if expected.get(at) != found.get(at)}
    assert not wrong, sorted(wrong)
    cells = (away_s, len(expected), f"{sum(found.values()):,}", len(wrong), f"{caught_up_s:.1f}")
    return f"| {' | '.join(map(str, cells))} |"


HEADER = """\
| away s | moments | points | moments missing or twice | s to catch up after the last moment |
|---:|---:|---:|---:|---:|"""


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    away_s, partitions = (*given, *(120, 10_000)[len(given) :])
    machine = where()
    spark = start_session("local[2]", "benchmark", {}, "2g")
    try:
        with tempfile.TemporaryDirectory() as name, InfluxDB(Path(name, "influx")) as influx:
            section = f'[sink.x]\nclass-name = "influxdb"\nurl = "{influx.url}"\ndatabase = "lag"\n'
            history = f'[history]\ndirectory = "{name}/history"\nhistory-interval = {INTERVAL_S}\n'
            text = f'{MINIMAL}{history}{section}since = "earliest"\n'
            config = load_text(Path(name), text).config
            line = measure(spark, config, influx, away_s, max(partitions // WIDTH, 1))
    finally:
        stop_session(spark)
    shape = f"{partitions:,} partitions, a moment every {INTERVAL_S} s, InfluxDB 1.6.7 beside it"
    write("outage.md", f"# InfluxDB killed under load\n\n{machine}; {shape}.\n\n{HEADER}\n{line}\n")


if __name__ == "__main__":
    main()
