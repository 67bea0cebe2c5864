"""What was found out about the first record that a group has not read, beside commits and ends.

Kept for each partition of each group, in columns of this order. An answer is about an offset, the
commit at that time, and counts as long as the group has not gone back before it:

- Nothing can be read from `offset` up to `readable`: there are only transaction markers and aborted
  records there, holes of compaction, or retention took it. With RECORD a record is at `readable`;
  without, that is where the log ended, or where an open transaction held readers back.
- `readable_by_any` is the same for readers of uncommitted data, who see aborted records too.
- With TIMED the first record there has a timestamp between `earliest_ms` and `latest_ms`, by
  whatever clock wrote it. A group that has gone on past `readable` is at a record that is not older
  than `earliest_ms`, if timestamps grow with offsets.
"""

from enum import IntFlag
from typing import NamedTuple

import numpy as np

from warren.model.arrays import Ints, Mask

FIRST_MS, LAST_MS = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # not bounded


class Known(IntFlag):
    """What an answer holds."""

    NOTHING = 0
    READ = 1  # records were read from the offset on
    RECORD = 2
    TIMED = 4
    REFUSED = 8  # the records may not be read


class Answer(NamedTuple):
    known: Known
    offset: int
    readable: int
    readable_by_any: int
    earliest_ms: int = FIRST_MS
    latest_ms: int = LAST_MS


class Targets(NamedTuple):
    """Lines of the verdicts whose first unread record is worth a look, some of all there are."""

    groups: tuple[str, ...]
    topics: tuple[str, ...]
    group: Ints  # by line: place in `groups`
    topic: Ints
    partition: Ints
    commit: Ints
    first: Ints  # from where on to look: the commit, or where something may be after it
    is_again: Mask  # the answer about an earlier commit still bounds the number
