"""What nobody is told about, for long: silence must not be taken for health."""

from collections.abc import Iterable

import structlog

log = structlog.get_logger()

SILENT_S = 300  # before it is said


class Silence:
    """Of clusters, or of consumers: `kind` is the word for them."""

    def __init__(self, kind: str) -> None:
        self._log = log.bind(type="notifier", what=kind)
        self._judged_s: dict[str, float] = {}
        self.names: set[str] = set()

    def note(self, every: Iterable[str], judged: Iterable[str], now_s: float) -> None:
        """Of all there are, these can be judged now."""
        self._judged_s |= dict.fromkeys(judged, now_s)
        since = {name: self._judged_s.setdefault(name, now_s) for name in every}
        silent = {name for name, last_s in since.items() if now_s - last_s > SILENT_S}
        for name in sorted(silent - self.names):
            self._log.warning("cannot be read, nobody is told of its groups", name=name)
        for name in sorted(self.names - silent):
            self._log.info("is read again", name=name)
        self.names = silent
