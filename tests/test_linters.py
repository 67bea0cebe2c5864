"""The linters are tests too: they run beside the others, and are named with them if they fail."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "linter", ["ruff format --check .", "ruff check .", "mypy", "lint-imports"]
)
def test_nothing_is_reported_by(linter: str) -> None:
    name, *arguments = linter.split()
    done = subprocess.run(
        [Path(sys.executable).with_name(name), *arguments],
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

    if done.returncode:
        pytest.fail(done.stdout, pytrace=False)
