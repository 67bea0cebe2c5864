"""`kill -9` in mid-append: every moment that was kept is whole and there once, in every store."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from history import keeper_process
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from support.servers.influxdb import InfluxDB
from support.sink_streams import config, running, sink_health
from support.waiting import eventually

BEFORE = 3  # moments that are to be kept before the end


def kill_in_mid_append(file: Path, history: Path) -> list[int]:
    """The moments it said were kept; it ends when a file is written that no commit knows yet."""
    with subprocess.Popen(
        [sys.executable, keeper_process.__file__, str(file)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Java is killed with it
    ) as process:
        assert process.stdout is not None
        try:
            kept = [int(process.stdout.readline()) for _ in range(BEFORE)]
            _wait_for_another(history)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        return kept + [int(line) for line in process.stdout if line.endswith("\n")]


def _wait_for_another(history: Path) -> None:
    before = data_files(history)
    eventually(lambda: data_files(history) != before, pause_s=0.001)


def data_files(history: Path) -> int:
    return len([*history.glob("day=*/*/*.parquet")])


def stored(influx: InfluxDB) -> dict[int, int]:
    """How many points each moment has."""
    found: dict[int, int] = {}
    for name in ("burrow_group", "burrow_partition", "burrow_topic"):
        for series in influx.query(f'SELECT "offset" FROM {name}', "killed"):  # noqa: S608  our names
            for at_ms, _ in series["values"]:
                found[at_ms] = found.get(at_ms, 0) + 1
    return found


@pytest.mark.timeout(600)  # it starts Spark twice
def test_history_and_sinks_go_on_after_kill_9(spark: SparkSession, tmp_path: Path) -> None:
    history = tmp_path / "history"
    with InfluxDB(tmp_path / "influx") as influx:
        sink = f'class-name = "influxdb"\nurl = "{influx.url}"\ndatabase = "killed"\n'
        settings = config(
            tmp_path,
            f"history-interval = {keeper_process.INTERVAL_S}\n",
            f'[sink.killed]\n{sink}since = "earliest"\n',
        )
        said = [
            moment
            for _ in range(2)
            for moment in kill_in_mid_append(tmp_path / "burrow.toml", history)
        ]
        kept = spark.read.format("delta").load(str(history))
        counted = kept.groupBy("moment_ms").agg(
            F.count("*").alias("rows"),
            F.countDistinct("cluster", "kind", "group").alias("different"),
        )
        found = {row.moment_ms: (row.rows, row.different) for row in counted.collect()}
        with running(spark, settings) as sinks:
            eventually(
                lambda: sinks["killed"].health().delivered_ms,
                max(found),
                more=lambda: sink_health(sinks),
            )
        points = stored(influx)

    named = keeper_process.ROWS - len(keeper_process.CLUSTERS)  # log ends have no group
    assert set(found.values()) == {(keeper_process.ROWS, named)}
    assert set(said) <= found.keys()
    assert len(said) >= 2 * BEFORE
    intervals = [moment // (1000 * keeper_process.INTERVAL_S) for moment in found]
    assert len(set(intervals)) == len(intervals)
    assert points == dict.fromkeys(found, keeper_process.ROWS)
