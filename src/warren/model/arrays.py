"""The kinds of arrays that pass between stages, named once."""

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]  # offsets, lags, milliseconds, places in other arrays
UInts = npt.NDArray[np.uint32]  # seconds since 1970
Codes = npt.NDArray[np.int32]  # names by number
Counts = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]  # statuses, rules, levels
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
