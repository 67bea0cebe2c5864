"""Situations that users of lag monitors reported, with the numbers of the report or any like them.

A module for each family of them; each function is a situation and its truth.
"""

from collections.abc import Callable, Iterator
from random import Random
from types import ModuleType
from typing import Any

from support.scene import Dial, Scene
from support.situations import (
    ages,
    faults,
    ghosts,
    jumps,
    quiet_groups,
    retention,
    samples,
    transactions,
)

FAMILIES = (quiet_groups, transactions, retention, faults, jumps, ghosts, samples, ages)


def situations(seed: str = "") -> Iterator[dict[str, Any]]:
    """All of them as scenarios, with the usual numbers, or with random ones."""
    for family in FAMILIES:
        for name, situation in _of(family):
            dial = Dial(Random(f"{name} {seed}") if seed else None)  # noqa: S311 - no secrets
            yield situation(dial).scenario(f"{name}/{seed}" if seed else name)


def _of(family: ModuleType) -> Iterator[tuple[str, Callable[[Dial], Scene]]]:
    for name, value in vars(family).items():
        if getattr(value, "__module__", "") == family.__name__ and not name.startswith("_"):
            yield name, value
