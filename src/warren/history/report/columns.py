"""The tables of a report: their titles, and how each column is formatted."""

from collections.abc import Callable
from typing import Any, NamedTuple

from warren.history.report.summary import Rows
from warren.model import bounds

NOTHING = "-"


class Column(NamedTuple):
    key: str
    title: str
    shown: Callable[[Any], str] = str
    is_number: bool = True


class ReportSection(NamedTuple):
    name: str
    title: str
    columns: tuple[Column, ...]

    def rows(self, report: object) -> Rows:
        found: Rows = getattr(report, self.name)
        return found


def count(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def share(value: float) -> str:
    """A percentage; a small share never shows as 0 %, an almost full one never as 100 %."""
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    return f"{value * 100:.1f} %"


def rate(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"


def duration(seconds: int) -> str:
    minutes, left = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {left:02} s" if minutes else f"{left} s"


def instant(moment_ms: int | None) -> str:
    if moment_ms is None:
        return "still"
    return f"{bounds.moment(moment_ms):%Y-%m-%d %H:%M:%S}"


CLUSTER = Column("cluster", "cluster", is_number=False)
GROUP = Column("group", "group", is_number=False)
SPREAD = (
    Column("ok", "OK", share),
    Column("warn", "WARN", share),
    Column("err", "ERR", share),
    Column("err_seconds", "time in ERR", duration),
    Column("lag_p50", "lag p50", count),
    Column("lag_p95", "p95", count),
    Column("lag_p99", "p99", count),
    Column("lag_max", "max", count),
)

SECTIONS = (
    ReportSection("clusters", "Clusters", (CLUSTER, Column("groups", "groups", count), *SPREAD)),
    ReportSection(
        "groups",
        "Worst groups",
        (
            CLUSTER,
            GROUP,
            Column("status", "last", is_number=False),
            *SPREAD,
            Column("lag", "last lag", count),
        ),
    ),
    ReportSection(
        "incidents",
        "Longest incidents",
        (
            CLUSTER,
            GROUP,
            Column("status", "worst", is_number=False),
            Column("began_ms", "began (UTC)", instant, is_number=False),
            Column("ended_ms", "ended (UTC)", instant, is_number=False),
            Column("seconds", "lasted", duration),
            Column("lag_max", "max lag", count),
        ),
    ),
    ReportSection(
        "topics",
        "Busiest topics",
        (
            CLUSTER,
            Column("topic", "topic", is_number=False),
            Column("partitions", "partitions", count),
            Column("messages", "messages", count),
            Column("per_second", "a second", rate),
        ),
    ),
)
NAMES = tuple(section.name for section in SECTIONS)
