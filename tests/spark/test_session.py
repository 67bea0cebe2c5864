"""The session reads and writes what Warren needs, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from warren.spark.session import SCRATCH

# Java of itself, and Delta of a table that was tidied up.
JAVAS_OWN = r"jdk\.incubator\.vector|Picked up JDK_JAVA_OPTIONS|^Deleted \d+ files and directories"


def test_a_delta_table_is_written_and_read_back(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(5).write.format("delta").save(f"{tmp_path}/table")

    assert spark.read.format("delta").load(f"{tmp_path}/table").count() == 5


def test_spark_outlives_the_signals_that_stop_warren(spark: SparkSession) -> None:
    gateway = SparkContext._gateway  # noqa: SLF001  the JVM's pid is nowhere else
    assert gateway is not None

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(gateway.proc.pid, number)

    assert spark.range(3).count() == 3


def test_spark_leaves_nothing_in_the_working_directory(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS kept USING parquet AS SELECT 1 AS one")

    names = ("artifacts", "spark-warehouse", "metastore_db", "derby.log")
    assert [name for name in names if Path(name).exists()] == []


def test_who_does_not_know_the_secret_gets_no_answer_from_the_driver(spark: SparkSession) -> None:
    context: Any = spark.sparkContext
    java, driver = context._jvm.org.apache.spark, context._jsc.sc().env()  # noqa: SLF001  Spark's own client
    no, yes = False, True  # Java's arguments have no names
    conf = java.SparkConf(no).set("spark.rpc.io.maxRetries", "0")
    unset = [getattr(java.SecurityManager, f"$lessinit$greater$default${n}")() for n in (2, 3)]
    anybody = java.SecurityManager(conf, *unset)
    here = "127.0.0.1"
    ports = {
        "driver": int(spark.conf.get("spark.driver.port") or 0),
        "blocks": driver.blockManager().blockManagerId().port(),
    }
    stranger = java.rpc.RpcEnv.create("stranger", here, here, 0, conf, anybody, 0, yes)

    refused = {}
    for name, port in ports.items():
        with pytest.raises(Py4JJavaError) as error:
            stranger.setupEndpointRef(java.rpc.RpcAddress(here, port), "MapOutputTracker")
        refused[name] = "Expected SaslMessage" in str(error.value)
    stranger.shutdown()

    assert refused == dict.fromkeys(ports, True)
    own = driver.rpcEnv()
    assert own.setupEndpointRef(own.address(), "MapOutputTracker").name() == "MapOutputTracker"


def test_spark_is_quiet(spark: SparkSession) -> None:
    log = Path(spark.conf.get(SCRATCH) or "", "spark.log")
    before = log.read_text()

    spark.range(3).toArrow()

    # Other tests may have made the session complain before: of its start that was not yet so.
    first = takewhile(lambda line: " spark ERROR " not in line, before.splitlines())
    assert [line for line in first if not re.search(JAVAS_OWN, line)] == []
    assert log.read_text() == before


def test_a_spark_that_does_not_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "from warren.errors import StartError; from warren.spark.session import start_session\n"
        "try: start_session('local[1]', 'never', {}, '1 potato')\n"
        "except StartError as error: print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert re.fullmatch(r"Spark does not start: .*potato.*\n", done.stdout)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_spark_that_was_stopped_under_us_is_noticed() -> None:
    code = (
        "import threading; from warren.errors import SparkDied\n"
        "from warren.spark.session import start_session, stop_session, wait_while_alive\n"
        "spark = start_session('local[1]', 'stopped', {}, '512m', bundles=())\n"
        "spark.sparkContext._jsc.sc().stop()\n"
        "try: wait_while_alive(spark, threading.Event())\n"
        "except SparkDied as error: print(error)\n"
        "stop_session(spark)\n"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert ended.stdout.decode().startswith("Spark was stopped"), ended.stderr.decode()
