"""The queries of the dashboards, as Grafana would send them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generator.made import DASHBOARDS

Json = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """One query of one panel."""

    dashboard: str
    panel: str
    query: Json
    columns: Mapping[str, str]  # of tables: the store's name, the name shown

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel}: {self.query['refId']}"


def dashboards(source: str) -> dict[str, Json]:
    files = sorted(DASHBOARDS.glob(f"warren-{source}-*.json"))
    assert files
    return {file.stem: json.loads(file.read_text()) for file in files}


def targets(source: str) -> Iterator[Target]:
    for name, dashboard in dashboards(source).items():
        for panel in dashboard["panels"]:
            for query in panel["targets"]:
                yield Target(name, panel["title"], query, _columns(panel))


def _columns(panel: Json) -> dict[str, str]:
    for each in panel.get("transformations", []):
        if each["id"] == "organize":
            return dict(each["options"]["renameByName"])
    return {}


def variables(source: str) -> Iterator[tuple[str, str, str]]:
    """Dashboard, variable, and the query for its values."""
    for name, dashboard in dashboards(source).items():
        for each in dashboard["templating"]["list"]:
            if each["type"] == "query":
                yield name, each["name"], each["query"]


def filled(text: str, values: Mapping[str, str]) -> str:
    """With variables replaced, longest names first; what is left over is a mistake."""
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(f"${name}", values[name])
    left = re.findall(r"\$(?!tag_|/)\w+", text)
    assert left == [], text
    return text
