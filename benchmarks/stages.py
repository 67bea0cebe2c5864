"""What each stage between a broker and the windows costs a record, in CPU time.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/stages.py

Batches are read as Warren reads them when it catches up: 50 partitions, two tasks, 400,000 records.
Java's CPU is that of its threads; Java's flight recorder looks a hundred times a second at what
those that read are doing, and tells the shares. Decoding and folding are timed on the same batches.
"""

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition
from measured import TICKS, where, write
from monitors import fill, scratch
from pyspark.sql import DataFrame, SparkSession

from warren.decode.commits import decode, without_long_metadata
from warren.demo.broker import Broker
from warren.pipeline.batch_contents import with_written_ms
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.offsets_topic import TopicSource, read
from warren.spark.java import java_home
from warren.spark.session import start_session, stop_session
from warren.windows.windows import Windows

PARTITIONS = 50
CORES = 2
WARM_UPS = 3
INTERVALS = 10
OWN_THREADS = re.compile(r"C[12] Compiler|GC|VM ")  # of Java itself

# A sample counts for the first of these that one of its frames, from the innermost on, belongs to.
STAGES = {
    r"org\.apache\.kafka\.": "Kafka's client: fetch, unpack, check",
    r"org\.apache\.spark\.sql\.kafka010\.|UnsafeRowWriter": "Spark's source: a record to a row",
    r"arrow": "rows to Arrow batches",
    r"GeneratedClass|catalyst\.(expressions|InternalRow)": "projections, long metadata cut out",
    r"api\.python\.|PythonServer|ObjectOutputStream|network\.|storage\.": "batches to Python",
    r"": "Spark's engine, and the rest",
}


class Read(NamedTuple):
    batches: list[pa.Table]
    reading_s: float  # CPU of the threads that read
    own_s: float  # of Java's compilers and collector
    python_s: float


@click.command()
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=6)
def main(groups: int, partitions: int, rounds: int) -> None:
    about = where()
    with Broker(offsets_partitions=PARTITIONS, heap="1g") as broker, scratch() as place:
        fill(broker.bootstrap, groups, partitions, rounds)
        ends = _ends(broker.bootstrap)
        spark = start_session(f"local[{CORES}]", "stages", {}, "2g")
        try:
            for _ in range(WARM_UPS):
                _read(spark, broker.bootstrap, ends)
            _jcmd(spark, "JFR.start", "settings=profile", "name=stages")
            done = _read(spark, broker.bootstrap, ends)
            recording = place / "stages.jfr"
            _jcmd(spark, "JFR.dump", "name=stages", f"filename={recording}")
            shares = _shares(recording)
        finally:
            stop_session(spark)
    commits, decode_s = _decoded(done.batches)
    costs = {
        **{stage: done.reading_s * share for stage, share in shares.items()},
        "Java's compilers and collector": done.own_s,
        "the driver receives them": done.python_s,
        "the driver decodes them": decode_s,
        "the driver folds them": _folded(commits, partitions),
    }
    write("stages.md", _report(about, sum(ends.values()), costs))


def _ends(bootstrap: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "stages"})
    places = (TopicPartition(OFFSETS_TOPIC, number) for number in range(PARTITIONS))
    ends = {place.partition: consumer.get_watermark_offsets(place)[1] for place in places}
    consumer.close()
    return {partition: end for partition, end in ends.items() if end}


def _read(spark: SparkSession, bootstrap: str, ends: Mapping[int, int]) -> Read:
    """All records, as Warren reads them to the end of the topic."""
    options = {"kafka.bootstrap.servers": bootstrap}
    source = TopicSource(OFFSETS_TOPIC, options, dict.fromkeys(ends, 0), until_now=True)
    batches: list[pa.Table] = []

    def take(batch: DataFrame, _: int) -> None:
        batches.append(batch.coalesce(CORES).transform(without_long_metadata).toArrow())

    reading_s, own_s = _java_seconds(spark)
    python_s = time.process_time()
    with scratch() as checkpoint:
        writer = read(spark, source).writeStream.trigger(availableNow=True)
        writer = writer.option("checkpointLocation", checkpoint.as_uri())
        writer.foreachBatch(take).start().awaitTermination()
    after_s, own_after_s = _java_seconds(spark)
    python_s = time.process_time() - python_s
    return Read(batches, after_s - reading_s, own_after_s - own_s, python_s)


