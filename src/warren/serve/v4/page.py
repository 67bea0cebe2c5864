"""The API's documentation as a page, written from the OpenAPI document; it needs nothing else."""

from html import escape
from typing import Any

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
for. The same as a document for machines: <a href='/v4/openapi.json'>openapi.json</a>. Burrow's own
API is below <code>/v3</code>.</p>"""


def page(document: dict[str, Any]) -> str:
    parts = [HEAD, f"<h1>Warren {escape(document['info']['version'])}</h1>", ABOUT]
    parts += [_operation(path, item["get"]) for path, item in document["paths"].items()]
    parts.append("<h1>Shapes</h1>")
    schemas = document["components"]["schemas"]
    parts += [_shape(name, schema) for name, schema in sorted(schemas.items())]
    return "\n".join(parts) + "\n</html>\n"


def _operation(path: str, operation: dict[str, Any]) -> str:
    answers = operation["responses"]["200"].get("content", {})
    shapes = [_type(content["schema"]) for content in answers.values()]
    rows = [
        f"<tr><td><code>{escape(each['name'])}</code>{'' if each['required'] else ' (optional)'}"
        f"<td>{_type(each['schema'])}<td>{escape(each['description'])}"
        for each in operation.get("parameters", [])
    ]
    table = f"<table><tr><th>parameter<th>type<th>meaning{''.join(rows)}</table>" if rows else ""
    return (
        f"<h2><code>GET {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
        f"{table}<p>Answers {' or '.join(shapes)}.</p>"
    )


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
