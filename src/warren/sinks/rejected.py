"""What a store will never take: parked in a file, told by reason, and not tried again."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import structlog

log = structlog.get_logger()

FILE_BYTES = 16 << 20  # then the file becomes `….1`, in place of an older one
REASONS = 20  # told apart; the rest count as others
TELL_EVERY_S = 600.0
# What differs from point to point within one and the same reason.
_VARIABLE = re.compile(r"""'[^']*'|"[^"]*"|\[[^\]]*\]|[0-9]+""")
REASON_LENGTH = 200


class Rejected:
    def __init__(self, sink: str, file: Path) -> None:
        self.file = file
        self.reasons: Counter[str] = Counter()
        self._told: dict[str, float] = {}
        self._log = log.bind(sink=sink, file=str(file))

    def park(self, points: Iterable[tuple[str, str]]) -> None:
        """Keep points, each with the store's reason."""
        points = list(points)
        self._write(points)
        for kind, count in Counter(kind_of(reason) for _, reason in points).items():
            is_told = kind in self.reasons or len(self.reasons) < REASONS
            reason = kind if is_told else "other reasons"
            self.reasons[reason] += count
            self._tell(reason, count)

    def _tell(self, reason: str, count: int) -> None:
        now = time.monotonic()
        if now - self._told.get(reason, -TELL_EVERY_S) >= TELL_EVERY_S:
            self._told[reason] = now
            self._log.warning("points were rejected and are parked", reason=reason, points=count)

    def _write(self, points: list[tuple[str, str]]) -> None:
        at = round(time.time(), 3)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists() and self.file.stat().st_size > FILE_BYTES:
                self.file.replace(self.file.with_name(f"{self.file.name}.1"))
            with self.file.open("a", encoding="utf-8") as file:
                for point, reason in points:
                    file.write(json.dumps({"at": at, "reason": reason, "point": point}) + "\n")
        except OSError as error:  # the store's "no" counts, with or without a copy
            self._log.warning("rejected points cannot be parked", problem=str(error))


def kind_of(reason: str) -> str:
    return _VARIABLE.sub("…", reason)[:REASON_LENGTH]