def _java(spark: SparkSession) -> int:
    return int(spark.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]  # noqa: SLF001  the only place that knows


def _java_seconds(spark: SparkSession) -> tuple[float, float]:
    """CPU seconds of the threads that work for us, and of Java's own."""
    used = [0.0, 0.0]
    for task in Path(f"/proc/{_java(spark)}/task").iterdir():
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        ticks = rest.split()
        used[bool(OWN_THREADS.match(name))] += (int(ticks[11]) + int(ticks[12])) / TICKS
    return used[0], used[1]


def _jcmd(spark: SparkSession, *words: str) -> None:
    command = [str(java_home() / "bin" / "jcmd"), str(_java(spark)), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _shares(recording: Path) -> dict[str, float]:
    counts = Counter(map(_stage, _stacks(recording)))
    return {stage: counts[stage] / counts.total() for stage in STAGES.values()}


def _stacks(recording: Path) -> Iterator[list[str]]:
    """The classes of each sample, innermost first, of threads that read."""
    command = [str(java_home() / "bin" / "jfr"), "print", "--json", "--stack-depth", "64"]
    command += ["--events", "ExecutionSample,NativeMethodSample", str(recording)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ})
    for event in json.loads(done.stdout)["recording"]["events"]:
        values: Any = event["values"]
        frames = [each["method"]["type"]["name"] for each in values["stackTrace"]["frames"]]
        if _is_work(values["sampledThread"]["javaName"] or "", frames):
            yield [name.replace("/", ".") for name in frames]


def _is_work(thread: str, frames: list[str]) -> bool:
    """Threads that wait in a native method are sampled, too."""
    waits = ("sun/nio/ch/EPoll", "sun/nio/ch/NioSocketImpl", "java/net/PlainSocketImpl")
    reads = thread.startswith(("Executor task", "serve-Arrow", "stream execution"))
    return reads and not frames[0].startswith(waits)


def _stage(frames: list[str]) -> str:
    for frame in frames:
        for pattern, stage in STAGES.items():
            if pattern and re.search(pattern, frame):
                return stage
    return STAGES[""]


def _decoded(batches: list[pa.Table]) -> tuple[list[pa.Table], float]:
    began = time.process_time()
    commits = [decode(batch) for batch in batches]
    return commits, time.process_time() - began


def _folded(commits: list[pa.Table], partitions: int) -> float:
    """As when the first commits of all groups come: rows are made, too."""
    windows, now = Windows(INTERVALS), time.time()
    topics = pa.concat_tables(batch.select(["topic"]) for batch in commits)["topic"].unique()
    names = [name for name in topics.cast(pa.string()).to_pylist() if name]
    of_all = pa.array(np.repeat(np.arange(len(names)), partitions))
    numbers = np.tile(np.arange(partitions, dtype=np.int32), len(names))
    ends = {"topic": pa.array(names).take(of_all), "partition": numbers}
    ends["offset"] = np.full(len(numbers), 1 << 40)
    windows.set_log_ends(pa.table(ends), dict.fromkeys(names, partitions), now_s=now)
    began = time.process_time()
    for batch in commits:
        written = with_written_ms(batch, np.zeros(len(batch), np.int64), now)
        windows.fold(written, int(now))
    return time.process_time() - began


def _report(about: str, records: int, costs: Mapping[str, float]) -> str:
    micro = partial(_micro, records)
    lines = [
        "# What a record costs on its way to the windows",
        "",
        f"{about}. {records:,} records, after {WARM_UPS} runs to warm up.",
        "",
        "| | CPU µs a record | share |",
        "|---|---:|---:|",
    ]
    total = sum(costs.values())
    lines += [f"| {name} | {micro(cost)} | {cost / total:.0%} |" for name, cost in costs.items()]
    return "\n".join([*lines, f"| all | {micro(total)} | |"]) + "\n"


def _micro(records: int, seconds: float) -> str:
    return f"{seconds / records * 1e6:.2f}"


if __name__ == "__main__":
    main()
