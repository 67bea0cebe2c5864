"""The recorded points of Telegraf, and lines of the protocol taken apart."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = json.loads((Path(__file__).parents[1] / "compat/telegraf.json").read_text())
# Telegraf asked for these under names that Burrow did not find; they are found now.
UNFOUND = {'sp ace & <html>/quote"', "many topics", "유니코드"}


class Line(NamedTuple):
    measurement: str
    tags: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str], ...]
    ns: int


def parsed(line: str) -> Line:
    series, fields, ns = re.split(r"(?<!\\) ", line.rstrip("\n"))
    name, *tags = re.split(r"(?<!\\),", series)
    return Line(name, _pairs(tags), _pairs(fields.split(",")), int(ns))


def _pairs(texts: list[str]) -> tuple[tuple[str, str], ...]:
    plain = (re.sub(r"\\([ ,=])", r"\1", text) for text in texts)
    return tuple(sorted((name, value) for name, _, value in (t.partition("=") for t in plain)))


def recorded_lines() -> list[Line]:
    return sorted(parsed(line) for line in RECORDED["influx"])


def recorded_documents() -> list[str]:
    """Without the time, which is that of another round of Telegraf's than the lines are of."""
    return in_order([each["_source"] for each in RECORDED["elasticsearch"]["documents"]])


def in_order(documents: list[dict[str, Any]]) -> list[str]:
    return sorted(
        json.dumps(
            {key: value for key, value in document.items() if key != "@timestamp"}, sort_keys=True
        )
        for document in documents
    )
