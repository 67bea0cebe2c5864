"""The contents of `warren report`: plain tables, ready for any format."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from warren.history.group_history import spread_out, step_of, times_of
from warren.history.memory_queries import Kept
from warren.model.period import Period
from warren.model.status import Status

STEPS = 120  # of the plots
DRAWN = 8  # groups whose lag is drawn

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Series:
    """A value for each step of time; None where nothing was recorded."""

    name: str
    values: list[int | None]


@dataclass(frozen=True)
class Report:
    period: Period
    clusters: Rows
    groups: Rows  # the worst first
    incidents: Rows  # the longest first
    topics: Rows  # the busiest first
    times_ms: list[int]  # of the series
    lags: list[Series]  # of the worst groups
    statuses: dict[str, list[Series]]  # by cluster: how many groups were in each


def make(kept: Kept, period: Period, top: int) -> Report:
    """Run all queries; at most `top` lines in each table."""
    step_ms = step_of(period, STEPS)
    times = times_of(period, step_ms)
    spread = kept.spread().to_pylist()
    worst = _groups(spread, top)
    return Report(
        period,
        _clusters(spread),
        worst,
        _incidents(kept.incidents(), top),
        _topics(kept.topics(), top),
        times,
        _lags(kept, worst[:DRAWN], period.since_ms, step_ms, len(times)),
        _statuses(kept.statuses(period.since_ms, step_ms), len(times)),
    )


def _groups(spread: Rows, top: int) -> Rows:
    groups = [row for row in spread if row["group"] is not None]
    groups.sort(key=_trouble)
    return [
        {"cluster": row["cluster"], "group": row["group"], "status": _status(row["last_status"])}
        | {"lag": row["last_lag"]}
        | _shares(row)
        for row in groups[:top]
    ]


def _trouble(row: dict[str, Any]) -> tuple[Any, ...]:
    """The sort key that puts the worst groups first."""
    return -row["err_ms"], -row["warn_ms"], -row["max_lag"], row["cluster"], row["group"]


def _clusters(spread: Rows) -> Rows:
    sizes = Counter(row["cluster"] for row in spread if row["group"] is not None)
    together = (row for row in spread if row["group"] is None)
    return [
        {"cluster": row["cluster"], "groups": sizes[row["cluster"]]} | _shares(row)
        for row in sorted(together, key=lambda row: str(row["cluster"]))
    ]


def _shares(row: dict[str, Any]) -> dict[str, Any]:
    """The share of time in each status, and percentiles of the total lag."""
    watched = row["watched_ms"] or 1  # the length of a single moment is unknown
    middle, high, highest = row["lags"]
    return {
        "ok": row["ok_ms"] / watched,
        "warn": row["warn_ms"] / watched,
        "err": row["err_ms"] / watched,
        "err_seconds": row["err_ms"] // 1000,
        "lag_p50": middle,
        "lag_p95": high,
        "lag_p99": highest,
        "lag_max": row["max_lag"],
    }


def _incidents(incidents: pa.Table, top: int) -> Rows:
    order = [("lasted_ms", "descending"), ("max_lag", "descending")]
    longest = incidents.sort_by([*order, ("cluster", "ascending"), ("group", "ascending")])
    return [
        {
            "cluster": row["cluster"],
            "group": row["group"],
            "began_ms": row["began_ms"],
            "ended_ms": row["ended_ms"],
            "seconds": row["lasted_ms"] // 1000,
            "status": _status(row["status"]),
            "lag_max": row["max_lag"],
        }
        for row in longest[:top].to_pylist()
    ]


def _topics(topics: pa.Table, top: int) -> Rows:
    order = [("messages", "descending"), ("cluster", "ascending"), ("topic", "ascending")]
    busiest: Rows = topics.sort_by(order)[:top].to_pylist()
    return busiest


def _lags(kept: Kept, worst: Rows, since_ms: int, step_ms: int, count: int) -> list[Series]:
    names = [(row["cluster"], row["group"]) for row in worst]
    at = _by_step(kept.steps(since_ms, step_ms, names), ("cluster", "group")) if names else {}
    return [
        Series(group, [row.get("lag") for row in spread_out(at[cluster, group], count)])
        for cluster, group in names
    ]


def _statuses(counts: pa.Table, steps: int) -> dict[str, list[Series]]:
    return {
        cluster: [
            Series(name.upper(), [row.get(name) for row in spread_out(found, steps)])
            for name in ("ok", "warn", "err")
        ]
        for (cluster,), found in _by_step(counts, ("cluster",)).items()
    }


def _by_step(table: pa.Table, by: tuple[str, ...]) -> dict[tuple[str, ...], dict[int, Any]]:
    found: dict[tuple[str, ...], dict[int, Any]] = {}
    for row in table.to_pylist():
        found.setdefault(tuple(row[name] for name in by), {})[row["step"]] = row
    return found


def _status(number: int) -> str:
    return Status(number).name
