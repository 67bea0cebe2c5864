"""The scenarios: what happens to a group, and what has to be said of it.

Ours are in `scenarios`; `WARREN_SCENARIOS` names another directory.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.side_by_side import CASES

OWN_SCENARIOS = Path(__file__).parent / "scenarios"
FAILURES = pytest.StashKey[list[str]]()

Scenario = dict[str, Any]
Report = Callable[[Scenario, Sequence[str]], None]


def directory() -> Path:
    return Path(os.environ.get("WARREN_SCENARIOS", OWN_SCENARIOS))


def is_ours() -> bool:
    return directory() == OWN_SCENARIOS


@pytest.fixture(scope="session")
def scenarios() -> list[Scenario]:
    files = sorted(directory().glob("*.json"))
    assert files, f"{directory()} has no scenarios"
    return [{"id": file.stem} | json.loads(file.read_text()) for file in files]


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Count one scenario, and print a line for each expectation it fails."""

    def add(scenario: Scenario, failures: Sequence[str]) -> None:
        stash = request.config.stash
        stash.setdefault(CASES, {})[f"{request.node.nodeid}::{scenario['id']}"] = not failures
        lines = stash.setdefault(FAILURES, [])
        lines += [f"{scenario['id']}: {each}" for each in failures]

    return add


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash.get(FAILURES, []):
        terminalreporter.write_line(line)
