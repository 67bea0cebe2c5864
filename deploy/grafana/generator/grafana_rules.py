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
from generator.alerts import GROUP, GROUPS, GROWTH, WARREN, Alert
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


def for_prometheus() -> Rules:
    return _file(
        "prometheus",
        {alert: Threshold(now(alert.expr, ""), "", "gt", [-1]) for alert in (*GROUPS, *WARREN)},
        GROUP,
    )


def for_influxdb() -> Rules:
    def asked(what: str, *every: str) -> influxql.InfluxQuery:
        by = (*every, *influxql.GROUP_TAGS)
        fill = "none" if every else ""
        return influxql.InfluxQuery(
            influxql.select(what, '"burrow_group"', "$timeFilter", *by, fill=fill)
        )

    status = asked('last("status_code")', influxql.MINUTE)
    growth = asked('last("total_lag") - first("total_lag")')
    return _file(
        "influxdb", _groups(status, growth, "last"), "{{ .Labels.group }} in {{ .Labels.cluster }}"
    )


def for_elasticsearch() -> Rules:
    groups = "measurement_name:burrow_group"
    status = ask.over_time(groups, largest("burrow_group.status_code"), GROUP_TAGS, "")
    status = ask.for_all(status, GROUP_TAGS)
    growth = ask.growth(groups, "burrow_group.total_lag", GROUP_TAGS, STEP, ask.ALL)
    error, warning, growing = GROUPS
    found = _groups(status, growth, "sum")
    seconds = {error: FEW_MINUTES, warning: FEW_MINUTES, growing: IN_STEPS}
    return _file(
        "elasticsearch",
        {alert: replace(each, seconds=seconds[alert]) for alert, each in found.items()},
        '{{ index .Labels "tag.group" }} in {{ index .Labels "tag.cluster" }}',
    )


def _groups(status: Dataquery, growth: Dataquery, reducer: str) -> dict[Alert, Threshold]:
    """Telegraf's numbers: 3 is WARN, 4 is ERR."""
    error, warning, growing = GROUPS
    return {
        error: Threshold(status, "last", "gt", [3.5]),
        warning: Threshold(status, "last", "within_range", [2.5, 3.5]),
        growing: Threshold(growth, reducer, "gt", [GROWTH]),
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
