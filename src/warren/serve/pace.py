"""While the pipeline catches up, answers may take little of the machine: it needs all cores then.

The workers have the higher priority, so that few requests are answered at once; many would take the
processor from the pipeline for as long as they come. So time is cut into slices: when answering has
used up its part of one, the next answers wait for the next.
"""

import os
import time

WORKERS = 2
SHARE = 0.1  # of all cores, for all workers
SLICE_S = 0.01


class Pace:
    """One worker's; used by one event loop."""

    def __init__(self, share: float | None = None) -> None:
        """`share` is of one core."""
        self._part_s = SLICE_S * (share or SHARE * (os.cpu_count() or 1) / WORKERS)
        self._ends = 0.0
        self._worked = 0.0

    def pause(self, now: float) -> float:
        """Seconds to wait before asking again; 0: go on."""
        if now >= self._ends:
            self._ends, self._worked = now + SLICE_S, time.process_time()
            return 0.0
        is_used_up = time.process_time() - self._worked >= self._part_s
        return self._ends - now if is_used_up else 0.0
