"""What sinks write of the recorded cluster is what Telegraf wrote of Burrow's answers about it."""

import json
from typing import Any

import pytest
from compat.replay import Replay
from pyspark.sql import DataFrame, SparkSession
from support.telegraf import (
    UNFOUND,
    Line,
    in_order,
    parsed,
    recorded_documents,
    recorded_lines,
)

from warren.config import HistorySettings
from warren.evaluate.judge import JudgeSettings
from warren.history.board_rows import row_granularity, rows
from warren.model.board import Board
from warren.model.tables import HISTORY
from warren.pipeline import steps
from warren.pipeline.consumers import Sources
from warren.sinks.elasticsearch import entries
from warren.sinks.influxdb import lines
from warren.sinks.points import OWN, points

STARTED_S = 1_794_772_914  # a new start of Burrow, which read all records again
GATHERED_S = 1_794_772_920


@pytest.fixture
def kept(replay: Replay, spark: SparkSession) -> DataFrame:
    """The moment that Telegraf saw, as history keeps it."""
    replay.run_at(STARTED_S)
    cluster = steps.judge_cluster(
        replay.cluster, Sources(), JudgeSettings(), GATHERED_S, replay.serving.store
    )
    board = Board(GATHERED_S * 1000, {"local": cluster})
    moment = rows(board, ["local"], row_granularity(HistorySettings())).cast(HISTORY).to_pylist()
    known = [row for row in moment if row["group"] not in UNFOUND]
    return spark.createDataFrame([tuple(row.values()) for row in known], _schema(spark))


def _schema(spark: SparkSession) -> Any:
    return spark.createDataFrame(HISTORY.empty_table()).schema


def telegrafs(line: Line) -> Line:
    """Without the fields that only Warren has."""
    fields = tuple((name, value) for name, value in line.fields if name not in OWN)
    return line._replace(fields=fields)


def telegrafs_document(document: dict[str, Any]) -> dict[str, Any]:
    name = document["measurement_name"]
    fields = {key: value for key, value in document[name].items() if key not in OWN}
    return {**document, name: fields}


@pytest.mark.parametrize("replay", ["list"], indirect=True)
def test_points_and_documents_have_the_age_beside_telegrafs_fields(kept: DataFrame) -> None:
    measured = points(kept).cache()

    written = [parsed(row.text) for row in lines(measured).collect()]
    documents = [json.loads(row.text.split("\n")[1]) for row in entries(measured, "i").collect()]

    for measurement, lag in (("burrow_group", "total_lag"), ("burrow_partition", "lag")):
        nothing_unread = [
            dict(line.fields)
            for line in written
            if line.measurement == measurement and ("age_method", '"nothing_unread"') in line.fields
        ]
        assert nothing_unread
        assert {(fields["age_s"], fields[lag]) for fields in nothing_unread} == {("0.0", "0i")}
        sent = [each[measurement] for each in documents if measurement in each]
        ages = [each["age_s"] for each in sent if each.get("age_method") == "nothing_unread"]
        assert ages == [0.0] * len(nothing_unread)


@pytest.mark.parametrize("replay", ["list"], indirect=True)
def test_every_point_and_document_is_telegrafs(kept: DataFrame) -> None:
    measured = points(kept).cache()

    written = [parsed(row.text) for row in lines(measured).collect()]
    documents = [row.text.splitlines() for row in entries(measured, "telegraf-%Y.%m.%d").collect()]

    assert sorted(telegrafs(line) for line in written) == recorded_lines()
    sent = [telegrafs_document(json.loads(document)) for _, document in documents]
    assert in_order(sent) == recorded_documents()
    assert {json.loads(action)["index"]["_index"] for action, _ in documents} == {
        "telegraf-2026.11.15"
    }
    assert len({json.loads(action)["index"]["_id"] for action, _ in documents}) == len(documents)
    times = {json.loads(document)["@timestamp"] for _, document in documents}
    assert times == {"2026-11-15T20:02:00Z"}
