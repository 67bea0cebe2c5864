"""The OpenAPI document, written from the operations, and a page made from it."""

import functools
from collections.abc import Iterator
from html import escape
from typing import Any

import msgspec

import warren
from warren.serve.http.answers import Answer, Request
from warren.serve.http.site import Site
from warren.serve.v4 import offsets, shapes
from warren.serve.v4.operations import OPERATIONS, Operation
from warren.serve.v4.parameters import Listening, Query

Schema = dict[str, Any]
COMPONENT = "#/components/schemas/{name}"
# Operations that may have no answer now.
UNAVAILABLE = {
    "/v4/history": "Spark is busy, or not up yet; retry.",
    "/v4/report": "Spark is busy, or not up yet; retry.",
    "/v4/scale": "The number is not known now: keep what there is, and retry.",
}


def document() -> Schema:
    answers = [operation.answer for operation in OPERATIONS]
    others = [offsets.OffsetReport, offsets.OffsetsKept, offsets.OffsetsRefused, shapes.Problem]
    refs, components = msgspec.json.schema_components([*answers, *others], ref_template=COMPONENT)
    paths = {
        operation.path: {"get": _operation(operation, ref, refs[-1])}
        for operation, ref in zip(OPERATIONS, refs, strict=False)
    }
    paths |= _scale_by_path(paths["/v4/scale"]["get"])
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
            offsets.PATH: {"post": _report(*refs[-len(others) :])},
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
            **(
                {"503": _response(UNAVAILABLE[operation.path], problem)}
                if operation.path in UNAVAILABLE
                else {}
            ),
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
    """A parameter is left out rather than null: a query string has no null."""
    if "anyOf" in schema:
        (of_values,) = [each for each in schema["anyOf"] if each != {"type": "null"}]
        schema = {name: value for name, value in schema.items() if name != "anyOf"} | of_values
    if "enum" in schema:
        schema["enum"] = [each for each in schema["enum"] if each is not None]
    return {key: value for key, value in schema.items() if value is not None or key != "default"}


def _scale_by_path(by_query: Schema) -> Schema:
    name = {"type": "string", "pattern": "^[^/]+$"}
    parameters = [
        {**each, "in": "path", "schema": name, "description": f"{each['description']} No slash."}
        for each in by_query["parameters"]
    ]
    responses = {code: each for code, each in by_query["responses"].items() if code != "400"}
    changed = {"operationId": "scale_by_path", "parameters": parameters, "responses": responses}
    return {"/v4/scale/{cluster}/{group}": {"get": by_query | changed}}


def _response(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _health() -> Schema:
    return {
        "summary": "The health of Warren: its consumers, what they have read, what is wrong.",
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
            "429": {"description": "Too many listeners already."},
        },
    }


def _report(report: Schema, kept: Schema, refused: Schema, problem: Schema) -> Schema:
    bodies = [report, {"type": "array", "items": report, "minItems": 1}]
    return {
        "summary": "Report offsets that a program keeps itself: one group, or a list.",
        "operationId": "offsets",
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"anyOf": bodies}}},
        },
        "responses": {
            "200": _response("All are kept; a report that came before changes nothing.", kept),
            "400": _response(
                "Some were refused, and the others are kept; or the body cannot be read.",
                {"anyOf": [refused, problem]},
            ),
            "401": _response("A token is needed.", {"type": "object"}),
            "403": _response("The token has not this right.", {"type": "object"}),
            "404": _response("No consumer here takes reports.", problem),
            "413": {"description": "The body is larger than 1 MiB."},
            "503": _response("Too many reports wait; retry.", problem),
        },
    }


STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;
color-scheme:light dark}
h2{margin-top:2.5rem;border-top:1px solid #8886;padding-top:1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0}
td,th{border-bottom:1px solid #8883}
"""
HEAD = f"""<!doctype html><html lang=en><meta charset=utf-8><title>Warren's API</title>
<meta name=viewport content='width=device-width'><style>{STYLE}</style>"""
ABOUT = """<p>Every answer says which moment and which positions in the offsets topics it is valid
for. The same as an OpenAPI document: <a href='/v4/openapi.json'>openapi.json</a>. Burrow's own
API is below <code>/v3</code>. <code>/v4/silences</code> is described in docs/policies.md.</p>"""


def page(document: dict[str, Any]) -> str:
    parts = [HEAD, f"<h1>Warren {escape(document['info']['version'])}</h1>", ABOUT]
    parts += [
        _operation_html(path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]
    parts.append("<h1>Shapes</h1>")
    schemas = document["components"]["schemas"]
    parts += [_shape(name, schema) for name, schema in sorted(schemas.items())]
    return "\n".join(parts) + "\n</html>\n"


def _operation_html(path: str, method: str, operation: dict[str, Any]) -> str:
    answers = operation["responses"]["200"].get("content", {})
    shapes = [_type(content["schema"]) for content in answers.values()]
    rows = [
        f"<tr><td><code>{escape(each['name'])}</code>{'' if each['required'] else ' (optional)'}"
        f"<td>{_type(each['schema'])}<td>{escape(each['description'])}"
        for each in operation.get("parameters", [])
    ]
    table = f"<table><tr><th>parameter<th>type<th>meaning{''.join(rows)}</table>" if rows else ""
    return (
        f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(operation['summary'])}</p>"
        f"{table}{_body_html(operation)}<p>Answers {' or '.join(shapes)}.</p>"
    )


def _body_html(operation: dict[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).values()
    return "".join(f"<p>Takes {_type(content['schema'])}.</p>" for content in body)


def _shape(name: str, schema: dict[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(key)}</code><td>{_type(each)}"
        f"<td>{escape(each.get('description', ''))}"
        for key, each in schema.get("properties", {}).items()
    ]
    table = f"<table><tr><th>key<th>type<th>meaning{''.join(rows)}</table>"
    return f"<h2 id='{escape(name)}'>{escape(name)}</h2>{table}"


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"$ref": ref}:
            name = escape(ref.rpartition("/")[2])
            text = f"<a href='#{name}'>{name}</a>"
        case {"anyOf": options}:
            text = " or ".join(_type(option) for option in options)
        case {"enum": values}:
            text = escape(", ".join("null" if each is None else str(each) for each in values))
        case {"type": "array", "items": items}:
            text = f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            text = f"table of {_type(values)}"
        case _:
            text = escape(str(schema.get("type", "anything")))
    return text


# The page loads nothing from elsewhere and runs no script.
POLICY = ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")


@functools.cache
def _document() -> bytes:
    return msgspec.json.encode(document())


@functools.cache
def _page() -> bytes:
    return page(document()).encode()


def openapi(site: Site, _request: Request) -> Answer:
    return Answer(200, [("content-type", "application/json"), *site.cors], _document())


def docs(_site: Site, _request: Request) -> Answer:
    return Answer(200, [("content-type", "text/html; charset=utf-8"), POLICY], _page())
