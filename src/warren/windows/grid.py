"""The windows themselves: rows of commits, oldest first."""

import numpy as np
import numpy.typing as npt

from warren.model.arrays import Codes, Counts, Ints, Mask, UInts
from warren.model.window_arrays import span
from warren.windows.row_blocks import Rows

NO_LAG = -1  # a back-filled commit: the log end of its time is unknown
PENDING_LAG = -2  # a commit that waits for its first log end

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
    stopped: Mask  # judged to have stopped, and no commit has come since

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
                "stopped": ((), np.bool_),
            }
        )
        self.intervals = intervals

    def clear(self, rows: Ints) -> None:
        self.clear_windows(rows)
        self.owner[rows] = 0
        self.client[rows] = 0

    def clear_windows(self, rows: Ints) -> None:
        self.filled[rows] = 0
        self.last_ms[rows] = 0
        self.stopped[rows] = False

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
    width, more = array.shape[1], new.shape[1]
    where = span(rows)
    block = np.empty((len(rows), width), array.dtype)
    if more < width:
        block[:, : width - more] = array[where, more:]
        block[fresh, : width - more] = new[fresh, :1]
    block[:, width - more :] = new
    array[where] = block
