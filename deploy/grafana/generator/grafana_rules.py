"""The alerts as Grafana provisions them, for each store.

A is a query and C a threshold. PromQL finds what is wrong by itself, so there any value will do;
to the other stores B is between them, which makes one number of each series.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery

from generator import elastic_query as ask
from generator import influxql
from generator.alerts import DAY_S, GROUP, GROUPS, GROWTH, OLD_S, SOON_S, WARREN, Alert
from generator.elasticsearch import GROUP_TAGS, largest
from generator.prometheus import now

EXPRESSIONS = "__expr__"  # the uid of Grafana's own arithmetic
SECONDS = 900  # how far back a query looks
FEW_MINUTES = 300  # ten thousand groups, minute by minute, are as many buckets as are allowed
IN_STEPS, STEP = 1200, "5m"  # the same for growth

Rules = Mapping[str, Any]


@dataclass(frozen=True)
class Threshold:
    query: Dataquery
    reducer: str  # none: each series is one number already
    kind: str
    limits: Sequence[float]
    seconds: int = SECONDS


@dataclass(frozen=True)
class Queries:
    """What the rules about groups ask a store for: a series for each group."""

    status: Dataquery
    growth: Dataquery  # of the lag
    age: Dataquery  # at least
    endless: Dataquery  # 1: what waits will never have been read
    margin: Dataquery  # of those only that retention reaches before they have read
    lost: Dataquery  # in the last minutes
    expiry: Dataquery  # of offsets, where it will come


def for_prometheus() -> Rules:
    return _file(
        "prometheus",
        {alert: Threshold(now(alert.expr, ""), "", "gt", [-1]) for alert in (*GROUPS, *WARREN)},
        GROUP,
    )


def for_influxdb() -> Rules:
    def asked(what: str, *every: str, where: str = "") -> influxql.InfluxQuery:
        by = (*every, *influxql.GROUP_TAGS)
        fill = "none" if every else ""
        within = f"$timeFilter AND {where}" if where else "$timeFilter"
        return influxql.InfluxQuery(influxql.select(what, '"burrow_group"', within, *by, fill=fill))

    queries = Queries(
        status=asked('last("status_code")', influxql.MINUTE),
        growth=asked('last("total_lag") - first("total_lag")'),
        age=asked('last("age_low_s")', influxql.MINUTE),
        endless=asked('last("never_drains")', influxql.MINUTE),
        margin=asked('last("margin_s")', influxql.MINUTE, where='"will_lose" = 1'),
        lost=asked('last("lost") - first("lost")'),
        expiry=asked('last("expires_s")', influxql.MINUTE),
    )
    return _file(
        "influxdb", _groups(queries, "last"), "{{ .Labels.group }} in {{ .Labels.cluster }}"
    )


def for_elasticsearch() -> Rules:
    groups = "measurement_name:burrow_group"

    def newest(field: str, where: str = groups) -> Dataquery:
        asked = ask.over_time(where, largest(f"burrow_group.{field}"), GROUP_TAGS, "")
        return ask.for_all(asked, GROUP_TAGS)

    def grown(field: str) -> Dataquery:
        return ask.growth(groups, f"burrow_group.{field}", GROUP_TAGS, STEP, ask.ALL)

    queries = Queries(
        status=newest("status_code"),
        growth=grown("total_lag"),
        age=newest("age_low_s"),
        endless=newest("never_drains"),
        margin=newest("margin_s", f"{groups} AND burrow_group.will_lose:1"),
        lost=grown("lost"),
        expiry=newest("expires_s", f"{groups} AND _exists_:burrow_group.expires_s"),
    )
    in_steps = (queries.growth, queries.lost)
    return _file(
        "elasticsearch",
        {
            alert: replace(each, seconds=IN_STEPS if each.query in in_steps else FEW_MINUTES)
            for alert, each in _groups(queries, "sum").items()
        },
        '{{ index .Labels "tag.group" }} in {{ index .Labels "tag.cluster" }}',
    )


def _groups(queries: Queries, growth_by: str) -> dict[Alert, Threshold]:
    """Telegraf's numbers: 3 is WARN, 4 is ERR."""
    error, warning, growing, late, endless, losing, lost, expiring = GROUPS
    return {
        error: Threshold(queries.status, "last", "gt", [3.5]),
        warning: Threshold(queries.status, "last", "within_range", [2.5, 3.5]),
        growing: Threshold(queries.growth, growth_by, "gt", [GROWTH]),
        late: Threshold(queries.age, "last", "gt", [OLD_S]),
        endless: Threshold(queries.endless, "last", "gt", [0.5]),
        losing: Threshold(queries.margin, "last", "within_range", [-1, SOON_S]),
        lost: Threshold(queries.lost, growth_by, "gt", [0]),
        expiring: Threshold(queries.expiry, "last", "within_range", [-1, DAY_S]),
    }


def _file(store: str, alerts: Mapping[Alert, Threshold], group: str) -> Rules:
    rules = [_rule(store, alert, threshold, group) for alert, threshold in alerts.items()]
    named = {"orgId": 1, "name": f"Warren on {store}", "folder": "Warren", "interval": "1m"}
    return {"apiVersion": 1, "groups": [{**named, "rules": rules}]}


def _rule(store: str, alert: Alert, threshold: Threshold, group: str) -> dict[str, Any]:
    return {
        "uid": f"warren-{store}-{alert.name.lower()}"[:40],  # no longer one is allowed
        "title": f"{alert.name} ({store})",
        "condition": "C",
        "data": [*_data(store, threshold)],
        "for": alert.lasting,
        "noDataState": "OK",  # nothing found is nothing wrong
        "execErrState": "Error",
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary.replace(GROUP, group),
            "description": alert.description,
        },
    }


def _data(store: str, threshold: Threshold) -> list[dict[str, Any]]:
    asked = {**plain(threshold.query), "intervalMs": 60_000, "maxDataPoints": 1000}
    seconds = threshold.seconds
    steps = [_step("A", f"warren-{store}", asked, seconds)]
    if threshold.reducer:
        reducing = {"type": "reduce", "reducer": threshold.reducer}
        steps.append(_arithmetic("B", reducing, "A", seconds))
    condition = {"evaluator": {"type": threshold.kind, "params": [*threshold.limits]}}
    over = steps[-1]["refId"]
    comparing = {"type": "threshold", "conditions": [condition]}
    steps.append(_arithmetic("C", comparing, over, seconds))
    return steps


def _arithmetic(name: str, model: Mapping[str, Any], over: str, seconds: int) -> dict[str, Any]:
    datasource = {"type": EXPRESSIONS, "uid": EXPRESSIONS}
    computed = {**model, "expression": over, "datasource": datasource}
    return _step(name, EXPRESSIONS, computed, seconds)


def _step(name: str, datasource: str, model: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    return {
        "refId": name,
        "datasourceUid": datasource,
        "relativeTimeRange": {"from": seconds, "to": 0},
        "model": {**model, "refId": name},
    }


def plain(query: Dataquery) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(query, cls=JSONEncoder))
    return found
