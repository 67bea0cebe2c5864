"""Lines as `windows.readings` reads them, written by hand: one for each case of a test."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import inf, isclose, nan
from typing import Any

import numpy as np

from warren.evaluate.measure import measure
from warren.evaluate.outlook import Retention
from warren.model.line_readings import Looked, Readings
from warren.model.numbers import Numbers

Line = Mapping[str, Any]
Look = tuple[int, int, int, float, float, bool]  # as the columns of Looked, without `line`

# At second 990 log ends were asked for: the log ended at 160, and may have grown by 10 since. The
# group has stood at 100 since long ago, and record 100 came between two rounds, at 900 and 910.
PLAIN: Line = {
    "as_of_s": 1000.0,
    "has_commit": True,
    "commit": 100,
    "end": 160,
    "has_end": True,
    "not_yet_s": 900.0,
    "visible_s": 910.0,
    "perhaps_s": 905.0,
    "asked_s": 990.0,
    "end_asked": 160,
    "has_asked": True,
    "grown": 10,
    "start": 0,
    "has_start": True,
    "start_then": 0,
    "stable": 0,
    "is_held": False,
    "reads_committed": False,
    "start_pace": nan,
    "lost": 0,
    "is_stuck": False,
    "has_stopped": False,
    "pause_s": 0.0,
    "produced_fast": nan,
    "produced_slow": nan,
    "consumed_fast": nan,
    "consumed_slow": nan,
}
SINGLES = (
    *("start_pace", "pause_s"),
    *("produced_fast", "produced_slow", "consumed_fast", "consumed_slow"),
)
# What is not read but configured.
OF_TOPIC: Line = {"retention_s": nan, "is_compacted": False, "is_by_size": False}


def unread(lag: int) -> Line:
    """A plain line with this lag, and no doubt about it."""
    return {"end": 100 + lag, "end_asked": 100 + lag, "grown": 0}


def read_lines(lines: Sequence[Line]) -> Readings:
    """`look` is what was found behind the commit of a line."""
    lines = [{"start_then": line.get("start", 0), **line} for line in lines]
    columns: dict[str, Any] = {
        name: np.array([line.get(name, plain) for line in lines], _kind(name, plain))
        for name, plain in PLAIN.items()
    }
    looks = [(at, *line["look"]) for at, line in enumerate(lines) if "look" in line]
    assert {name for line in lines for name in line} <= {*PLAIN, *OF_TOPIC, "look"}
    assert {*columns, "looked", "committed"} == {each.name for each in fields(Readings)}
    if looks:
        columns["looked"] = Looked(*(np.array(column) for column in zip(*looks, strict=True)))
    return Readings(**columns)


def retention(lines: Sequence[Line]) -> Retention:
    columns = (
        np.array([line.get(name, plain) for line in lines], _kind(name, plain))
        for name, plain in OF_TOPIC.items()
    )
    return Retention(*columns)


def measured(lines: Sequence[Line]) -> Numbers:
    """Each line is of a group of its own."""
    return measure([read_lines(lines)], np.arange(len(lines) + 1), retention(lines))


def _kind(name: str, plain: object) -> type[np.generic]:
    if name in SINGLES:
        return np.float32
    kinds = {bool: np.bool_, int: np.int64, float: np.float64}
    return kinds[type(plain)]


def wrong_rows(
    columns: object, names: Sequence[str], cases: Mapping[str, tuple[object, Sequence[float]]]
) -> dict[str, list[float]]:
    """What came out by the names of the cases where it is not what they expect."""
    wrong = {}
    for at, (name, (_, expected)) in enumerate(cases.items()):
        found = [getattr(columns, column)[at].item() for column in names]
        if not all(_same(*pair) for pair in zip(found, expected, strict=True)):
            wrong[name] = found
    return wrong


def _same(found: float, expected: float) -> bool:
    """Counts are exact; seconds are singles, and NaN is as good as any."""
    if isinstance(found, int):
        return found == expected
    either = found != found and expected != expected  # noqa: PLR0124  # NaN
    return (
        either or found == expected or (expected != inf and isclose(found, expected, rel_tol=1e-6))
    )
