"""A report as CSV and as JSON; `page` makes the HTML."""

import csv
import dataclasses
import io

import msgspec

from warren.history.report import Report
from warren.history.sections import SECTIONS, Section


def as_csv(report: Report, name: str) -> str:
    """One section: plain numbers, times in milliseconds since 1970, a line for each row."""
    (section,) = chosen((name,))
    text = io.StringIO()
    keys = [column.key for column in section.columns]
    writer = csv.DictWriter(text, keys, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(section.rows(report))
    return text.getvalue()


def as_json(report: Report, names: tuple[str, ...]) -> str:
    told = {section.name: section.rows(report) for section in chosen(names)}
    series = {
        "times_ms": report.times_ms,
        "lags": [dataclasses.asdict(each) for each in report.lags],
    }
    everything = {**report.period._asdict(), **told, "series": series}
    return msgspec.json.format(msgspec.json.encode(everything), indent=2).decode()


def chosen(names: tuple[str, ...]) -> list[Section]:
    """These sections, or, if none is named, all of them."""
    return [section for section in SECTIONS if not names or section.name in names]
