"""A long period of one group, of which Spark reads a part at a time: so it is known how far it is.

A page that waits for a week is told so. The answer is the same as of the whole period at once.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import pyarrow as pa

from warren.history.group_history import COLUMNS, step_of
from warren.history.memory_queries import InMemory, worst_lines
from warren.history.spark_queries import InSpark
from warren.model.history_question import Progress
from warren.model.period import Period

PARTS = 4
Tell = Callable[[Progress], None]


class InParts:
    """Groups have few rows, which are read at once; lines of the heat map have many."""

    def __init__(self, rows: InSpark, period: Period, tell: Tell, *, with_lines: bool) -> None:
        self._rows = rows
        self._parts = [rows.between(each) for each in parts_of(period)]
        self._tell = tell
        self._readings = 1 + with_lines * (1 + len(self._parts))
        self._read, self._moments = 0, 0

    def together(self, topic: str, partition: int | None) -> InMemory:
        return self._in_memory(self._rows.together(topic, partition))

    def steps(self, since_ms: int, step_ms: int) -> pa.Table:
        return self._groups.steps(since_ms, step_ms)

    def incidents(self) -> pa.Table:
        return self._groups.incidents()

    def heat(self, lines: int, since_ms: int, step_ms: int) -> tuple[int, pa.Table]:
        total, worst = worst_lines(self._note(self._rows.greatest_lags()), lines)
        parts = [self._note(part.steps_of(worst, since_ms, step_ms)) for part in self._parts]
        return total, pa.concat_tables(parts)

    @cached_property
    def _groups(self) -> InMemory:
        return self._in_memory(self._rows)

    def _in_memory(self, rows: InSpark) -> InMemory:
        found = rows.group_rows()
        self._moments = len(found)
        return InMemory(self._note(found))

    def _note(self, found: pa.Table) -> pa.Table:
        self._read += 1
        self._tell(Progress(round(self._read / self._readings, 2), self._moments))
        return found


def parts_of(period: Period) -> Sequence[Period]:
    """They begin where columns of the heat map do, so that no column is in two of them."""
    length = step_of(period, COLUMNS) * -(-COLUMNS // PARTS)
    begins = range(period.since_ms, period.until_ms, length)
    ends = [*(each - 1 for each in begins[1:]), period.until_ms]
    return [Period(*each) for each in zip(begins, ends, strict=True)]
