"""All groups as a table."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warren.model.counted_nouns import counted
from warren.serve.v4 import number_words
from warren.serve.v4.lines import BEHIND_S
from warren.serve.v4.measured import Age, Drain, Lag, MeasuredGroup
from warren.serve.v4.shapes import ClusterColumns, Overview
from warren.terminal import words

ORDER = ("ERR", "WARN", "OK")
# Columns that a terminal must be so wide for: the rest is worth more than they are.
WIDTHS = {
    "behind": 40,
    "last commit": 70,
    "trend": 80,
    "worst partition": 90,
    "partitions": 100,
    "catches up in": 110,
    "owner": 130,
    "age between": 160,
    "grows": 160,
    "reads": 160,
}
# They go, one after the other, until names have room.
LEAST_FIRST = (
    *("reads", "grows", "age between", "owner", "partitions", "worst partition", "trend"),
    *("catches up in", "last commit"),
)
MS = 1000

Cells = dict[str, list[Text] | list[str]]  # by column


class TableLine(NamedTuple):
    cluster: str
    group: str
    status: str
    worst: str  # of its partitions
    total_lag: int
    trend: str
    partitions: int
    worst_partition: str
    last_commit_ms: int
    owner: str
    numbers: MeasuredGroup


def lines(overview: Overview) -> list[TableLine]:
    return [line for cluster in overview.clusters for line in _lines(cluster)]


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
            _numbers(cluster, at),
        )


def _numbers(cluster: ClusterColumns, at: int) -> MeasuredGroup:
    """All unknown if the cluster's Warren is an older one, or a Burrow."""
    if not cluster.age_s:
        return MeasuredGroup()
    return MeasuredGroup(
        lag=Lag(cluster.lag[at], cluster.lag_low[at], cluster.lag_high[at]),
        age=Age(
            cluster.age_s[at],
            cluster.age_low_s[at],
            cluster.age_high_s[at],
            cluster.age_method[at],
        ),
        produced=cluster.produced[at],
        consumed=cluster.consumed[at],
        drain=Drain(cluster.drain_low_s[at], cluster.drain_high_s[at]),
        margin_s=cluster.margin_s[at],
        lost=cluster.lost[at],
        scalable_lag=cluster.scalable_lag[at],
        offsets_expire_s=cluster.offsets_expire_s[at],
    )


def render(
    overview: Overview, shown: list[TableLine], width: int, most: int | None = None
) -> RenderableType:
    """A line about each cluster, then a table of at most so many groups."""
    parts: list[RenderableType] = [*_heads(overview, shown)]
    if shown:
        parts.append(table(shown[:most], overview.board.moment_ms, width))
    hidden = len(shown) - len(shown[:most])
    if hidden:
        parts.append(Text(f"… and {words.number(hidden)} more", style="dim"))
    return Group(*parts)


def _heads(overview: Overview, shown: list[TableLine]) -> Iterator[Text]:
    yield from warnings(overview)
    for cluster in overview.clusters:
        lines = [line for line in shown if line.cluster == cluster.name]
        yield Text.assemble((words.shown(cluster.name), "bold"), ": ", counts(lines))
        if cluster.problem:
            yield Text(f"  not followed: {words.shown(cluster.problem)}", style="red")


def warnings(overview: Overview) -> Iterator[Text]:
    """What makes all of it doubtful."""
    if not overview.ready:
        yield Text("The offsets topics are still being read: groups may be missing", style="yellow")
    behind_s = overview.board.behind_s
    if behind_s is not None and behind_s > BEHIND_S:  # a Burrow does not say
        warning = f"Reading is behind: groups are shown as they were {words.age(behind_s)} ago"
        yield Text(warning, style="yellow")


def counts(lines: Iterable[TableLine]) -> Text:
    found = Counter(line.status for line in lines)
    text = Text(counted(found.total(), "group"))
    for status in ORDER:
        if found[status]:
            text.append_text(Text(f"  {words.number(found[status])} ")).append(words.status(status))
    return text


def table(shown: list[TableLine], now_ms: int, width: int, chosen: int | None = None) -> Table:
    """The groups as columns; the line that is chosen is shown in reverse."""
    has_clusters = len({line.cluster for line in shown}) > 1
    cells: Cells = {
        "cluster": [words.name(line.cluster) for line in shown],
        "group": [words.name(line.group) for line in shown],
        "status": [_status(line) for line in shown],
        "behind": [words.known(number_words.behind(line.numbers)) for line in shown],
        "age between": [number_words.age_bounds(line.numbers) for line in shown],
        "lag": [words.number(line.total_lag) for line in shown],
        "warning": [_alarms(line.numbers) for line in shown],
        "catches up in": [
            words.known(number_words.catch_up(line.numbers, line.status)) for line in shown
        ],
        "grows": [words.rate(line.numbers.produced) for line in shown],
        "reads": [words.rate(line.numbers.consumed) for line in shown],
        "trend": [words.trend(line.trend, line.total_lag) for line in shown],
        "worst partition": [words.name(line.worst_partition) for line in shown],
        "partitions": [words.number(line.partitions) for line in shown],
        "last commit": [_age(line, now_ms) for line in shown],
        "owner": [words.name(line.owner) for line in shown],
    }
    if not has_clusters:
        del cells["cluster"]
    if not any(cells["warning"]):
        del cells["warning"]
    wide_enough = {each: cells[each] for each in cells if width >= WIDTHS.get(each, 0)}
    return columns(wide_enough, width, LEAST_FIRST, chosen)


def _alarms(numbers: MeasuredGroup) -> Text:
    found = number_words.alarms(numbers, numbers.offsets_expire_s)
    return Text(", ".join(each.brief for each in found), style="bold red")


def _status(line: TableLine) -> Text:
    """The group's, and what its worst partition is when that says more."""
    status = words.status(line.status)
    if line.status == "ERR" and line.worst != line.status:
        status.append(f" {line.worst}", style="red")
    return status


def _age(line: TableLine, now_ms: int) -> str:
    return words.age((now_ms - line.last_commit_ms) / MS if line.last_commit_ms else None)


RIGHT = {
    *("behind", "lag", "catches up in", "grows", "reads", "partitions", "last commit"),
    *("partition", "committed", "a second", "full"),
}
GAP, SHORTEST = 2, 4
READABLE = 24  # of a name; before it is cut shorter, another column goes
NAMES = {"cluster", "group", "worst partition", "owner", "topic"}


def columns(
    cells: Cells, width: int, least_first: Iterable[str], chosen: int | None = None
) -> Table:
    """A plain table: narrow terminals cut names, never numbers or statuses."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    natural = {
        head: max(map(cell_len, [head, *map(str, values)])) for head, values in cells.items()
    }
    for head in least_first:
        if not _are_readable(natural, width):
            natural.pop(head, None)
    cells = {head: cells[head] for head in natural}
    for head, wide in _fitted(natural, width).items():
        justify: Literal["right", "left"] = "right" if head in RIGHT else "left"
        table.add_column(head, justify=justify, no_wrap=True, overflow="ellipsis", width=wide)
    for number, row in enumerate(zip(*cells.values(), strict=True)):
        table.add_row(*row, style="reverse" if number == chosen else None)
    return table


def _are_readable(natural: dict[str, int], width: int) -> bool:
    """Whether the names can stay as they are, or nearly so."""
    needed = [min(each, READABLE) if head in NAMES else each for head, each in natural.items()]
    return sum(needed) + GAP * (len(needed) - 1) <= width


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
