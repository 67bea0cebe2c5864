"""The numbers that decided a word: a line for each partition that is anything but OK.

Which of them count depends on the word. `evaluate.figures` makes them; all others only read.
"""

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from warren.model.arrays import AnyArray, Ints, Singles, UInts

NO_COMMIT = -1
KINDS = (*(np.int64,) * 5, *(np.float32,) * 4, np.uint32)


class Figures(NamedTuple):
    line: Ints  # of the judgement, ascending
    commit: Ints  # the last one; NO_COMMIT: there was none
    start: Ints  # of the log
    end: Ints
    records: Ints  # that wait; LOST: that are lost; AHEAD: beyond the end; BLOCKED: held back
    late_s: Singles  # WARN: the age of the oldest unread record; NaN: of other words
    was_late_s: Singles  # WARN: when it was least late; NaN: its policy has a max-time-lag
    limit_s: Singles  # WARN: that max-time-lag; NaN: none
    rate: Singles  # STORM: generations a minute; NaN: of other words
    since_s: (
        UInts  # WARN: when it was least late; BLOCKED: the end is held back; STALE: it was read
    )

    @classmethod
    def join(cls, parts: Sequence["Figures"]) -> "Figures":
        if not parts:
            return cls._make(np.zeros(0, kind) for kind in KINDS)
        return cls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def of(self, line: int) -> "LineFigures | None":
        at = int(np.searchsorted(self.line, line))
        if at == len(self.line) or int(self.line[at]) != line:
            return None
        columns: list[AnyArray] = [*self[1:]]
        return LineFigures._make(_known(column[at].item()) for column in columns)

    def of_lines(self, lines: slice) -> "dict[int, LineFigures]":
        """Of those of some lines that have any."""
        begin, end = np.searchsorted(self.line, [lines.start, lines.stop]).tolist()
        columns: list[AnyArray] = [*self[1:]]
        rows = zip(*(column[begin:end].tolist() for column in columns), strict=True)
        found = (LineFigures._make(map(_known, row)) for row in rows)
        return dict(zip(self.line[begin:end].tolist(), found, strict=True))


class LineFigures(NamedTuple):
    """Of one line; None: it does not count."""

    commit: int | None
    start: int
    end: int
    records: int
    late_s: float | None
    was_late_s: float | None
    limit_s: float | None
    rate: float | None
    since_s: int


def _known(value: float) -> float | None:
    return None if isnan(value) or value == NO_COMMIT else value
