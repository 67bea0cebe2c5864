"""Every file that is made, and its text."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from generator import grafana_rules, prometheus_rules
from generator.consumers import consumers
from generator.elasticsearch import ELASTICSEARCH
from generator.group import group
from generator.health import health
from generator.influxdb import INFLUXDB
from generator.overview import overview
from generator.prometheus import PROMETHEUS

DEPLOY = Path(__file__).parents[2]
DASHBOARDS = DEPLOY / "grafana" / "dashboards"
ALERTING = DEPLOY / "grafana" / "provisioning" / "alerting"
OTHER_ALERTING = DEPLOY / "grafana" / "alerting"  # for who has no Prometheus
HEAD = "# Made by `PYTHONPATH=deploy/grafana python -m generator`; change it there.\n"


def made() -> dict[Path, str]:
    return {
        **{DASHBOARDS / f"{page.uid}.json": as_json(page) for page in pages()},
        DEPLOY / "prometheus" / "rules.yml": as_yaml(prometheus_rules.rules()),
        ALERTING / "prometheus.yaml": as_yaml(grafana_rules.for_prometheus()),
        OTHER_ALERTING / "influxdb.yaml": as_yaml(grafana_rules.for_influxdb()),
        OTHER_ALERTING / "elasticsearch.yaml": as_yaml(grafana_rules.for_elasticsearch()),
    }


def pages() -> list[Dashboard]:
    sources = (PROMETHEUS, INFLUXDB, ELASTICSEARCH)
    return [*(make(s) for s in sources for make in (overview, consumers, group)), health()]


def as_json(page: Dashboard) -> str:
    return json.dumps(page, cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def as_yaml(content: Mapping[str, Any]) -> str:
    return HEAD + yaml.safe_dump(content, sort_keys=False, width=100)
