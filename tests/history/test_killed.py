"""`kill -9` in the middle of an append: all moments that were kept are whole, and there once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from history import appending
from history.kept import minute
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

DEADLINE_S = 120
BEFORE = 3  # moments that are to be kept before the end


def kill_in_mid_append(directory: Path, first: int) -> list[int]:
    """The moments it said were kept; it ends when a file is written that no commit knows yet."""
    with subprocess.Popen(
        [sys.executable, appending.__file__, str(directory), str(first)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Java is killed with it
    ) as process:
        assert process.stdout is not None
        try:
            kept = [int(process.stdout.readline()) for _ in range(BEFORE)]
            _wait_for_another(directory)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        return kept + [int(line) for line in process.stdout if line.endswith("\n")]


def _wait_for_another(directory: Path) -> None:
    before, until = data_files(directory), time.monotonic() + DEADLINE_S
    while data_files(directory) == before and time.monotonic() < until:
        time.sleep(0.001)


def data_files(directory: Path) -> int:
    return len([*directory.glob("day=*/*/*.parquet")])


@pytest.mark.timeout(600)  # it starts Spark twice
def test_history_is_whole_after_kill_9(spark: SparkSession, tmp_path: Path) -> None:
    said = kill_in_mid_append(tmp_path, 0)
    said += kill_in_mid_append(tmp_path, said[-1] + 2)

    kept = spark.read.format("delta").load(str(tmp_path))
    counted = kept.groupBy("moment_ms").agg(
        F.count("*").alias("rows"), F.countDistinct("cluster", "kind", "group").alias("different")
    )
    found = {row.moment_ms: (row.rows, row.different) for row in counted.collect()}

    whole = 2 * len(appending.CLUSTERS) * len(appending.GROUPS)
    assert set(found.values()) == {(whole, whole)}
    assert {minute(number) for number in said} <= found.keys()
    assert len(said) >= 2 * BEFORE
