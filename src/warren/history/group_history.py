"""One group over time: for `/v4/history` and the terminal.

The shape of the answer is declared in `warren.serve.v4.shapes`.
"""

import statistics
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from warren.history.memory_queries import GAP, KeptOfGroup
from warren.model.history_question import STEPS
from warren.model.period import Period
from warren.model.status import Status

COLUMNS = 100  # of the heat map
NAMES = {status.value: status.name for status in Status}

Json = dict[str, Any]


def step_of(period: Period, most: int) -> int:
    """The shortest step, in whole seconds, that cuts a period into at most `most` steps."""
    seconds = -(-(period.until_ms - period.since_ms) // (most * 1000))
    return max(seconds, 1) * 1000


def times_of(period: Period, step_ms: int) -> list[int]:
    return [*range(period.since_ms, period.until_ms, step_ms)]


def spread_out(found: Mapping[int, Json], steps: int) -> list[Json]:
    """Fill every step from the steps that have a row; empty where nothing was recorded.

    Steps may be shorter than the time between moments: a row counts until the next one.
    """
    known = sorted(found)
    gaps = [after - before for before, after in pairwise(known)]
    usual = statistics.median_low(gaps) if gaps else 1
    spread: list[Json] = [{}] * steps
    for step, gap in zip(known, [*gaps, usual], strict=False):  # `known` may be empty
        held = gap if gap <= GAP * usual else usual
        for at in range(step, min(step + held, steps)):
            spread[at] = found[step]
    return spread


def curve(kept: KeptOfGroup, period: Period, most: int = STEPS) -> Json:
    """A group's lag, status and offsets in steps of equal length."""
    step_ms = step_of(period, most)
    found = kept.steps(period.since_ms, step_ms).to_pylist()
    times = times_of(period, step_ms)
    spread = spread_out({row["step"]: row for row in found}, len(times))
    return {
        "moments": sum(row["moments"] for row in found),
        "step_ms": step_ms,
        "times_ms": times,
        "lag": [row.get("lag") for row in spread],
        "max_lag": [row.get("max_lag") for row in spread],
        "age_s": [_tenths(row.get("age_s")) for row in spread],
        "status": [_name(row.get("status")) for row in spread],
        "offset": [row.get("offset") for row in spread],
    }


def incidents(kept: KeptOfGroup) -> list[Json]:
    """The incidents, the newest first."""
    columns = ("began_ms", "ended_ms", "status", "max_lag")
    found = kept.incidents().select([*columns]).sort_by([("began_ms", "descending")])
    return [row | {"status": _name(row["status"])} for row in found.to_pylist()]


def heat_map(kept: KeptOfGroup, period: Period, lines: int) -> Json:
    """The partitions with the most lag, each with its lag and status in steps of equal length.

    With `lines` 0 the total is 0 too: counting partitions means reading most of the rows.
    """
    step_ms = step_of(period, COLUMNS)
    times = times_of(period, step_ms)
    total, found = kept.heat(lines, period.since_ms, step_ms) if lines else (0, None)
    cells: dict[tuple[str, int | None], dict[int, Json]] = {}
    for row in found.to_pylist() if found else []:
        cells.setdefault((row["topic"], row["partition"]), {})[row["step"]] = row
    most = {line: max(row["lag"] for row in steps.values()) for line, steps in cells.items()}
    shown = sorted(cells, key=_in_order)
    spread = [spread_out(cells[line], len(times)) for line in shown]
    return {
        "step_ms": step_ms,
        "times_ms": times,
        "total": total,
        "partitions": [
            {"topic": line[0], "partition": line[1], "max_lag": most[line]} for line in shown
        ],
        "lag": [[row.get("lag") for row in rows] for rows in spread],
        "status": [[_name(row.get("status")) for row in rows] for rows in spread],
    }


def _tenths(seconds: float | None) -> float | None:
    """As history rounds them: a single-precision number has more digits."""
    return None if seconds is None else round(seconds, 1)


def _in_order(line: tuple[str, int | None]) -> tuple[str, int]:
    topic, partition = line
    return topic, -1 if partition is None else partition


def _name(status: int | None) -> str | None:
    return None if status is None else NAMES[status]
