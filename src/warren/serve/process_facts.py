"""The pipeline's own process, in the numbers that Prometheus' clients usually give."""

import os
import time
from pathlib import Path

_STARTED_S = time.time()
_PROC = Path("/proc/self")


def process_facts() -> dict[str, float]:
    times = os.times()
    facts = {"cpu_seconds_total": times.user + times.system, "start_time_seconds": _STARTED_S}
    if _PROC.exists():
        pages = int((_PROC / "statm").read_text().split()[1])
        facts["resident_memory_bytes"] = pages * os.sysconf("SC_PAGE_SIZE")
        facts["open_fds"] = len(list((_PROC / "fd").iterdir()))
    return facts
