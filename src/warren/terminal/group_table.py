"""All groups as a table, trouble first."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warren.serve.v4.lines import BEHIND_S
from warren.serve.v4.shapes import ClusterColumns, GroupLine, Overview
from warren.terminal import words

ORDER = ("ERR", "WARN", "OK")
# Columns that a terminal must be so wide for: the rest is worth more than they are.
WIDTHS = {"trend": 80, "worst partition": 90, "owner": 120, "partitions": 100, "last commit": 70}
MS = 1000

Cells = dict[str, list[Text] | list[str]]  # by column


class TableLine(NamedTuple):
    cluster: str
    group: str
    status: str
    worst: str  # of its partitions
    lag: int
    trend: str
    partitions: int
    worst_partition: str
    committed_ms: int
    owner: str


class Filter(NamedTuple):
    """Which groups to show."""

    cluster: str = ""
    match: str = ""
    only_bad: bool = False

    def accepts(self, line: TableLine | GroupLine) -> bool:
        return (
            self.cluster in {"", line.cluster}
            and self.match.lower() in line.group.lower()
            and not (self.only_bad and line.status == "OK")
        )


def lines(overview: Overview, wanted: Filter) -> list[TableLine]:
    """The groups that are wanted: the worst first, and of these the one with the most lag."""
    found = [line for cluster in overview.clusters for line in _lines(cluster)]
    chosen = [line for line in found if wanted.accepts(line)]
    return sorted(chosen, key=lambda each: (ORDER.index(each.status), -each.lag, each.group))


def _lines(cluster: ClusterColumns) -> Iterator[TableLine]:
    for at, group in enumerate(cluster.group):
        place = f"{cluster.max_lag_topic[at]}:{cluster.max_lag_partition[at]}"
        yield TableLine(
            cluster.name,
            group,
            cluster.status[at],
            cluster.worst[at],
            cluster.total_lag[at],
            cluster.trend[at],
            cluster.partition_count[at],
            place if cluster.max_lag[at] else "",
            cluster.last_commit_ms[at],
            cluster.owner[at],
        )


def render(
    overview: Overview, shown: list[TableLine], width: int, most: int | None = None
) -> RenderableType:
    """A line about each cluster, then a table of at most so many groups."""
    parts: list[RenderableType] = [*_heads(overview, shown)]
    if shown:
        parts.append(_table(shown[:most], overview.board.moment_ms, width))
    hidden = len(shown) - len(shown[:most])
    if hidden:
        parts.append(Text(f"… and {words.number(hidden)} more", style="dim"))
    return Group(*parts)


def _heads(overview: Overview, shown: list[TableLine]) -> Iterator[Text]:
    if not overview.ready:
        yield Text("The offsets topics are still being read: groups may be missing", style="yellow")
    behind_s = overview.board.behind_s
    if behind_s is not None and behind_s > BEHIND_S:  # a Burrow does not say
        warning = f"Reading is behind: groups are shown as they were {words.age(behind_s)} ago"
        yield Text(warning, style="yellow")
    for cluster in overview.clusters:
        counts = Counter(line.status for line in shown if line.cluster == cluster.name)
        head = Text.assemble((words.shown(cluster.name), "bold"), f": {_groups(counts.total())}")
        for status in ORDER:
            if counts[status]:
                head.append_text(Text(f"  {counts[status]} ")).append_text(words.status(status))
        yield head
        if cluster.problem:
            yield Text(f"  not followed: {words.shown(cluster.problem)}", style="red")


def _groups(count: int) -> str:
    return "1 group" if count == 1 else f"{words.number(count)} groups"


def _table(shown: list[TableLine], now_ms: int, width: int) -> Table:
    has_clusters = len({line.cluster for line in shown}) > 1
    cells: Cells = {
        "cluster": [words.name(line.cluster) for line in shown],
        "group": [words.name(line.group) for line in shown],
        "status": [_status(line) for line in shown],
        "lag": [words.number(line.lag) for line in shown],
        "trend": [words.trend(line.trend) for line in shown],
        "worst partition": [words.name(line.worst_partition) for line in shown],
        "partitions": [words.number(line.partitions) for line in shown],
        "last commit": [_age(line, now_ms) for line in shown],
        "owner": [words.name(line.owner) for line in shown],
    }
    if not has_clusters:
        del cells["cluster"]
    names = [each for each in cells if width >= WIDTHS.get(each, 0)]
    return columns({each: cells[each] for each in names}, width)


def _status(line: TableLine) -> Text:
    """The group's, and what its worst partition is when that says more."""
    status = words.status(line.status)
    if line.status == "ERR" and line.worst != line.status:
        status.append(f" {line.worst}", style="red")
    return status


def _age(line: TableLine, now_ms: int) -> str:
    return words.age((now_ms - line.committed_ms) / MS if line.committed_ms else None)


RIGHT = {"lag", "partitions", "last commit", "partition", "committed", "a second", "full"}
GAP, SHORTEST = 2, 4
NAMES = {"cluster", "group", "worst partition", "owner", "topic"}


def columns(cells: Cells, width: int) -> Table:
    """A plain table: narrow terminals cut names, never numbers or statuses."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    natural = {
        head: max(map(cell_len, [head, *map(str, values)])) for head, values in cells.items()
    }
    for head, wide in _fitted(natural, width).items():
        justify: Literal["right", "left"] = "right" if head in RIGHT else "left"
        table.add_column(head, justify=justify, no_wrap=True, overflow="ellipsis", width=wide)
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    return table


def _fitted(natural: dict[str, int], width: int) -> dict[str, int]:
    """The widths of all columns, the widest name cut until they fit."""
    fitted = dict(natural)
    names = [head for head in fitted if head in NAMES]
    too_much = sum(fitted.values()) + GAP * (len(fitted) - 1) - width
    for _ in range(too_much):
        widest = max(names, key=fitted.__getitem__)
        if fitted[widest] <= SHORTEST:
            break
        fitted[widest] -= 1
    return fitted
