"""Elasticsearch 7 to 9 and OpenSearch, by the bulk API they share."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from warren.config import ElasticsearchSink, Tls
from warren.errors import Undelivered
from warren.sinks.chunks import body
from warren.sinks.delivery import Answer
from warren.sinks.documents import entries
from warren.sinks.http import WAITING, Server, complaint
from warren.sinks.points import points
from warren.sinks.template import nested, template, template_name

TOO_LARGE = 413
ANSWERED = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by"
JSON, NDJSON = "application/json", "application/x-ndjson"
HINT = "; without the right to make templates, set manage-template = false and make it yourself"


class Elasticsearch:
    def __init__(self, settings: ElasticsearchSink, tls: Tls | None) -> None:
        self._index = settings.index
        self._manage_template = settings.manage_template
        key = settings.api_key.reveal()
        self._server = Server(settings, tls, {"Authorization": f"ApiKey {key}"} if key else {})

    def prepare(self) -> None:
        """Install the index template, in the older form where the newer is not known."""
        if not self._manage_template:
            return
        name = template_name(self._index)
        response = self._put(f"/_index_template/{name}", nested(self._index))
        if response.status_code in {400, 404, 405} and "no handler" in response.text:
            response = self._put(f"/_template/{name}", template(self._index))
        self._server.wait_unless(response, 200, hint=HINT)
        if not response.is_success:
            raise Undelivered(f"the index template is refused: {complaint(response)}{HINT}")

    def _put(self, path: str, content: dict[str, Any]) -> Any:
        text = json.dumps(content).encode()
        return self._server.ask("PUT", path, headers={"Content-Type": JSON}, content=text)

    def texts(self, history: DataFrame) -> DataFrame:
        return entries(points(history), self._index)

    def post(self, lines: pa.Array) -> Answer:
        response = self._server.post("/_bulk", body(lines), NDJSON, {"filter_path": ANSWERED})
        self._server.wait_unless(response, 200)
        if response.status_code == TOO_LARGE:
            return Answer(doubt="the request is too large", is_too_large=True)
        if not response.is_success:
            return Answer(doubt=complaint(response))
        answer = response.json()
        return _by_document(answer["items"]) if answer["errors"] else Answer()

    def close(self) -> None:
        self._server.close()


def _by_document(items: list[dict[str, Any]]) -> Answer:
    refused, again, problem = [], [], ""
    for place, item in _failed(items):
        if item["status"] in WAITING or item["status"] >= 500:
            again.append(place)
            problem = problem or f"documents are put off: {item['status']} {_reason(item)}"
        else:
            refused.append((place, _reason(item)))
    return Answer(refused=refused, again=again, problem=problem)


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
