"""What Warren says in numbers beside a verdict: lag, age, and what will be, each with its bounds.

The truth lies between `low` and `high`; the number without an ending is the best guess in between.
Counts that are not known are UNKNOWN, seconds that are not known are NaN; infinite seconds mean
never. `evaluate.measure` makes them; all others only read them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from warren.model.arrays import Bytes, Ints, Singles

UNKNOWN = -1


class Method(IntEnum):
    """How the age of the oldest unread record is known."""

    NOTHING_UNREAD = 0  # the age is 0
    BY_ENDS = 1  # from when the log ends were read, by our own clock
    BY_CLOCK = 2  # from timestamps of records, which trusts their producers' clocks
    UNKNOWN = 3


class Lack(IntEnum):
    """Why a number is missing, or only bounded on one side; a mask of bits."""

    NOTHING = 0
    NO_END = 1  # no broker has given the log end
    NO_START = 2  # no broker has given the log start
    NO_CONFIG = 4  # the topic's configuration may not be read: retention is unknown
    NO_RECORDS = 8  # records may not be read: markers count as records
    COMPACTED = 16  # the next record may be far younger than the age says
    NO_HISTORY = 32  # older than the log ends that we remember
    NO_COMMIT = 64  # nothing was ever committed: the lag is the whole backlog


IN_WORDS: Mapping[Lack, str] = MappingProxyType(
    {
        Lack.NO_END: "no broker has given the log end",
        Lack.NO_START: "no broker has given the log start",
        Lack.NO_CONFIG: "the topic's configuration may not be read, so its retention is unknown",
        Lack.NO_RECORDS: "records may not be read, so transaction markers count as records",
        Lack.COMPACTED: "the topic is compacted: unread records may be fewer, and far younger",
        Lack.NO_HISTORY: "it is older than the log ends that are remembered",
        Lack.NO_COMMIT: "nothing was ever committed, so the lag is the whole backlog",
    }
)


def reasons(lack: int) -> list[str]:
    """Why numbers are missing or one-sided, in words for people."""
    return [words for bit, words in IN_WORDS.items() if lack & bit]


@dataclass(frozen=True)
class PartitionNumbers:
    """A line for each line of `Verdicts.partitions`."""

    lag: Ints
    lag_low: Ints
    lag_high: Ints
    age_s: Singles
    age_low_s: Singles
    age_high_s: Singles
    age_method: Bytes  # a `Method`
    produced: Singles  # records a second that the log grows by
    consumed: Singles  # records a second that the group commits
    drain_low_s: Singles  # until everything is read at the present pace; infinite: never
    drain_high_s: Singles
    margin_s: Singles  # until retention reaches the commit as both go on; infinite: it will not
    lost: Ints  # records that retention took before the group had read them
    lack: Bytes  # bits of `Lack`


@dataclass(frozen=True)
class GroupNumbers:
    """A line for each group: the worst of its partitions, and sums of lags and losses."""

    lag: Ints
    lag_low: Ints
    lag_high: Ints
    age_s: Singles
    age_low_s: Singles
    age_high_s: Singles
    age_method: Bytes  # of the partition with the greatest age
    age_line: Ints  # that partition's line
    produced: Singles
    consumed: Singles
    drain_low_s: Singles
    drain_high_s: Singles
    margin_s: Singles
    lost: Ints
    scalable_lag: Ints  # what another member could help with
    expires_s: Singles  # until the brokers forget the first of its offsets; infinite: never


@dataclass(frozen=True)
class Numbers:
    partitions: PartitionNumbers
    groups: GroupNumbers
