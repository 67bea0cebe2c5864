"""A report in its forms."""

import csv
import io
import json
import re
from html.parser import HTMLParser

from warren.history.report.columns import duration, share
from warren.history.report.formats import as_csv, as_json, as_page
from warren.history.report.summary import Report, Series
from warren.model.period import Period

HOSTILE = '</td><script src="https://example.com/x.js">alert("&")</script>'
SPREAD = {
    "ok": 0.5,
    "warn": 0.25,
    "err": 0.25,
    "err_seconds": 900,
    "lag_p50": 1,
    "lag_p95": 2,
    "lag_p99": 3,
    "lag_max": 4000,
}
REPORT = Report(
    Period(1_793_536_200_000, 1_793_539_800_000),
    [{"cluster": "local", "groups": 2, **SPREAD}],
    [{"cluster": "local", "group": HOSTILE, "status": "ERR", "lag": 7, **SPREAD}],
    [
        {
            "cluster": "local",
            "group": HOSTILE,
            "began_ms": 1_793_536_200_000,
            "ended_ms": None,
            "seconds": 3600,
            "status": "ERR",
            "lag_max": 4000,
        }
    ],
    [{"cluster": "local", "topic": HOSTILE, "partitions": 1, "messages": 5, "per_second": None}],
    [1_793_536_200_000, 1_793_538_000_000, 1_793_539_800_000],
    [Series(HOSTILE, [1, None, 4000])],
    {HOSTILE: [Series("OK", [1, 1, None]), Series("WARN", [0, 1, 0]), Series("ERR", [0, 0, 1])]},
)


class Seen(HTMLParser):
    """Which elements a browser would make, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.references: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else_and_takes_no_name_at_its_word() -> None:
    page = Seen()
    page.feed(as_page(REPORT, ()))

    assert "script" not in page.tags
    assert page.references == []
    assert page.text.count(HOSTILE) == 6  # two headings' and legends' names, and four tables' cells
    assert {"svg", "path", "table"} <= page.tags


def test_curves_are_broken_where_nothing_was_kept() -> None:
    paths = re.findall(r'<path d="([^"]*)" fill="none"', as_page(REPORT, ()))

    assert len(paths) == 1
    assert paths[0].count("M") == 2


def test_a_section_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(REPORT, "groups"))))

    assert [(row["group"], row["lag_max"], row["ok"]) for row in rows] == [(HOSTILE, "4000", "0.5")]


def test_all_or_some_sections_as_json() -> None:
    everything, some = json.loads(as_json(REPORT, ())), json.loads(as_json(REPORT, ("topics",)))

    assert everything["groups"][0]["group"] == HOSTILE
    assert everything["incidents"][0]["ended_ms"] is None
    assert "groups" not in some
    assert some["topics"] == REPORT.topics


def test_numbers_as_people_read_them() -> None:
    assert [duration(each) for each in (5, 65, 3_660, 90_000)] == [
        "5 s",
        "1 min 05 s",
        "1 h 01 min",
        "1 d 1 h",
    ]
    assert [share(each) for each in (0, 0.0001, 0.5, 0.9999, 1)] == [
        "0.0 %",
        "<0.1 %",
        "50.0 %",
        ">99.9 %",
        "100.0 %",
    ]
