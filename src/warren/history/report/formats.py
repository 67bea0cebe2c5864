"""A report as CSV, as JSON, and as one HTML page that needs nothing else."""

import csv
import html
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from warren.history.report import svg
from warren.history.report.columns import SECTIONS, ReportSection, instant
from warren.history.report.summary import Report, Series
from warren.model.period import Period


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
    return msgspec.json.format(msgspec.json.encode(as_tables(report, names)), indent=2).decode()


def as_tables(report: Report, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """What is JSON in the terminal and in `/v4/report`."""
    tables = {section.name: section.rows(report) for section in chosen(names)}
    series = {"times_ms": report.times_ms, "lags": report.lags, "statuses": report.statuses}
    return {**report.period._asdict(), **tables, "series": series}


def from_tables(answer: dict[str, Any]) -> Report:
    """The report that `as_tables` has written, as another Warren answers it."""
    series = answer["series"]
    return Report(
        Period(answer["since_ms"], answer["until_ms"]),
        **{section.name: answer[section.name] for section in SECTIONS},
        times_ms=series["times_ms"],
        lags=[Series(**each) for each in series["lags"]],
        statuses={
            cluster: [Series(**each) for each in found]
            for cluster, found in series["statuses"].items()
        },
    )


def chosen(names: tuple[str, ...]) -> list[ReportSection]:
    """These sections, or, if none is named, all of them."""
    return [section for section in SECTIONS if not names or section.name in names]


STYLE = """
:root{color-scheme:light dark;--ink:#1c2026;--quiet:#667;--line:#dde1e7;--paper:#fff;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ec;--quiet:#9aa3b0;--line:#333a44;--paper:#15181d;
--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1100px;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{color:var(--quiet)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
td.name{white-space:normal;overflow-wrap:anywhere}
.number{text-align:right;font-variant-numeric:tabular-nums}th{color:var(--quiet);font-weight:600}
.ERR{color:var(--bad);font-weight:600}.WARN{font-weight:600}
svg{width:100%;height:auto}svg line{stroke:var(--line)}svg text{fill:var(--quiet);font-size:11px}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.9rem}
.legend li{overflow-wrap:anywhere}
.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}
"""
# No browser may act on what a name in the page says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_page(report: Report, names: tuple[str, ...]) -> str:
    since, until = (instant(moment) for moment in report.period)
    return whole_page(
        f"Kafka consumer groups, {since}",
        f"<h1>Kafka consumer groups</h1><p>From {since} until {until} UTC, as Warren saw them.</p>"
        f"{''.join(_plots(report))}"
        f"{''.join(section_as_html(section, report) for section in chosen(names))}",
    )


def whole_page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def _plots(report: Report) -> Iterator[str]:
    for cluster, series in report.statuses.items():
        title = f"Groups of {cluster} by status"
        yield f"<h2>{html.escape(title)}</h2>{svg.areas(report.times_ms, series, title)}"
    if report.lags:
        title = "Total lag of the worst groups"
        yield f"<h2>{title}</h2>{svg.curves(report.times_ms, report.lags, title)}"


def section_as_html(section: ReportSection, report: object) -> str:
    rows = section.rows(report)
    if not rows:
        return f"<h2>{section.title}</h2><p>None.</p>"
    head = "".join(
        f'<th scope="col" class="{_class(column.is_number)}">{html.escape(column.title)}</th>'
        for column in section.columns
    )
    lines = "".join(f"<tr>{_cells(section, row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<h2>{section.title}</h2><div class="wide">{table}</div>'


def _cells(section: ReportSection, row: dict[str, object]) -> str:
    cells = []
    for column in section.columns:
        text = html.escape(column.shown(row[column.key]))
        kind = text if column.key == "status" else _class(column.is_number)
        cells.append(f'<td class="{kind}">{text}</td>')
    return "".join(cells)


def _class(is_number: bool) -> str:  # noqa: FBT001  it is all there is
    return "number" if is_number else "name"
