"""The commits of every window in a file that only grows: each board adds the windows that changed.

A board of a million partitions has ten million commits, and a second later a few thousand of them
are new. So each window is written once, and boards refer to its place. When much of the file is
outdated, a new file begins; a worker that still reads the old one keeps it.
"""

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from warren.model.arrays import Ints
from warren.model.board import SharedFile, StoredWindows
from warren.model.window_arrays import WindowArrays
from warren.serve.board_file.packed_arrays import map_file

Marks = npt.NDArray[np.uint64]
Windows = npt.NDArray[Any]  # of `layout`

CHUNK = 16_384  # windows written at once
SPARE = 65_536  # so many outdated windows are tolerated before a new file


def layout(intervals: int) -> np.dtype[np.void]:
    """A window: its commits as in WindowArrays, oldest first, unused places on the left."""
    return np.dtype(
        [
            ("offset", "<i8", (intervals,)),
            ("committed_ms", "<i8", (intervals,)),
            ("lag", "<i8", (intervals,)),
            ("observed_s", "<u4", (intervals,)),
        ]
    )


def read(fd: int, intervals: int) -> Windows:
    """Only whole windows: the next one may be half written."""
    memory, kind = map_file(fd), layout(intervals)
    return np.frombuffer(memory, kind, len(memory) // kind.itemsize)


class CommitsFile:
    """The windows of one cluster."""

    def __init__(self) -> None:
        self._source: Ints = np.zeros((0, 0), np.int64)
        # By row: a number that changes whenever the window does, and where it is in the file.
        self._mark: Marks = np.zeros(0, np.uint64)
        self._place: Ints = np.zeros(0, np.int64)
        self._begin(self._source)

    def store(self, arrays: WindowArrays) -> StoredWindows:
        """Write what changed since the last call. No commits may be folded meanwhile."""
        live = int(np.count_nonzero(arrays.filled))
        is_outdated = self._size > live + live // 2 + SPARE
        if self._source is not arrays.order or is_outdated:
            self._begin(arrays.order)
        mark = _marks(arrays)
        changed = np.flatnonzero((mark != self._mark) & (arrays.filled > 0))
        self._place[changed] = self._size + np.arange(len(changed))
        self._append(arrays, changed)
        self._mark = mark
        place = np.where(arrays.filled > 0, self._place, -1)[arrays.rows]
        return StoredWindows(self._file, arrays.order.shape[1], place.astype(np.int32))

    def _begin(self, source: Ints) -> None:
        self._file = SharedFile()
        self._size = 0
        self._source = source  # when windows move to other rows, the arrays are new ones
        self._mark = np.zeros(len(source), np.uint64)
        self._place = np.full(len(source), -1, np.int64)

    def _append(self, arrays: WindowArrays, rows: Ints) -> None:
        dtype = layout(arrays.order.shape[1])
        with os.fdopen(self._file.fd, "ab", closefd=False) as file:
            for start in range(0, len(rows), CHUNK):
                some = rows[start : start + CHUNK]
                windows = np.empty(len(some), dtype)
                for name in dtype.names or ():
                    windows[name] = getattr(arrays, name)[some]
                file.write(windows.view(np.uint8).data)
        self._size += len(rows)


def _marks(arrays: WindowArrays) -> Marks:
    """A number for each window, which changes whenever the window does.

    A window changes when it takes in a commit. That commit's order is greater than the order of the
    commit that drops out, so with the same number of commits the sum of the orders grows.
    """
    orders: Marks = np.einsum("ij->i", arrays.order).view(np.uint64)
    return orders * np.uint64(2**16) + arrays.filled
