"""Grafana's thresholds, as far as the alert rules use them."""

from typing import Any


def exceeds(value: float, threshold: dict[str, Any]) -> bool:
    evaluator = threshold["conditions"][0]["evaluator"]
    limits = evaluator["params"]
    if evaluator["type"] == "within_range":
        return bool(limits[0] < value < limits[1])
    assert evaluator["type"] == "gt"
    return bool(value > limits[0])
