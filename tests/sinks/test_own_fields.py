"""The fields that Telegraf does not have: numbers with bounds, and none that is not finite."""

import json
import math
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession
from support.servers.influxdb import InfluxDB
from support.telegraf import parsed

from warren.model.numbers import Method
from warren.model.tables import GROUP, HISTORY, LOG_END, PARTITION
from warren.sinks.elasticsearch import entries
from warren.sinks.influxdb import lines
from warren.sinks.points import OWN, points

NEVER, NAN = math.inf, math.nan
KNOWN = {
    "lag_low": 4,
    "lag_high": 2**63 - 1,
    "lost": 2,
    "age_method": int(Method.BY_ENDS),
    "age_s": 12.3,
    "age_low_s": 0.1,
    "age_high_s": 604_800.0,
    "drain_low_s": 60.0,
    "drain_high_s": 1e7,
    "margin_s": 3600.0,
    "scalable_lag": 7,
    "expires_s": 86_400.0,
}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "known": (KNOWN, {**KNOWN, "age_method": "by_ends", "never_drains": 0, "will_lose": 0}),
    "unknown": ({}, {}),
    "never": (
        dict.fromkeys(
            ("drain_low_s", "drain_high_s", "margin_s", "age_high_s", "expires_s"), NEVER
        ),
        {"never_drains": 1, "will_lose": 0},
    ),
    "lost before it is read": (
        {"drain_low_s": NEVER, "margin_s": 60.0},
        {"margin_s": 60.0, "never_drains": 1, "will_lose": 1},
    ),
    "perhaps never": (
        {"drain_low_s": 5.0, "drain_high_s": NEVER},
        {"drain_low_s": 5.0, "never_drains": 0},
    ),
    "not a number": (dict.fromkeys(("age_s", "drain_high_s", "margin_s"), NAN), {}),
    "by clock": (
        {"age_s": 0.5, "age_method": int(Method.BY_CLOCK)},
        {"age_s": 0.5, "age_method": "by_clock"},
    ),
}


def history(spark: SparkSession) -> Any:
    schema = spark.createDataFrame(HISTORY.empty_table()).schema
    empty = dict.fromkeys(HISTORY.names) | {"cluster": "c", "moment_ms": 1_700_000_000_000}
    rows = [
        empty | {"kind": kind, "group": name, "lag": 5} | given
        for name, (given, _) in CASES.items()
        for kind in (GROUP, PARTITION)
    ]
    rows.append(empty | {"kind": LOG_END, "topic": "orders", "partition": 0})
    return spark.createDataFrame([tuple(row.values()) for row in rows], schema)


def own(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in OWN}


def value_of(text: str) -> Any:
    if text.startswith('"'):
        return text.strip('"')
    return int(text[:-1]) if text.endswith("i") else float(text)


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> Any:
    return points(history(spark)).cache()


def test_lines_have_what_is_known_and_finite(made: Any) -> None:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in lines(made).collect():
        line = parsed(row.text)
        fields = {name: value_of(text) for name, text in line.fields}
        found.setdefault(dict(line.tags).get("group", ""), []).append(own(fields))

    assert found == {**{name: [values] * 2 for name, (_, values) in CASES.items()}, "": [{}]}


def test_documents_have_what_is_known_and_finite(made: Any) -> None:
    texts = [row.text.split("\n")[1] for row in entries(made, "i").collect()]

    assert not [text for text in texts if "NaN" in text or "Infinity" in text]
    found: dict[str, list[dict[str, Any]]] = {}
    for document in map(json.loads, texts):
        fields = own(document[document["measurement_name"]])
        found.setdefault(document["tag"].get("group", ""), []).append(fields)
    assert found == {**{name: [values] * 2 for name, (_, values) in CASES.items()}, "": [{}]}


def test_influxdb_stores_them_with_their_types(made: Any, tmp_path: Path) -> None:
    body = "".join(row.text for row in lines(made).collect())
    with InfluxDB(tmp_path / "influx") as influx:
        influx.query("CREATE DATABASE own")

        answer = httpx.post(f"{influx.url}/write", params={"db": "own"}, content=body.encode())

        assert answer.status_code == 204, answer.text
        what = "age_s, age_method, lag_high, never_drains"
        where = "\"group\" = 'known'"
        (series,) = influx.query(f"SELECT {what} FROM burrow_group WHERE {where}", "own")  # noqa: S608  our words
    assert series["values"][0][1:] == [12.3, "by_ends", 2**63 - 1, 0]
