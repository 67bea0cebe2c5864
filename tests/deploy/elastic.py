"""A panel's query as the search that Grafana makes of it, and the series in the answer."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Labels = dict[str, str]

TIME = "@timestamp"
PIPELINES = {"derivative"}


def search(target: Json, query: str, from_ms: int, to_ms: int) -> Json:
    within = {"gte": from_ms, "lte": to_ms, "format": "epoch_millis"}
    filters = [
        {"range": {TIME: within}},
        {"query_string": {"analyze_wildcard": True, "query": query}},
    ]
    asked: Json = {"size": 0, "query": {"bool": {"filter": filters}}}
    inner = asked
    for bucket in target["bucketAggs"]:
        is_terms = bucket["type"] == "terms"
        made = _terms(bucket, target) if is_terms else _histogram(bucket, from_ms, to_ms)
        inner.setdefault("aggs", {})[bucket["id"]] = made
        inner = made
    metrics = dict(_metric(metric) for metric in target["metrics"] if metric["type"] != "count")
    if metrics:
        inner.setdefault("aggs", {}).update(metrics)
    return asked


def _terms(bucket: Json, target: Json) -> Json:
    """Ordered by one of the query's metrics, which is then asked for at this level as well."""
    settings = bucket["settings"]
    order = {settings["orderBy"]: settings["order"]}
    size, least = int(settings["size"]), int(settings["min_doc_count"])
    by = [metric for metric in target["metrics"] if metric["id"] == settings["orderBy"]]
    return {
        "terms": {"field": bucket["field"], "size": size, "order": order, "min_doc_count": least},
        "aggs": dict(_metric(metric) for metric in by),
    }


def _histogram(bucket: Json, from_ms: int, to_ms: int) -> Json:
    settings = bucket["settings"]
    return {
        "date_histogram": {
            "field": bucket["field"],
            "fixed_interval": settings["interval"],
            "min_doc_count": int(settings["min_doc_count"]),
            "extended_bounds": {"min": from_ms, "max": to_ms},
            "format": "epoch_millis",
        }
    }


def _metric(metric: Json) -> tuple[str, Json]:
    where = "buckets_path" if metric["type"] in PIPELINES else "field"
    settings = metric.get("settings", {})
    return metric["id"], {metric["type"]: {where: metric["field"], **settings}}


def series(target: Json, answer: Json) -> Iterator[tuple[Labels, list[Any]]]:
    """The values of each metric shown, by the terms that they belong to."""
    shown = [metric for metric in target["metrics"] if not metric.get("hide")]
    for labels, buckets in _leaves(target["bucketAggs"], answer["aggregations"], {}):
        for metric in shown:
            values = [_value(metric, bucket) for bucket in buckets]
            yield labels, [value for value in values if value is not None]


def _leaves(levels: list[Json], found: Json, labels: Labels) -> Iterator[tuple[Labels, list[Json]]]:
    level, *deeper = levels
    buckets = found[level["id"]]["buckets"]
    if level["type"] == "date_histogram":
        yield labels, buckets
        return
    for bucket in buckets:
        further = {**labels, level["field"]: bucket["key"]}
        if deeper:
            yield from _leaves(deeper, bucket, further)
        else:
            yield further, [bucket]


def _value(metric: Json, bucket: Json) -> Any:
    if metric["type"] == "count":
        return bucket["doc_count"]
    found = bucket.get(metric["id"], {})
    return found.get("normalized_value", found.get("value"))
