"""The windows themselves: rows of commits, oldest first."""

import numpy as np
import numpy.typing as npt

from warren.model.arrays import Bytes, Codes, Counts, Floats, Ints, Mask, Singles, UInts
from warren.model.memory import FIELDS, Memory, Past
from warren.model.window_arrays import rows_of, span
from warren.windows.row_blocks import Rows

NO_LAG = -1  # a back-filled commit: the log end of its time is unknown
PENDING_LAG = -2  # a commit that waits for its first log end

PROBED_NUMBERS = (
    "probed_offset",
    "readable",
    "readable_by_any",
    "earliest_ms",
    "latest_ms",
)

# Rows handled at once: small enough for the processor's cache, large enough to hide Python's cost.
CHUNK = 8192


class Grid(Rows):
    """A row for each window, right-aligned: the newest commit is in the last column.

    Free places on the left repeat the oldest commit. So shifting a row by one appends to it, the
    first column is always the start of the window, and rules can ignore free places.
    """

    offset: Ints
    order: Ints
    committed_ms: Ints
    lag: Ints
    observed_s: UInts
    filled: Counts  # how many commits the window holds; 0: no window
    last_ms: Ints  # when the newest commit was made, also if it was merged into an older one
    owner: Codes
    client: Codes
    last_owner: Codes  # the present owner, or the last one if there is none
    last_client: Codes
    stopped: Mask  # judged to have stopped, and no commit has come since
    written_s: Floats  # the newest commit, by our own clock; it may be later than now
    # The newest offset when the last round of log ends before the newest commit was asked for, and
    # likewise the round before that one with a commit after it; see `alignment`. 0: none.
    aligned: Ints
    aligned_s: Floats
    before: Ints
    before_s: Floats
    # As of the last round, see `paces`: the newest commit, the pace, records lost to retention.
    paced_offset: Ints
    paced_ms: Ints  # 0: none yet
    pace: Singles
    slow_pace: Singles
    lost: Ints
    lost_to: Ints  # the log start up to which they were counted

    # What was found out about the first record that can be read from an offset on: see `Probed`.
    probed: Bytes
    probed_offset: Ints
    readable: Ints
    readable_by_any: Ints
    earliest_ms: Ints
    latest_ms: Ints

    def __init__(self, intervals: int) -> None:
        wide = (intervals,)
        super().__init__(
            {
                "offset": (wide, np.int64),
                "order": (wide, np.int64),
                "committed_ms": (wide, np.int64),
                "lag": (wide, np.int64),
                "observed_s": (wide, np.uint32),
                "filled": ((), np.uint16),
                "last_ms": ((), np.int64),
                "owner": ((), np.int32),
                "client": ((), np.int32),
                "last_owner": ((), np.int32),
                "last_client": ((), np.int32),
                "stopped": ((), np.bool_),
                "written_s": ((), np.float64),
                "aligned": ((), np.int64),
                "aligned_s": ((), np.float64),
                "before": ((), np.int64),
                "before_s": ((), np.float64),
                "paced_offset": ((), np.int64),
                "paced_ms": ((), np.int64),
                "pace": ((), np.float32),
                "slow_pace": ((), np.float32),
                "lost": ((), np.int64),
                "lost_to": ((), np.int64),
                "probed": ((), np.uint8),
                **dict.fromkeys(PROBED_NUMBERS, ((), np.int64)),
                **FIELDS,
            },
            unsaved=("probed", *PROBED_NUMBERS),
        )
        self.intervals = intervals

    def clear(self, rows: Ints) -> None:
        self.clear_windows(rows)
        for of_row in (self.owner, self.client, self.last_owner, self.last_client):
            of_row[rows] = 0

    def clear_windows(self, rows: Ints) -> None:
        self.filled[rows] = 0
        self.last_ms[rows] = 0
        self.stopped[rows] = False
        self.probed[rows] = 0
        self.written_s[rows] = self.aligned_s[rows] = self.before_s[rows] = 0
        self.paced_ms[rows] = self.lost[rows] = self.lost_to[rows] = 0
        for name in FIELDS:
            getattr(self, name)[rows] = 0

    @property
    def memory(self) -> Memory:
        """The columns themselves: what is written into them is remembered."""
        return Memory._make(getattr(self, name) for name in Memory._fields)

    @property
    def past(self) -> Past:
        return Past._make(getattr(self, name) for name in Past._fields)

    def clear_before(self, rows: Ints, order: Ints) -> None:
        """Clear each row's commits before its `order`; newer commits survive an old tombstone."""
        newer = (self.order[rows] >= order[:, None]).sum(axis=1)
        left = np.minimum(newer, self.filled[rows])
        self.clear_windows(rows[left == 0])
        is_cut = (left > 0) & (left < self.filled[rows])
        for row, count in zip(rows[is_cut].tolist(), left[is_cut].tolist(), strict=True):
            first = self.intervals - count
            for array in (self.offset, self.order, self.committed_ms, self.lag, self.observed_s):
                array[row, :first] = array[row, first]
            self.filled[row] = count


def push(array: npt.NDArray[np.generic], rows: Ints, new: Ints, fresh: Mask) -> None:
    """Append `new` (rows x k) to the right of each row; an empty row repeats the first commit."""
    where, more = span(rows), new.shape[1]
    kept = array.shape[1] - more
    block = rows_of(array, where)  # of a run it is no copy
    if kept > 0:
        line_by_line = block.reshape(-1)
        line_by_line[:-more] = line_by_line[more:]  # what comes from the next line is overwritten
        block[fresh, :kept] = new[fresh, :1]
    block[:, kept:] = new
    if not isinstance(where, slice):
        _whole(array)[rows] = _whole(block)


def _whole(array: npt.NDArray[np.generic]) -> npt.NDArray[np.void]:
    """Each row as one thing, which NumPy copies faster than its parts."""
    whole: npt.NDArray[np.void] = array.view(f"V{array.itemsize * array.shape[1]}")[:, 0]
    return whole
