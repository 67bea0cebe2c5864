"""What is in the repository is what the code makes, and Grafana can make sense of it."""

from typing import Any

import pytest
import yaml
from deploy.dashboards import Json, dashboards
from generator.elasticsearch import ELASTICSEARCH
from generator.influxdb import INFLUXDB
from generator.made import ALERTING, DASHBOARDS, DEPLOY, OTHER_ALERTING, made
from generator.prometheus import PROMETHEUS

SOURCES = ("prometheus", "influxdb", "elasticsearch")


def all_dashboards() -> dict[str, Json]:
    return {name: each for source in SOURCES for name, each in dashboards(source).items()}


def rules() -> list[dict[str, Any]]:
    files = [ALERTING / "prometheus.yaml", *OTHER_ALERTING.glob("*.yaml")]
    groups = [group for file in files for group in yaml.safe_load(file.read_text())["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def test_files_are_what_the_code_makes() -> None:
    stale = [path.name for path, text in made().items() if path.read_text() != text]

    assert stale == [], "type: PYTHONPATH=deploy/grafana python -m generator"
    assert {*DASHBOARDS.glob("*.json")} <= made().keys()


def test_every_store_answers_the_same_questions() -> None:
    assert {*PROMETHEUS.asked} < {*INFLUXDB.asked}  # these two tell also what was delivered
    assert {*INFLUXDB.asked} == {*ELASTICSEARCH.asked}


@pytest.mark.parametrize("name", all_dashboards())
def test_panels_are_explained_and_do_not_overlap(name: str) -> None:
    panels = all_dashboards()[name]["panels"]
    places = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert [p["title"] for p in panels if not p["description"].endswith(".")] == []
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len(places) == len({*places})
    assert max(x for x, _ in places) == 23


def test_status_is_told_in_words_wherever_it_is_shown() -> None:
    bare = [
        f"{name}: {panel['title']}"
        for name, dashboard in all_dashboards().items()
        for panel in dashboard["panels"]
        if panel["type"] == "state-timeline" or panel["title"] == "Status"
        if not panel["fieldConfig"]["defaults"].get("mappings")
    ]

    assert bare == []


def test_links_lead_to_dashboards_that_are_there() -> None:
    uids = {dashboard["uid"] for dashboard in all_dashboards().values()}
    overviews = [each for each in all_dashboards().values() if each["uid"].endswith("overview")]
    links = [
        link["url"].split("?")[0].removeprefix("/d/")
        for dashboard in overviews
        for panel in dashboard["panels"]
        for override in panel["fieldConfig"]["overrides"]
        for setting in override["properties"]
        if setting["id"] == "links"
        for link in setting["value"]
    ]

    assert len(links) == 3
    assert {*links} <= uids


def test_alert_rules_ask_data_sources_that_are_provisioned() -> None:
    file = DEPLOY / "grafana" / "provisioning" / "datasources" / "warren.yaml"
    known = {each["uid"] for each in yaml.safe_load(file.read_text())["datasources"]}
    asked = {step["datasourceUid"] for rule in rules() for step in rule["data"]}

    assert asked == {*known, "__expr__"}


def test_alert_rules_have_ids_that_grafana_takes() -> None:
    uids = [rule["uid"] for rule in rules()]

    assert len({*uids}) == len(uids)
    assert max(map(len, uids)) <= 40


def test_no_text_of_an_alert_looks_like_an_environment_variable() -> None:
    texts = [text for rule in rules() for text in (rule["title"], *rule["annotations"].values())]

    assert [text for text in texts if "$" in text] == []
