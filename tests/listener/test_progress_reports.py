"""Spark's own progress, as JSON, becomes a report."""

import json
from typing import Any

import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress
from warren_listener.progress_reports import Reporter, offsets_of

QUERY, RUN = "74eb7ea6-7ed5-4384-a4b3-b1f2b0d5a8ab", "f1f26b8b-1c4b-4f68-a9a3-6f4a2f6b2d53"


def source(description: str, end: object) -> dict[str, Any]:
    return {
        "description": description,
        "startOffset": None,
        "endOffset": end if isinstance(end, str) else json.dumps(end),
        "latestOffset": None,
        "numInputRows": 3,
        "inputRowsPerSecond": 1.5,
        "processedRowsPerSecond": 3.0,
        "metrics": {},
    }


def progress(*sources: dict[str, Any], **other: Any) -> StreamingQueryProgress:
    facts = {
        "id": QUERY,
        "runId": RUN,
        "name": "orders",
        "timestamp": "2026-03-01T12:00:00.250Z",
        "batchId": 7,
        "batchDuration": 1500,
        "numInputRows": 3,
        "inputRowsPerSecond": 1.5,
        "processedRowsPerSecond": 3.0,
        "stateOperators": [],
        "sources": sources,
        "sink": {"description": "noop", "numOutputRows": 3},
    }
    return StreamingQueryProgress.fromJson(facts | other)


KAFKA = source("KafkaV2[Subscribe[orders]]", {"orders": {"0": 42, "1": 7}})


def test_a_batch_is_reported_as_of_its_end() -> None:
    report = Reporter(application="app", cluster="east").progress(progress(KAFKA))

    began_ms = 1_772_366_400_250
    assert report == {
        "group": "orders",
        "cluster": "east",
        "time": began_ms + 1500,
        "offsets": {"orders": {"0": 42, "1": 7}},
        "complete": True,
        "query": {
            "origin": "listener",
            "place": "app",
            "name": "orders",
            "id": QUERY,
            "run_id": RUN,
            "every_s": 30.0,
            "batch": 7,
            "triggered_ms": began_ms,
            "batch_ms": 1500,
            "input_rate": 1.5,
            "processed_rate": 3.0,
        },
    }


def test_of_several_sources_those_of_kafka_count_and_the_one_behind() -> None:
    sources = [
        KAFKA,
        source("KafkaV2[SubscribePattern[o.*]]", {"orders": {"1": 5, "2": 1}, "offers": {"0": 9}}),
        source("DeltaSource[file:/x]", {"reservoirVersion": 3, "index": -1}),
        source("RateStreamV2[rowsPerSecond=1]", "17"),
        source("KafkaV2[Subscribe[none]]", ""),
    ]

    found = offsets_of(progress(*sources).sources)

    assert found == {"orders": {"0": 42, "1": 5, "2": 1}, "offers": {"0": 9}}


def test_a_query_without_kafka_has_no_offsets_to_report() -> None:
    report = Reporter().progress(progress(source("RateStreamV2[rowsPerSecond=1]", "17")))

    assert "offsets" not in report
    assert "complete" not in report


def test_numbers_that_are_none_are_left_out() -> None:
    state = {"operatorName": "x", "numRowsTotal": 5, "numRowsUpdated": 0, "memoryUsedBytes": 0}
    rows = {"numRowsDroppedByWatermark": 0, "numShufflePartitions": 1, "numStateStoreInstances": 1}
    more = {"allUpdatesTimeMs": 0, "numRowsRemoved": 0, "allRemovalsTimeMs": 0, "commitTimeMs": 0}
    operators = [state | rows | more | {"customMetrics": {}}] * 2

    query = Reporter().progress(
        progress(KAFKA, inputRowsPerSecond=float("nan"), stateOperators=operators)
    )["query"]

    assert (query["input_rate"], query["processed_rate"], query["state_rows"]) == (None, 3.0, 10)


@pytest.mark.parametrize(
    ("template", "name", "group"),
    [
        ("{name}", "orders", "orders"),
        ("{name}", None, QUERY),
        ("spark-{id}", "orders", f"spark-{QUERY}"),
        ("{app}/{name}", "orders", "app/orders"),
    ],
)
def test_the_group_is_named_by_a_template(template: str, name: str | None, group: str) -> None:
    reporter = Reporter(template, application="app")

    ended = reporter.terminated(name, QUERY, RUN, "boom\nat x", 5)

    assert (ended["group"], ended["time"]) == (group, 5)
    assert ended["query"]["ended"] is True
    assert ended["query"]["error"] == "boom\nat x"


@pytest.mark.parametrize("template", ["{nmae}", "{", "{0}", "{name.x}", ""])
def test_a_template_that_cannot_be_filled_in_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"group"):
        Reporter(template)
