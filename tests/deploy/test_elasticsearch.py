"""Every query of the dashboards for Elasticsearch finds documents, in a real OpenSearch."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml
from deploy.dashboards import Target, filled, targets, variables
from deploy.elastic import Json, Labels, search, series
from deploy.story import CLUSTER
from deploy.thresholds import exceeds
from generator.made import OTHER_ALERTING

RANGE_S = 3600
# As Grafana writes a choice of several; and of all, which is given as it is.
CHOSEN = {
    "one of each": {"cluster": CLUSTER, "group": "billing", "topic": '("orders" OR "bills")'},
    "several": {
        "cluster": f'("{CLUSTER}")',
        "group": r'("billing" OR "with.dots" OR "falls\ behind")',
        "topic": '("orders" OR "bills")',
    },
    "all": {"cluster": "*", "group": "*", "topic": "*"},
}
Answer = list[tuple[Labels, list[Any]]]


def ask(url: str, query: Json, values: dict[str, str], seconds: int = RANGE_S) -> Answer:
    to_ms = int(time.time() * 1000)
    asked = search(query, filled(query["query"], values), to_ms - seconds * 1000, to_ms)
    answer = httpx.post(f"{url}/telegraf-*/_search", json=asked, timeout=30)
    assert answer.status_code == 200, (answer.text, asked)
    return [*series(query, answer.json())]


def wanted_labels(target: Target) -> set[str]:
    """The terms that the legend or the table shows."""
    legend = re.findall(r"{{term (.+?)}}", target.query.get("alias", ""))
    return {*legend, *(name for name in target.columns if name.startswith("tag."))}


def is_answered(url: str, target: Target, values: dict[str, str]) -> bool:
    found = ask(url, target.query, values)
    has_labels = all(labels.keys() >= wanted_labels(target) for labels, _ in found)
    return has_labels and any(values for _, values in found)


@pytest.mark.parametrize("choice", CHOSEN)
def test_every_query_finds_documents_with_what_the_legend_shows(
    store_of_documents: str, choice: str
) -> None:
    asked = list(targets("elasticsearch"))
    if choice != "one of each":
        asked = [each for each in asked if not each.dashboard.endswith("-group")]

    unanswered = [e for e in asked if not is_answered(store_of_documents, e, CHOSEN[choice])]

    assert asked
    assert [str(each) for each in unanswered] == []


def columns(target: Json) -> Iterator[str]:
    """What Grafana calls the columns of a table."""
    kinds = [metric["type"] for metric in target["metrics"]]
    yield from (bucket["field"] for bucket in target["bucketAggs"])
    for metric in target["metrics"]:
        name = metric["type"].capitalize()
        yield f"{name} {metric['field']}" if kinds.count(metric["type"]) > 1 else name


def test_tables_name_columns_that_are_there() -> None:
    tables = [each for each in targets("elasticsearch") if each.columns]

    wrong = {
        str(each): found
        for each in tables
        if {*each.columns} != {*(found := [*columns(each.query)])}
    }

    assert len(tables) == 3
    assert wrong == {}


def test_variables_offer_what_there_is(store_of_documents: str) -> None:
    expected = {
        "cluster": {CLUSTER},
        "group": {"billing", "bulk-load", "falls behind", "stands still", "silent", "with.dots"},
        "topic": {"orders", "bills"},
    }
    found = {}
    for dashboard, name, text in variables("elasticsearch"):
        query = json.loads(text)
        asked = {
            "size": 0,
            "query": {"query_string": {"query": filled(query["query"], CHOSEN["all"])}},
            "aggs": {"1": {"terms": {"field": query["field"], "size": query["size"]}}},
        }
        answer = httpx.post(f"{store_of_documents}/telegraf-*/_search", json=asked, timeout=30)
        buckets = answer.json()["aggregations"]["1"]["buckets"]
        found[dashboard, name] = {bucket["key"] for bucket in buckets}

    assert len(found) == 7
    assert {key: value for key, value in found.items() if value != expected[key[1]]} == {}


def test_offset_rates_are_those_of_the_story(store_of_documents: str) -> None:
    (asked,) = [t for t in targets("elasticsearch") if t.panel == "Messages produced a minute"]

    found = ask(store_of_documents, asked.query, CHOSEN["all"])

    assert {labels["tag.topic"]: {*values} for labels, values in found} == {
        "orders": {40.0},
        "bills": {20.0},
    }


def test_alerts_find_the_groups_in_trouble(store_of_documents: str) -> None:
    (group,) = yaml.safe_load((OTHER_ALERTING / "elasticsearch.yaml").read_text())["groups"]
    reducers = {"last": lambda values: values[-1], "sum": sum}
    firing = {}
    for rule in group["rules"]:
        query, reduction, threshold = (step["model"] for step in rule["data"])
        seconds = rule["data"][0]["relativeTimeRange"]["from"]
        reduced = reducers[reduction["reducer"]]
        firing[rule["title"]] = {
            labels["tag.group"]
            for labels, values in ask(store_of_documents, query, {}, seconds)
            if exceeds(reduced(values), threshold)
        }

    assert firing == {
        "ConsumerGroupError (elasticsearch)": {"silent", "stands still"},
        "ConsumerGroupWarning (elasticsearch)": {"falls behind"},
        "ConsumerGroupLagGrows (elasticsearch)": {"falls behind", "silent", "stands still"},
        "ConsumerGroupReadsLate (elasticsearch)": {"falls behind", "stands still"},
        "ConsumerGroupNeverDrains (elasticsearch)": {"falls behind", "silent", "stands still"},
        "ConsumerGroupWillLose (elasticsearch)": {"falls behind", "stands still"},
        "ConsumerGroupLost (elasticsearch)": {"stands still"},
        "ConsumerGroupOffsetsExpire (elasticsearch)": {"silent"},
    }
