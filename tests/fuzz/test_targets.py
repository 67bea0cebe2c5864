"""Nothing that others write makes Warren raise what it does not mean to. Longer: `./fuzz`."""

import os
import secrets
import time

import pytest
import structlog
from fuzz.mutations import Mutations
from fuzz.targets import quiet, targets

SECONDS = float(os.environ.get("WARREN_FUZZ_S", "3"))  # for each target
NAMES = [
    *("group records", "toml", "yaml", "json", "dotenv", "templates", "zookeeper", "storm"),
    *("reports", "snapshots", "snapshot arrays"),
]


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_are_taken_or_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target, seed, cases = targets()[name], secrets.randbits(32), 0
    mutations = Mutations(target.samples, target.words, seed)
    before = structlog.get_config()
    quiet()
    until = time.monotonic() + SECONDS

    try:
        while time.monotonic() < until:
            data = mutations.next()
            cases += 1
            try:
                target.take(data)
            except Exception as error:
                raise AssertionError(f"{name}, seed {seed}, case {cases}: {data!r}") from error
    finally:
        structlog.configure(**before)

    with capsys.disabled():
        print(f"\n{name}: {cases:,} cases, seed {seed}", end="")  # noqa: T201  # how much was tried
