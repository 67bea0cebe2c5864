"""Processes that contend for the lead, and what their common journal tells."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.waiting import eventually

START_S = 120.0  # three interpreters start, on a machine that has much else to do
Event = dict[str, Any]


class Contest:
    def __init__(self, script: Path, config: Path, journal: Path) -> None:
        command = [sys.executable, str(script), str(config), str(journal)]
        path = os.pathsep.join(each for each in sys.path if each)
        environ = {**os.environ, "PYTHONPATH": path}
        self._journal = journal
        self._processes = {
            process.pid: process
            for process in (subprocess.Popen(command, env=environ) for _ in range(3))
        }

    def events(self, event: str) -> list[Event]:
        lines = self._journal.read_text().splitlines() if self._journal.exists() else []
        return [told for told in map(json.loads, lines) if told["event"] == event]

    def leader(self, *, after: float = 0.0, seconds: float = START_S) -> Event:
        """Who began to lead after a moment."""

        def newest() -> Event | None:
            begun = [event for event in self.events("leads") if event["at"] > after]
            return begun[-1] if begun else None

        found = eventually(newest, seconds=seconds)
        assert found
        return found

    def signal(self, pid: int, number: signal.Signals) -> float:
        """Send it; the moment it was sent."""
        assert pid in self._processes
        os.kill(pid, number)
        return time.monotonic()

    def end(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@contextmanager
def contest(directory: Path, config: str, script: Path) -> Iterator[Contest]:
    """Three processes of that script, which are gone when this ends."""
    (directory / "burrow.toml").write_text(config)
    contending = Contest(script, directory / "burrow.toml", directory / "journal")
    try:
        yield contending
    finally:
        contending.end()
