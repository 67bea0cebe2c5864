"""Lines of the board as the answers have them."""

from collections.abc import Iterator
from typing import Any

from warren.evaluate.rules import Rule
from warren.model import Status
from warren.serve.v4.shapes import Commit, GroupLine, MaxLag, Moment, PartitionLine
from warren.serve.view import Cluster, View

MS = 1000


def moment(view: View) -> Moment:
    consumers: Any = view.facts.health.get("consumers", {})
    positions = {name: dict(each.get("positions") or {}) for name, each in consumers.items()}
    return Moment(view.facts.moment_ms, positions)


def group_line(name: str, cluster: Cluster, number: int) -> GroupLine:
    arrays, lines = cluster.arrays, cluster.lines(number)
    worst = int(arrays["group_max_lag_line"][number])
    return GroupLine(
        name,
        cluster.groups.names[number],
        Status(int(arrays["group_status"][number])).name,  # type: ignore[arg-type]  # one of them
        round(float(arrays["group_complete"][number]), 6),
        lines.stop - lines.start,
        int(arrays["group_total_lag"][number]),
        MaxLag(
            cluster.topics.names[int(arrays["topic"][worst])],
            int(arrays["partition"][worst]),
            int(arrays["current_lag"][worst]),
        )
        if lines.stop > lines.start
        else None,
        int(arrays["group_last_commit_ms"][number]),
    )


def partition_lines(cluster: Cluster, lines: slice) -> Iterator[PartitionLine]:
    windows, filled = cluster.windows_of(lines), cluster.arrays["filled"][lines].tolist()
    for at, line in enumerate(range(lines.start, lines.stop)):
        window = commits(windows[at], filled[at], cluster.facts.intervals)
        yield _partition_line(cluster, line, window)


def commits(window: Any, filled: int, intervals: int) -> list[Commit]:
    """The commits of one window, oldest first."""
    if not filled:
        return []
    held = slice(intervals - filled, None)
    names = ("offset", "committed_ms", "observed_s", "lag")
    columns = (window[name][held].tolist() for name in names)
    return [
        Commit(offset, committed_ms, observed_s * MS, lag if lag >= 0 else None)
        for offset, committed_ms, observed_s, lag in zip(*columns, strict=True)
    ]


def _partition_line(cluster: Cluster, line: int, window: list[Commit]) -> PartitionLine:
    arrays = cluster.arrays
    start, end = (window[0], window[-1]) if window else (None, None)
    now_ms = cluster.facts.now_s * MS
    return PartitionLine(
        cluster.topics.names[int(arrays["topic"][line])],
        int(arrays["partition"][line]),
        Status(int(arrays["status"][line])).name,  # type: ignore[arg-type]  # one of them
        Rule(int(arrays["rule"][line])).name.lower(),
        round(float(arrays["complete"][line]), 6),
        int(arrays["current_lag"][line]),
        slope([(each.committed_ms, each.lag) for each in window if each.lag is not None]),
        slope([(each.committed_ms, each.offset) for each in window]),
        (now_ms - end.committed_ms) / MS if end else None,
        cluster.owners.names[int(arrays["owner"][line])],
        cluster.owners.names[int(arrays["client"][line])],
        start,
        end,
    )


def slope(points: list[tuple[int, int]]) -> float | None:
    """By how much a second the value grew from the first point to the last."""
    if len(points) < 2 or points[-1][0] == points[0][0]:
        return None
    (first_ms, first), (last_ms, last) = points[0], points[-1]
    return round((last - first) / (last_ms - first_ms) * MS, 3)
