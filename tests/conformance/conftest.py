"""The vectors: inputs with Burrow's observed answers, and the count of those we answer rightly."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.side_by_side import CASES

Vectors = Callable[[str], dict[str, Any]]
RecordCase = Callable[[str, bool], None]

OWN_VECTORS = Path(__file__).parent / "vectors"


@pytest.fixture(scope="session")
def vectors() -> Vectors:
    """Read one file of the vectors directory: `vectors("decoder")["messages"]`."""
    directory = Path(os.environ.get("WARREN_VECTORS", OWN_VECTORS))

    def read(name: str) -> dict[str, Any]:
        cases: dict[str, Any] = json.loads((directory / f"{name}.json").read_text())
        return cases

    return read


@pytest.fixture
def record_case(request: pytest.FixtureRequest) -> RecordCase:
    """Count one vector case; the test itself still asserts that none went wrong.

    Two cases of one test never share a name, so that none hides behind another.
    """

    def record(name: str, ok: bool) -> None:  # noqa: FBT001 - an outcome is a boolean
        case = f"{request.node.nodeid}::{name}"
        outcomes = request.config.stash.setdefault(CASES, {})
        assert case not in outcomes, f"{case} is recorded twice"
        outcomes[case] = ok

    return record
