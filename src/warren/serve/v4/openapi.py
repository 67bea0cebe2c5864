"""The OpenAPI document, written from the operations."""

from collections.abc import Iterator
from typing import Any

import msgspec

import warren
from warren.serve.v4 import shapes
from warren.serve.v4.operations import OPERATIONS, Operation
from warren.serve.v4.queries import Listening, Query

Schema = dict[str, Any]
COMPONENT = "#/components/schemas/{name}"
BUSY = "Spark is busy, or not up yet; ask again."


def document() -> Schema:
    answers = [operation.answer for operation in OPERATIONS]
    refs, components = msgspec.json.schema_components(
        [*answers, shapes.Problem], ref_template=COMPONENT
    )
    paths = {
        operation.path: {"get": _operation(operation, ref, refs[-1])}
        for operation, ref in zip(OPERATIONS, refs[:-1], strict=True)
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Warren",
            "version": warren.__version__,
            "description": "Consumer groups of Kafka and what state they are in.",
        },
        "paths": paths
        | {
            "/v4/health": {"get": _health()},
            "/v4/config": {"get": _config()},
            "/v4/events": {"get": _events(refs[-1])},
        },
        "components": {"schemas": components},
    }


def _operation(operation: Operation, answer: Schema, problem: Schema) -> Schema:
    good: Schema = {"application/json": {"schema": answer}}
    if operation.path == "/v4/groups":
        good["application/x-ndjson"] = {"schema": {"type": "string"}}
    return {
        "summary": operation.summary,
        "operationId": operation.path.rpartition("/")[2],
        "parameters": list(_parameters(operation.query)),
        "responses": {
            "200": {"description": "The answer.", "content": good},
            "400": _response("A parameter is wrong.", problem),
            "404": _response("There is no such thing.", problem),
            **({"503": _response(BUSY, problem)} if operation.path == "/v4/history" else {}),
        },
    }


def _parameters(query: type[Query]) -> Iterator[Schema]:
    schema = msgspec.json.schema(query)["$defs"][query.__name__]
    for name, described in schema["properties"].items():
        about = described.pop("description", "")
        yield {
            "name": name,
            "in": "query",
            "description": about,
            "required": name in schema["required"],
            "schema": _without_null(described),
        }


def _without_null(schema: Schema) -> Schema:
    """A parameter that is not given is not there; null is no text."""
    if "enum" in schema:
        schema["enum"] = [each for each in schema["enum"] if each is not None]
    return {key: value for key, value in schema.items() if value is not None or key != "default"}


def _response(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _health() -> Schema:
    return {
        "summary": "Warren about itself: its consumers, what they have read, what is wrong.",
        "operationId": "health",
        "responses": {"200": _response("The answer.", {"type": "object"})},
    }


def _config() -> Schema:
    return {
        "summary": "Every setting in effect by section and key, as TOML writes it, secrets masked.",
        "operationId": "config",
        "responses": {
            "200": _response("The answer.", {"type": "object"})
            | {"headers": {"x-warren-board": {"schema": {"type": "string"}}}}
        },
    }


def _events(problem: Schema) -> Schema:
    return {
        "summary": "Status changes as they happen, as server-sent events named `status`.",
        "operationId": "events",
        "parameters": list(_parameters(Listening)),
        "responses": {
            "200": {
                "description": "A stream without end.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            "400": _response("A parameter is wrong.", problem),
            "429": {"description": "Too many listen already."},
        },
    }
