"""One group: its verdict in words, and its partitions as a table."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warren.model.counted_nouns import counted
from warren.serve.v4 import number_words
from warren.serve.v4.shapes import Explanation, PartitionLine
from warren.serve.v4.shapes import Group as GroupAnswer
from warren.terminal import words
from warren.terminal.group_table import Cells, columns

ORDER = ("REWIND", "STALL", "STOP", "WARN", "OK")
WIDTHS = {
    "behind": 50,
    "last commit": 70,
    "a second": 80,
    "committed": 90,
    "full": 100,
    "catches up in": 110,
    "owner": 120,
    "age between": 150,
}
LEAST_FIRST = ("age between", "owner", "full", "committed", "a second", "catches up in")
MOST_REASONS = 5


def render(group: GroupAnswer, explanation: Explanation, width: int) -> RenderableType:
    parts: list[RenderableType] = [_head(group), *_alarms(group), *_reasons(explanation)]
    parts += [_indented(Text(words.shown(each), style="dim")) for each in group.about_query]
    if group.partitions:
        worst_first = sorted(
            group.partitions,
            key=lambda each: (ORDER.index(each.status), each.topic, each.partition),
        )
        parts += [Text(), _table(worst_first, width)]
    return Group(*parts)


def _head(group: GroupAnswer) -> Text:
    summary = group.summary
    place = f"{words.shown(summary.group)} in {words.shown(summary.cluster)}: "
    count = summary.partition_count
    return Text.assemble(
        (place, "bold"),
        words.status(summary.status),
        _behind(group),
        f"  lag {words.number(summary.total_lag)} in {counted(count, 'partition')}",
    )


def _behind(group: GroupAnswer) -> str:
    """Empty when nobody knows: a Burrow has no ages."""
    age, drain = number_words.behind(group.summary), group.summary.drain.low
    if not age:
        return ""
    found = f"  behind by {age}"
    if age_bounds := number_words.age_bounds(group.summary):
        found += f" ({age_bounds})"
    if drain is None or group.summary.lag.now == 0:
        return found
    return f"{found}, catches up: {number_words.catch_up(group.summary, group.summary.status)}"


def _alarms(group: GroupAnswer) -> list[Padding]:
    found = number_words.alarms(group.summary, group.summary.offsets_expire_s)
    return [_indented(Text(each.text, style="bold red")) for each in found]


def _reasons(explanation: Explanation) -> list[RenderableType]:
    """The first partition of each kind, the worst first; the others are much the same."""
    lines: list[RenderableType] = [Text(explanation.why)] if explanation.why else []
    worst_first = sorted(explanation.reasons, key=lambda each: ORDER.index(each.status))
    by_rule = {reason.rule: reason for reason in reversed(worst_first)}
    for reason in [*reversed(by_rule.values())][:MOST_REASONS]:
        place = f"{words.shown(reason.topic)}:{reason.partition}"
        parts = words.status(reason.status), f" {place}  ", words.shown(reason.why)
        lines.append(_indented(Text.assemble(*parts)))
    if explanation.second_opinion:
        lines.append(_indented(Text(words.shown(explanation.second_opinion), style="italic")))
    return lines


def _indented(text: Text) -> Padding:
    """What does not fit goes on below itself."""
    return Padding(text, (0, 0, 0, 2), expand=False)


def _table(partitions: list[PartitionLine], width: int) -> RenderableType:
    cells: Cells = {
        "topic": [words.name(each.topic) for each in partitions],
        "partition": [str(each.partition) for each in partitions],
        "status": [words.status(each.status) for each in partitions],
        "behind": [words.known(number_words.behind(each)) for each in partitions],
        "age between": [number_words.age_bounds(each) for each in partitions],
        "lag": [words.number(each.current_lag) for each in partitions],
        "catches up in": [
            words.known(number_words.catch_up(each, each.status)) for each in partitions
        ],
        "a second": [_signed(each.lag_trend) for each in partitions],
        "committed": [words.number(each.end.offset) if each.end else "" for each in partitions],
        "last commit": [words.age(each.last_commit_age_s) for each in partitions],
        "full": [f"{each.complete:.0%}" for each in partitions],
        "owner": [_owner(each) for each in partitions],
    }
    wide_enough = {name: cells[name] for name in cells if width >= WIDTHS.get(name, 0)}
    return columns(wide_enough, width, LEAST_FIRST)


def _signed(rate: float | None) -> str:
    return "" if rate is None else f"{rate:+.1f}"


def _owner(partition: PartitionLine) -> Text:
    return words.name(" ".join(filter(None, (partition.client_id, partition.owner))))
