"""The recorded records again, through the production path, with the clock of the recording."""

import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from support.decoding import decoded
from support.kafka_clients import Kafka
from support.records import commit_key, commit_value

from warren import config
from warren.evaluate.judge import JudgeSettings
from warren.model.board import Board
from warren.model.health import Health
from warren.model.history_question import HistoryQuestion, Progress, ReportQuestion
from warren.model.offset_reports import Report
from warren.model.tables import LOG_ENDS, RECORDS
from warren.pipeline import steps
from warren.pipeline.cluster import Accepts, new_cluster
from warren.pipeline.consumers import Sources, TopicConsumer
from warren.serve.http.channel import OfSilences
from warren.serve.http.workers import Serving
from warren.sources.offsets_topic import Batch, HandOver, TopicSource, TopicStream

RECORDING = json.loads(Path(__file__).with_name("burrow-http.json").read_text())

STARTED_S = 1_794_772_857  # Burrow's first look at the brokers, as `observedAt` of the answers says
ENDED_S = RECORDING["answers"][-1]["at_ms"] // 1000
OFFSETS_PARTITIONS = 4
PARTITIONS = {
    "alpha": 3,
    "beta": 1,
    "dotted.topic_1": 2,
    "empty": 2,
    "__consumer_offsets": OFFSETS_PARTITIONS,
}

# The broker's own consumer made this commit while it started; the answers show it, the list of
# records does not.
INIT_GROUP = {
    "partition": 2,
    "offset": 0,
    "key": commit_key("init-group", "beta", 0),
    "value": commit_value(50, 1_794_772_857_440),
}


def settings(folder: Path) -> config.Config:
    file = folder / "burrow.toml"
    file.write_text(RECORDING["config"])
    return config.load(file, {}).config


class Replay:
    """One cluster, fed second by second; requests change it as they changed Burrow."""

    serving: Serving
    port: int

    def __init__(self, decoded: pa.Table, loaded: config.Config) -> None:
        self.cluster = new_cluster("local", loaded.storage)
        consumer = loaded.consumers["local"]
        accepts = Accepts(consumer.groups, loaded.storage.groups)
        self.topic_consumer = TopicConsumer(consumer, self.cluster, accepts)
        self.level = loaded.logging.level
        self.now_s = STARTED_S
        self._decoded = _with_seconds(decoded)
        self._growth = [_committed_ms(record) for record in RECORDING["records"] if _late(record)]

    def run(self) -> None:
        """Everything as and when Burrow read it."""
        for self.now_s in range(STARTED_S, ENDED_S + 1):
            self._fold(self._decoded.filter(pc.equal(self._decoded["second"], self.now_s)))

    def run_at(self, now_s: int) -> None:
        """Everything at once, later."""
        self.now_s = now_s
        self._fold(self._decoded)

    def _fold(self, table: pa.Table) -> None:
        self._see_log_ends()
        batch = Batch(table, self._positions())
        steps.fold(self.topic_consumer, batch, float(self.now_s))

    def publish(self) -> None:
        board = steps.judge_cluster(
            self.cluster, Sources(), JudgeSettings(), self.now_s, self.serving.store
        )
        self.serving.publish(Board(self.now_s * 1000, {"local": board}, Health(ready=True)))
        assert self.serving.wait_taken(20)

    def delete_group(self, cluster: str, group: str, topic: str | None) -> None:
        if cluster == "local":
            steps.delete_group(self.cluster, group, topic)
            self.publish()

    def get_level(self) -> str:
        return self.level

    def set_level(self, level: str) -> None:
        self.level = level

    def silences(self, _action: OfSilences) -> str:
        raise NotImplementedError  # Burrow has none

    def report_offsets(self, _reports: list[Report]) -> str:
        raise NotImplementedError  # Burrow takes none

    def recent_history(self, _question: HistoryQuestion) -> str:
        raise NotImplementedError

    def group_history(self, _question: HistoryQuestion) -> str:
        raise NotImplementedError

    def history_progress(self, _ticket: str) -> Progress | None:
        raise NotImplementedError

    def history_report(self, _question: ReportQuestion) -> str:
        raise NotImplementedError

    def _see_log_ends(self) -> None:
        ends = {(end["topic"], end["partition"]): end["offset"] for end in _ends_at_start()}
        ends["beta", 0] += 20 * len([ms for ms in self._growth if ms // 1000 <= self.now_s])
        ends |= {("__consumer_offsets", part): end for part, end in self._positions().items()}
        rows = [
            {"topic": topic, "partition": partition, "offset": ends.get((topic, partition), 0)}
            for topic, count in PARTITIONS.items()
            for partition in range(count)
        ]
        self.cluster.windows.set_log_ends(pa.Table.from_pylist(rows, LOG_ENDS), PARTITIONS)

    def _positions(self) -> dict[int, int]:
        """Where each partition of the offsets topic ended at this moment."""
        there = self._decoded.filter(pc.less_equal(self._decoded["second"], self.now_s))
        ends = zip(there["log_partition"].to_pylist(), there["order"].to_pylist(), strict=True)
        return {part: order + 1 for part, order in sorted(ends)}


def _ends_at_start() -> list[dict[str, Any]]:
    ends: list[dict[str, Any]] = RECORDING["log_ends_at_start"]
    return ends


def from_list(spark: SparkSession) -> pa.Table:
    """The recorded records, decoded on Spark."""
    rows = [tuple(record[name] for name in RECORDS.names) for record in _records()]
    return decoded(spark, rows)


def from_broker(spark: SparkSession, bootstrap: str, scratch: Path) -> pa.Table:
    """The same, written to a real broker and read back as the offsets topic is read."""
    kafka, topic = Kafka(bootstrap), "recorded-offsets"
    kafka.make_topic(topic, *[0] * OFFSETS_PARTITIONS)
    for record in _records():
        kafka.write(topic, [(record["key"], record["value"])], record["partition"])
    start = dict.fromkeys(range(OFFSETS_PARTITIONS), 0)
    source = TopicSource(topic, {"kafka.bootstrap.servers": bootstrap}, start, until_now=True)
    hand_over = HandOver()
    query = steps.follow(spark, [TopicStream(source, hand_over)], scratch)
    assert query.awaitTermination(60)
    batches = []
    while (batch := hand_over.take(0)) is not None:
        batches.append(steps.decoded(batch).table)
    return pa.concat_tables(batches)


def _records() -> list[dict[str, Any]]:
    """All records, in the order of the log."""
    raw = [
        record
        | {"key": bytes.fromhex(record["key_hex"]), "value": bytes.fromhex(record["value_hex"])}
        for record in RECORDING["records"]
    ]
    return sorted([INIT_GROUP, *raw], key=lambda record: (record["partition"], record["offset"]))


def _with_seconds(table: pa.Table) -> pa.Table:
    """With the second in which Burrow came to read each record."""
    table = table.sort_by([("log_partition", "ascending"), ("order", "ascending")])
    late = pc.equal(table["group"], "falling-behind").combine_chunks().fill_null(False)  # noqa: FBT003  # Arrow's way
    second = pc.if_else(late, pc.divide(table["committed_ms"], 1000), STARTED_S)
    return table.append_column("second", second)


def _late(record: dict[str, Any]) -> bool:
    """Whether a record was written while Burrow ran."""
    return b"falling-behind" in bytes.fromhex(record["key_hex"])


def _committed_ms(record: dict[str, Any]) -> int:
    milliseconds: int = struct.unpack(">q", bytes.fromhex(record["value_hex"])[-8:])[0]
    return milliseconds
