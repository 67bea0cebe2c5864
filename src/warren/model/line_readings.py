"""What was read of every line of the verdicts, for its numbers: commits, log ends, starts, paces.

`windows.readings` makes it, `evaluate.measure` makes numbers of it. Moments are by our own clock.
"""

from dataclasses import dataclass
from typing import NamedTuple

from warren.model.arrays import AnyArray, Floats, Ints, Mask, Singles


class Looked(NamedTuple):
    """What a look at the records behind a commit found, for the lines that have an answer.

    Nothing can be read from `offset` up to `readable`; see `model.probe_answers`.
    """

    line: Ints  # among those of the readings
    offset: Ints  # the commit when it was looked at, or one before the newest
    readable: Ints
    readable_by_any: Ints  # the same for readers of uncommitted data
    earliest_s: Floats  # between these was the first unread record written, by its timestamp
    latest_s: Floats
    is_refused: Mask  # the records may not be read

    def of(self, some: Mask) -> "Looked":
        columns: list[AnyArray] = [*self]
        return Looked._make(column[some] for column in columns)


class Committed(NamedTuple):
    """Lines of logs with transactions, of groups that may read committed data only."""

    line: Ints  # among those of the readings
    until: Ints  # they could read so far, and perhaps further


@dataclass(frozen=True)
class Readings:
    as_of_s: Floats  # up to when the group's commits have been read
    has_commit: Mask
    commit: Ints  # the newest
    end: Ints  # the newest that was read by then
    has_end: Mask

    # The record at the commit, or at the log start if that is beyond it.
    not_yet_s: Floats  # it was not visible then; minus infinity: unknown
    visible_s: Floats  # it was visible by then; infinite: it is not visible yet
    perhaps_s: Floats  # between the two, the best guess

    # The last round of log ends before that moment, for this line.
    asked_s: Floats  # minus infinity: there was none
    end_asked: Ints  # where it shows the end
    has_asked: Mask  # and whether that is proven
    grown: Ints  # how much further the log may end as of the moment

    start: Ints
    has_start: Mask
    start_then: Ints  # as of the moment the log start was this, or beyond
    stable: Ints  # where readers of committed data stop
    is_held: Mask  # an open transaction holds them back
    start_pace: Singles  # records a second that retention takes; NaN: unknown
    lost: Ints  # or UNKNOWN
    is_stuck: Mask  # records wait, and it has committed the same offset for too long
    has_stopped: Mask  # records wait, and it has been silent for too long
    pause_s: Singles  # usual from one commit to the next, and the longest regular pause

    produced_fast: Singles  # records a second over the last minute; NaN: unknown
    produced_slow: Singles  # and over the last ten
    consumed_fast: Singles
    consumed_slow: Singles

    # Known by a policy; None: of no group.
    reads_committed: Mask | None = None

    looked: Looked | None = None  # None: at no line
    committed: Committed | None = None  # None: no line
