"""Which groups to show, and in what order: the orders of the page, by the same names."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from warren.errors import WarrenError
from warren.serve.v4.measured import MeasuredGroup
from warren.serve.v4.shapes import GroupLine
from warren.terminal.group_table import ORDER, TableLine
from warren.terminal.words import shown

Line = TypeVar("Line", TableLine, GroupLine)
AnyLine = TableLine | GroupLine


class NoneMatches(WarrenError):
    """A misspelt name must not look like good news."""


def _behind_s(line: AnyLine) -> float | None:
    numbers = line if isinstance(line, MeasuredGroup) else line.numbers
    return numbers.age.low if numbers.age.seconds is None else numbers.age.seconds


def _farthest_first(line: AnyLine) -> float | None:
    seconds = _behind_s(line)
    return None if seconds is None else -seconds


# The values ascend; None is not known, and comes last in both directions.
ORDERS: dict[str, Callable[[AnyLine], Any]] = {
    "trouble": lambda line: (ORDER.index(line.status), -line.total_lag),
    "name": lambda line: (line.group, line.cluster),
    "behind": _farthest_first,
    "lag": lambda line: -line.total_lag,
    "age": lambda line: line.last_commit_ms,
}


class Filter(NamedTuple):
    cluster: str = ""
    match: str = ""
    only_bad: bool = False
    sort: str = "trouble"  # a minus before it reverses the order

    def has_name_of(self, line: AnyLine) -> bool:
        return self.cluster in {"", line.cluster} and self.match.lower() in line.group.lower()

    def accepts(self, line: AnyLine) -> bool:
        return self.has_name_of(line) and not (self.only_bad and line.status == "OK")

    def choose(self, lines: Iterable[Line]) -> list[Line]:
        """Those that are accepted, in order; equal ones by name."""
        by_name = sorted(filter(self.accepts, lines), key=lambda line: (line.group, line.cluster))
        value = ORDERS[self.sort.removeprefix("-")]
        known = [line for line in by_name if value(line) is not None]
        known.sort(key=value, reverse=self.sort.startswith("-"))
        return known + [line for line in by_name if value(line) is None]

    def why_none(self, lines: Iterable[AnyLine]) -> str:
        """If something is asked for by name, and no group, good or bad, has that name."""
        if not (self.match or self.cluster) or any(map(self.has_name_of, lines)):
            return ""
        name = f" with {shown(self.match)} in its name" if self.match else ""
        where = f" in a cluster {shown(self.cluster)}" if self.cluster else ""
        return f"there is no group{name}{where}"

    def refuse_if_none(self, lines: Iterable[AnyLine]) -> None:
        if why := self.why_none(lines):
            raise NoneMatches(why)
