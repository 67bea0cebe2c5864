"""Elasticsearch 7 to 9 and OpenSearch, by their common bulk API."""

import json
import re
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warren.config import ElasticsearchSink, Tls
from warren.errors import Undelivered
from warren.sinks.points import (
    COUNTS,
    MEASUREMENTS,
    OWN,
    OWN_COUNTS,
    OWN_SECONDS,
    OWN_WORDS,
    TAGS,
    body,
    points,
)
from warren.sinks.store_delivery import StoreAnswer
from warren.sinks.store_http import WAITING, Server, complaint

PRIORITY = 200  # above the servers' built-in templates


def template_name(index: str) -> str:
    return f"warren-{_prefix(index).strip('-._') or 'lag'}"


def template(index: str) -> dict[str, Any]:
    """The body of the older `_template`; `_index_template` has it inside."""
    return {
        "index_patterns": [f"{_prefix(index)}*"],
        "settings": {
            "index": {
                "codec": "best_compression",
                "refresh_interval": "10s",
                "auto_expand_replicas": "0-1",
                "mapping": {"total_fields": {"limit": "5000"}},
            }
        },
        "mappings": {
            "dynamic_templates": [
                {
                    "tags": {
                        "path_match": "tag.*",
                        "match_mapping_type": "string",
                        "mapping": {"ignore_above": 512, "type": "keyword"},
                    }
                }
            ],
            "properties": {
                "@timestamp": {"type": "date"},
                "measurement_name": {"type": "keyword"},
                "tag": {
                    "properties": {tag: {"type": "keyword", "ignore_above": 512} for tag in TAGS}
                },
                **{name: {"properties": _fields()} for name in MEASUREMENTS.values()},
            },
        },
    }


def index_template(index: str) -> dict[str, Any]:
    """The body of `_index_template`, which exists since Elasticsearch 7.8."""
    old = template(index)
    return {
        "index_patterns": old.pop("index_patterns"),
        "priority": PRIORITY,
        "template": old,
        "_meta": {"description": "made by Warren"},
    }


def _fields() -> dict[str, Any]:
    numbers: dict[str, Any] = {name: {"type": "long"} for name in (*COUNTS, *OWN_COUNTS)}
    return {
        **numbers,
        **{name: {"type": "float"} for name in OWN_SECONDS},
        **{name: {"type": "keyword"} for name in OWN_WORDS},
        "timestamp": {"type": "date", "format": "epoch_millis"},
        "status": {"type": "keyword"},
        "status_code": {"type": "byte"},
    }


def _prefix(index: str) -> str:
    """The common beginning of all index names."""
    return re.split("%", index, maxsplit=1)[0]


_BY_CODE = {"Y": "yyyy", "y": "yy", "m": "MM", "d": "dd", "H": "HH"}  # strftime's, and Java's


def entries(points: DataFrame, index: str) -> DataFrame:
    """One column, `text`: two lines for each point.

    The id is derived from names and moment, so a document sent twice is stored once.
    """
    moment = F.timestamp_millis("moment_ms")
    action = F.struct(
        F.struct(index_name(index, moment).alias("_index"), _id().alias("_id")).alias("index")
    )
    text = F.concat(
        F.to_json(action), F.lit("\n"), F.to_json(F.struct(*_document(moment))), F.lit("\n")
    )
    return points.select(text.alias("text"))


def _document(moment: Column) -> list[Column]:
    fields = F.struct(*COUNTS, "status", "status_code", *OWN)
    tags = F.struct(*TAGS)  # an empty owner too, as Telegraf writes it
    iso = F.concat(F.replace(moment.cast("string"), F.lit(" "), F.lit("T")), F.lit("Z"))
    # Nulls are left out of the text, so it has only the point's own measurement.
    of_measurement = (
        F.when(F.col("measurement") == name, fields).alias(name) for name in MEASUREMENTS.values()
    )
    return [
        iso.alias("@timestamp"),
        F.col("measurement").alias("measurement_name"),
        tags.alias("tag"),
        *of_measurement,
    ]


def index_name(pattern: str, moment: Column) -> Column:
    """`telegraf-%Y.%m.%d` of a moment."""
    texts = [
        F.date_format(moment, _BY_CODE[part[1]]) if part.startswith("%") else F.lit(part)
        for part in re.split("(%.)", pattern)
        if part
    ]
    return F.concat(*texts)


def _id() -> Column:
    names = [F.coalesce(name, F.lit("")) for name in ("cluster", "group", "topic", "partition")]
    parts = [F.col("measurement"), *names, F.col("moment_ms").cast("string")]
    return F.md5(reduce(lambda text, part: F.concat(text, F.lit("\0"), part), parts))


TOO_LARGE = 413
ANSWERED = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by"
JSON, NDJSON = "application/json", "application/x-ndjson"
HINT = "; without the right to create templates, set manage-template = false and create it yourself"


class Elasticsearch:
    def __init__(self, settings: ElasticsearchSink, tls: Tls | None) -> None:
        self._index = settings.index
        self._manage_template = settings.manage_template
        key = settings.api_key.reveal()
        self._server = Server(settings, tls, {"Authorization": f"ApiKey {key}"} if key else {})

    def prepare(self) -> None:
        """Install the index template, in the older form if the server does not know the newer."""
        if not self._manage_template:
            return
        name = template_name(self._index)
        response = self._put(f"/_index_template/{name}", index_template(self._index))
        if response.status_code in {400, 404, 405} and "no handler" in response.text:
            response = self._put(f"/_template/{name}", template(self._index))
        self._server.wait_unless(response, 200, hint=HINT)
        if not response.is_success:
            raise Undelivered(f"the index template is refused: {complaint(response)}{HINT}")

    def _put(self, path: str, content: dict[str, Any]) -> Any:
        text = json.dumps(content).encode()
        return self._server.request("PUT", path, headers={"Content-Type": JSON}, content=text)

    def texts(self, history: DataFrame) -> DataFrame:
        return entries(points(history), self._index)

    def post(self, lines: pa.Array) -> StoreAnswer:
        response = self._server.post("/_bulk", body(lines), NDJSON, {"filter_path": ANSWERED})
        self._server.wait_unless(response, 200)
        if response.status_code == TOO_LARGE:
            return StoreAnswer(objection="the request is too large", is_too_large=True)
        if not response.is_success:
            return StoreAnswer(objection=complaint(response))
        answer = response.json()
        return _by_document(answer["items"]) if answer["errors"] else StoreAnswer()

    def close(self) -> None:
        self._server.close()


def _by_document(items: list[dict[str, Any]]) -> StoreAnswer:
    refused, retry, problem = [], [], ""
    for place, item in _failed(items):
        if item["status"] in WAITING or item["status"] >= 500:
            retry.append(place)
            problem = problem or f"documents are postponed: {item['status']} {_reason(item)}"
        else:
            refused.append((place, _reason(item)))
    return StoreAnswer(refused=refused, retry=retry, problem=problem)


def _failed(items: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, item in enumerate(items):
        (outcome,) = item.values()
        if outcome["status"] >= 300:
            yield place, outcome


def _reason(outcome: dict[str, Any]) -> str:
    error = outcome.get("error", {})
    cause = error.get("caused_by", {}).get("reason")
    words = (error.get("type"), error.get("reason"), cause)
    return ": ".join(str(word) for word in words if word) or f"status {outcome['status']}"
