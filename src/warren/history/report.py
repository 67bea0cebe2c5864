"""What `warren report` tells: plain tables, ready to be shown in any form."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warren.history import queries
from warren.history.one_group import spread_out, step_of, times_of
from warren.history.period import Period
from warren.model import Status

STEPS = 120  # of the plots
DRAWN = 8  # groups whose lag is drawn

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Series:
    """Something over time, a value for each step; None where nothing was kept."""

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


def make(rows: DataFrame, period: Period, top: int) -> Report:
    """Ask Spark for everything; `top` lines of each table."""
    step_ms = step_of(period, STEPS)
    times = times_of(period, step_ms)
    with _held(queries.groups(rows)) as groups, _held(queries.moments(groups)) as moments:
        with _held(queries.spread(groups, moments)) as spread:
            worst = _groups(spread, top)
            clusters = _clusters(spread)
        incidents = _incidents(queries.incidents(groups, moments), top)
        topics = _topics(queries.topics(rows, moments), top)
        lags = _lags(groups, worst[:DRAWN], period.since_ms, step_ms, len(times))
        counts = queries.statuses(groups, period.since_ms, step_ms)
    statuses = _statuses(counts, len(times))
    return Report(period, clusters, worst, incidents, topics, times, lags, statuses)


@contextmanager
def _held(frame: DataFrame) -> Iterator[DataFrame]:
    """Several questions, read once."""
    columns = [name for name in frame.columns if name not in {"day", "topic", "owner", "client"}]
    held = frame.select(*columns).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield held
    finally:
        held.unpersist()


def _groups(spread: DataFrame, top: int) -> Rows:
    worst = (F.desc("err_ms"), F.desc("warn_ms"), F.desc("max_lag"), "cluster", "group")
    found = spread.where(F.col("group").isNotNull()).orderBy(*worst).limit(top)
    return [
        {"cluster": row["cluster"], "group": row["group"], "status": _status(row["last_status"])}
        | {"lag": row["last_lag"]}
        | _shares(row)
        for row in found.toArrow().to_pylist()
    ]


def _clusters(spread: DataFrame) -> Rows:
    named = F.count("group").alias("groups")
    counted = spread.groupBy("cluster").agg(named).toArrow().to_pylist()
    sizes = {row["cluster"]: row["groups"] for row in counted}
    together = spread.where(F.col("group").isNull()).orderBy("cluster")
    return [
        {"cluster": row["cluster"], "groups": sizes[row["cluster"]]} | _shares(row)
        for row in together.toArrow().to_pylist()
    ]


def _shares(row: dict[str, Any]) -> dict[str, Any]:
    """Parts of the time in each status, and the spread of the total lag."""
    watched = row["watched_ms"] or 1  # a single moment lasts no time that is known
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


def _incidents(incidents: DataFrame, top: int) -> Rows:
    longest = (F.desc("lasted_ms"), F.desc("max_lag"), "cluster", "group")
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
        for row in incidents.orderBy(*longest).limit(top).toArrow().to_pylist()
    ]


def _topics(topics: DataFrame, top: int) -> Rows:
    busiest = topics.orderBy(F.desc("messages"), "cluster", "topic").limit(top)
    found: Rows = busiest.toArrow().to_pylist()
    return found


def _lags(groups: DataFrame, worst: Rows, since_ms: int, step_ms: int, count: int) -> list[Series]:
    names = [(row["cluster"], row["group"]) for row in worst]
    drawn = F.struct("cluster", "group").isin([F.struct(F.lit(c), F.lit(g)) for c, g in names])
    table = queries.steps(groups.where(drawn), ["cluster", "group"], since_ms, step_ms)
    at = _by_step(table, ("cluster", "group"))
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
