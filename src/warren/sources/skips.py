"""Records that could not be read: all of them counted, one log line for each reason and minute."""

from collections import Counter
from collections.abc import Mapping

import structlog

log = structlog.get_logger()

QUIET_S = 60.0


class Skips:
    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self._told: dict[
            str, tuple[float, int]
        ] = {}  # when a reason was logged, and the total then

    def add(self, consumer: str, reasons: Mapping[str, int], now: float) -> None:
        self.total.update(reasons)
        for reason in reasons:
            told_at, told = self._told.get(reason, (float("-inf"), 0))
            if not 0 <= now - told_at < QUIET_S:  # it may be set back
                self._told[reason] = (now, self.total[reason])
                log.warning(
                    "failed to decode",
                    type="module",
                    coordinator="consumer",
                    name=consumer,
                    reason=reason,
                    records=self.total[reason] - told,
                )
