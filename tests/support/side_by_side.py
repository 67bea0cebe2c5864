"""Test files side by side, each in one of several processes (pytest-xdist): pytest's hooks for it.

A test marked `alone` times something: no other test runs meanwhile.
"""

import fcntl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CASES = pytest.StashKey[dict[str, bool]]()  # of the vectors: whether each was answered rightly
# Any two files serve as locks.
NEXT, NOW = Path(__file__), Path(__file__).with_name("waiting.py")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # no time limit counts while it waits
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if not _is_one_of_several(item.config):
        return (yield)
    with _turn(alone=item.get_closest_marker("alone") is not None):
        return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process hands over what it counted."""
    if _is_one_of_several(session.config):
        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # xdist's
        output["cases"] = session.config.stash.get(CASES, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """The process that started the others takes it; one that crashed has nothing."""
    cases = getattr(node, "workeroutput", {}).get("cases", {})
    node.config.stash.setdefault(CASES, {}).update(cases)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the sum on a line of its own, after everything pytest has to say."""
    cases = config.stash.get(CASES, {})
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if cases and reporter is not None:
        passed = sum(cases.values())
        reporter.write_line(f"{passed} passed, {len(cases) - passed} failed")


def _is_one_of_several(config: pytest.Config) -> bool:
    return hasattr(config, "workeroutput")


@contextmanager
def _turn(*, alone: bool) -> Iterator[None]:
    """Who is to be alone waits for the others' tests to end; none begins before it is through."""
    with NEXT.open() as following, NOW.open() as running:
        fcntl.flock(following, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(following, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(running, fcntl.LOCK_UN)  # a process that was forked has the file open too
