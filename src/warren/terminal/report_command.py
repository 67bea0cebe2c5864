"""`warren report`: history in numbers, as a table, CSV, JSON or a page."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.table import Table

from warren.history.report.columns import ReportSection, instant
from warren.history.report.formats import as_csv, as_json, as_page, chosen
from warren.history.report.summary import Report
from warren.terminal.past_source import PastSource
from warren.terminal.words import COLOURS, name

WIDE = 10_000  # what is not a terminal gets everything


def report(
    past: Callable[[], PastSource], group: str, form: str, sections: tuple[str, ...], top: int
) -> None:
    source = past()
    with working():
        found = source.report(group, top)
    if form == "table":
        _print(found, sections)
    elif form == "csv":
        sys.stdout.write(as_csv(found, sections[0] if sections else "groups"))
    else:
        sys.stdout.write((as_json if form == "json" else as_page)(found, sections))


@contextmanager
def working() -> Iterator[None]:
    """Show a spinner on a terminal; print nothing elsewhere."""
    console = Console(stderr=True)
    spinner = console.status("Reading history …")
    with spinner if console.is_terminal else nullcontext():
        yield


def plain_console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)


def _print(report: Report, sections: tuple[str, ...]) -> None:
    console = plain_console()
    since, until = (instant(moment) for moment in report.period)
    console.print(f"Consumer groups from {since} until {until} UTC", highlight=False)
    for section in chosen(sections):
        rows = section.rows(report)
        console.print(as_table(section, report) if rows else f"{section.title}: none")


def as_table(section: ReportSection, report: object) -> Table:
    table = Table(title=section.title, title_justify="left", title_style="bold")
    for column in section.columns:
        # Names are what one copies: they are folded, never cut.
        if column.is_number:
            table.add_column(column.title, justify="right", no_wrap=True)
        else:
            table.add_column(column.title, overflow="fold")
    for row in section.rows(report):
        cells = [name(column.shown(row[column.key])) for column in section.columns]
        table.add_row(*cells, style=_style(row.get("status", "OK")))
    return table


def _style(status: str) -> str:
    return "" if status == "OK" else COLOURS[status]
