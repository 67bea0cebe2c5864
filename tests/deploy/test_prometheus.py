"""Every query of the dashboards for Prometheus finds something."""

import re

import pytest
from deploy.dashboards import Target, filled, targets, variables
from deploy.story import CLUSTER
from support.servers.prometheus import Prometheus, Series
from support.waiting import eventually

WINDOW_S = 60
ENOUGH_S = 30
CHOSEN = {
    "one of each": {"cluster": CLUSTER, "group": "billing", "topic": "orders|bills"},
    # As Grafana writes the choice of two groups, and of all of everything.
    "several": {"cluster": CLUSTER, "group": r"(billing|with\\.dots)", "topic": "(orders|bills)"},
    "all": {"cluster": ".*", "group": ".*", "topic": ".*"},
}


def ask(store: Prometheus, query: dict[str, object], values: dict[str, str]) -> list[Series]:
    expr = filled(str(query["expr"]), {**values, "__rate_interval": "10s"})
    return store.now(expr) if query.get("instant") else store.over_time(expr, WINDOW_S)


def wanted_labels(target: Target) -> set[str]:
    """The labels that the legend or the table shows."""
    legend = re.findall(r"{{(\w+)}}", target.query.get("legendFormat", ""))
    return {*legend, *(name for name in target.columns if not name.startswith("Value"))}


def is_answered(store: Prometheus, target: Target, values: dict[str, str]) -> bool:
    found = ask(store, target.query, values)
    return bool(found) and all(each["metric"].keys() >= wanted_labels(target) for each in found)


@pytest.mark.parametrize("choice", CHOSEN)
def test_every_query_finds_series_with_what_the_legend_shows(
    scraped: Prometheus, choice: str
) -> None:
    unanswered = list(targets("prometheus"))
    if choice != "one of each":
        unanswered = [each for each in unanswered if not each.dashboard.endswith("-group")]

    def left() -> list[str]:
        unanswered[:] = [e for e in unanswered if not is_answered(scraped, e, CHOSEN[choice])]
        return [str(each) for each in unanswered]

    eventually(left, [], ENOUGH_S)


def test_variables_offer_what_there_is(scraped: Prometheus) -> None:
    expected = {
        "cluster": {CLUSTER},
        "group": {"billing", "bulk-load", "falls behind", "stands still", "silent", "with.dots"},
        "topic": {"orders", "bills"},
    }
    found = {}
    for dashboard, name, query in variables("prometheus"):
        ((series, label),) = re.findall(r"^label_values\((.+), (\w+)\)$", query)
        found[dashboard, name] = scraped.label_values(label, filled(series, CHOSEN["all"]))

    assert len(found) == 7
    assert {key: value for key, value in found.items() if value != expected[key[1]]} == {}


def test_the_story_has_groups_of_every_status(scraped: Prometheus) -> None:
    found = scraped.now("burrow_kafka_consumer_status")

    assert {each["metric"]["consumer_group"]: each["value"][1] for each in found} == {
        "billing": "1",
        "bulk-load": "1",
        "falls behind": "2",
        "silent": "3",
        "stands still": "3",
        "with.dots": "1",
    }
