"""What each stage between a broker and the windows costs a record, in CPU time.

    PYTHONPATH=src:tests .venv/bin/python benchmarks/stages.py

Each row does what the one before does and one thing more. Folding is in benchmarks/tick.py.
Streams read as Warren's do: 50 partitions, two tasks, batches of 400,000 records.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import click
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition
from measured import cpu_seconds, where, write
from monitors import fill, scratch
from pyspark.sql import DataFrame, SparkSession

from warren.decode.commits import decode, without_long_metadata
from warren.demo.broker import Broker
from warren.sources.group_offsets import OFFSETS_TOPIC
from warren.sources.offsets_topic import TopicSource, read
from warren.spark.session import start_session, stop_session

PARTITIONS = 50
CORES = 2
WARM_UPS = 2


def _discarded(records: DataFrame) -> None:
    records.write.format("noop").mode("overwrite").save()


def _decoded(records: DataFrame) -> pa.Table:
    return decode(records.transform(without_long_metadata).toArrow())


STAGES: Mapping[str, Callable[[DataFrame], object]] = {
    "Spark's Kafka source, rows thrown away": _discarded,
    "+ Arrow batches to the driver": lambda records: records.toArrow(),
    "+ long metadata cut out": lambda records: records.transform(without_long_metadata).toArrow(),
    "+ decoded": _decoded,
}


class Cost(NamedTuple):
    java_s: float
    python_s: float


@click.command()
@click.option("--groups", default=500)
@click.option("--partitions", default=1_000)
@click.option("--rounds", default=3)
def main(groups: int, partitions: int, rounds: int) -> None:
    about = where()
    with Broker(offsets_partitions=PARTITIONS, heap="1g") as broker:
        fill(broker.bootstrap, groups, partitions, rounds)
        ends = _ends(broker.bootstrap)
        spark = start_session(f"local[{CORES}]", "stages", {}, "2g")
        try:
            for _ in range(WARM_UPS + 1):
                costs = {
                    name: _cost(spark, broker.bootstrap, ends, work)
                    for name, work in STAGES.items()
                }
        finally:
            stop_session(spark)
    write("stages.md", _report(about, sum(ends.values()), costs))


def _ends(bootstrap: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "stages"})
    places = (TopicPartition(OFFSETS_TOPIC, number) for number in range(PARTITIONS))
    ends = {place.partition: consumer.get_watermark_offsets(place)[1] for place in places}
    consumer.close()
    return {partition: end for partition, end in ends.items() if end}


def _cost(
    spark: SparkSession,
    bootstrap: str,
    ends: Mapping[int, int],
    work: Callable[[DataFrame], object],
) -> Cost:
    source = TopicSource(
        OFFSETS_TOPIC, {"kafka.bootstrap.servers": bootstrap}, dict.fromkeys(ends, 0)
    )

    def run(batch: DataFrame, _: int) -> None:
        work(batch.coalesce(CORES))

    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001  the only place that knows
    java_s, python_s = cpu_seconds(java), time.process_time()
    with scratch() as checkpoint:
        writer = read(spark, source).writeStream.trigger(availableNow=True)
        writer = writer.option("checkpointLocation", checkpoint.as_uri())
        query = writer.foreachBatch(run).start()
        query.awaitTermination()
    return Cost(cpu_seconds(java) - java_s, time.process_time() - python_s)


def _report(about: str, records: int, costs: Mapping[str, Cost]) -> str:
    lines = [
        "# What a record costs on its way to the windows",
        "",
        f"{about}. {records:,} records, after {WARM_UPS} runs to warm up.",
        "",
        "CPU microseconds a record, in Java and in Python. Each row does one thing more.",
        "",
        "| | Java | Python |",
        "|---|---|---|",
    ]
    lines += [
        f"| {name} | {cost.java_s / records * 1e6:.2f} | {cost.python_s / records * 1e6:.2f} |"
        for name, cost in costs.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
