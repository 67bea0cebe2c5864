"""Two hours of some situations, once without policies and once with: as Warren keeps them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.scenario_history import KeptHistory, history_of

SCENARIOS = Path(__file__).parents[1] / "judgement" / "scenarios"
# What happens to them, and the policy that they are judged under the second time.
SITUATIONS: Mapping[str, Mapping[str, Any]] = {
    "A7": {"allowed-lag": 100},
    "A12": {"max-time-lag": "5m"},
    "B5": {"grace": "20m"},
    "D4": {"max-time-lag": "3m", "grace": "2m"},
    "D5": {"pages": ["STOP"]},
    "D10": {"schedule": "5m"},
    "D15": {"ignore": True},
    "E1": {"allowed-lag": 5000, "owner": "team-e"},
    "E5": {"grace": "1m"},
}


def with_policy(name: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    scenario: dict[str, Any] = json.loads((SCENARIOS / f"{name}.json").read_text())
    groups = {event[2] for event in scenario["events"] if event[1] in {"commit", "members"}}
    ruled = dict.fromkeys(groups, policy) if policy else {}
    return scenario | {"id": name, "settings": {"policy": ruled}}


@pytest.fixture(scope="session")
def plain() -> KeptHistory:
    return history_of([with_policy(name, {}) for name in SITUATIONS])


@pytest.fixture(scope="session")
def ruled() -> KeptHistory:
    return history_of([with_policy(name, policy) for name, policy in SITUATIONS.items()])
