"""The alerts as Prometheus' rules."""

from collections.abc import Mapping
from typing import Any

from generator.alerts import GROUPS, WARREN, Alert


def rules() -> Mapping[str, Any]:
    return {
        "groups": [
            {"name": "consumer groups", "rules": [_rule(alert) for alert in GROUPS]},
            {"name": "warren", "rules": [_rule(alert) for alert in WARREN]},
        ]
    }


def _rule(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.lasting,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.description},
    }
