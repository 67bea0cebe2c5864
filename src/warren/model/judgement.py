"""What Warren says of a partition beyond Burrow: its words, and the evidence for each.

`evaluate.word_rules` decides; all others only read. Both evaluators judge every partition at
every tick: the configured one decides what `/v3`, notifiers, metrics and history say, and the other
is the second opinion.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from warren.model.arrays import Bytes, Ints, Mask, Singles, UInts
from warren.model.figures import Figures
from warren.model.grounds import Grounds, LineSettings
from warren.model.status import Status


class Word(IntEnum):
    """Of several that hold, the greatest is said."""

    OK = 0
    NEVER = 1  # a member holds the partition, or a policy names it, and nothing was ever committed
    LEFT = 2  # there are members, and none of them subscribes to the topic any more
    BLOCKED = 3  # all that readers of committed data may see is read; a transaction holds the rest
    WARN = 4  # it reads slower than the log grows, or is later than its policy allows
    STALL = 5  # it commits, the offset does not move, and records wait
    REWIND = 6  # it went back, and is not yet where it was
    STOP = 7  # records wait, and it has been silent for longer than its rhythm explains
    STORM = 8  # generations follow each other, and nothing is committed
    LOST = 9  # retention took records that the group had not read
    AHEAD = 10  # the commit lies beyond the log end
    STALE = 11  # our own data are too old to say anything


# What Burrow's clients are told; of STALE they are told the last word before it.
STATUS_OF_WORD = np.full(len(Word), Status.OK, np.uint8)
STATUS_OF_WORD[Word.BLOCKED] = STATUS_OF_WORD[Word.WARN] = Status.WARN
STATUS_OF_WORD[Word.STALL] = STATUS_OF_WORD[Word.STORM] = Status.STALL
STATUS_OF_WORD[Word.REWIND] = STATUS_OF_WORD[Word.AHEAD] = Status.REWIND
STATUS_OF_WORD[Word.STOP] = STATUS_OF_WORD[Word.LOST] = Status.STOP

# The words that open an incident unless a policy says otherwise; a transaction's time-out first.
PAGES = frozenset(
    {
        Word.WARN,
        Word.STALL,
        Word.REWIND,
        Word.STOP,
        Word.STORM,
        Word.LOST,
        Word.AHEAD,
        Word.BLOCKED,
    }
)
TRANSACTION_TIMEOUT_S = 900  # transaction.max.timeout.ms of a broker, unless it is configured


@dataclass(frozen=True)
class Judgement:
    """A line for each of `Verdicts.partitions`, and then a line for each of its groups."""

    word: Bytes  # a `Word`
    before: Bytes  # the last word that was not STALE
    since_s: UInts  # since when `before` has been said
    burrow: Bytes  # the `Status` by Burrow's rules
    silent_s: Singles  # since the last commit, while records wait; 0: none do
    held_s: Singles  # since the offset moved last, while records wait
    limit_s: Singles  # how long its rhythm explains either; beyond, it is STOP or STALL
    longest_pause_s: Singles  # the longest regular pause; 0: not known yet
    period_s: Singles  # between the beginnings of its runs; 0: it has none
    usual_gap_s: Singles  # between two commits; 0: not known
    former: Ints  # the highest offset it had committed

    group_word: Bytes  # the greatest of its partitions'
    group_burrow: Bytes  # the `Status` of the group by Burrow's rules
    pages: Bytes  # the `Status` that opens incidents; OK: nobody is paged
    figures: Figures  # that decided, of the lines whose word is not OK
    alarm: Bytes | None = None  # the same of each line; None: on boards that were read from a file
    decides: bool = False  # else Burrow's rules do, and this is the second opinion
    grounds: Grounds | None = None  # None, as the settings: likewise
    settings: LineSettings | None = None

    @property
    def differs(self) -> Mask:
        """The partitions of which the two evaluators say different things to Burrow's clients."""
        mask: Mask = STATUS_OF_WORD[self.before] != self.burrow
        return mask
