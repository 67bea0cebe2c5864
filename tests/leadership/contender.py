"""A process that wants to lead: `contender.py CONFIG JOURNAL`.

It writes a line to the journal when it begins to lead, with what it found, and when it ceases to.
While it leads it saves an entry of its own again and again.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

from warren.config import load
from warren.errors import LeadershipLost
from warren.leadership.leadership import Leadership, leadership

GLANCE_S = 0.01


class Contender:
    def __init__(self, lock: Leadership, journal: int) -> None:
        self._lock = lock
        self._journal = journal

    def run(self) -> None:
        while True:
            if self._lock.leads:
                try:
                    self._lead()
                except LeadershipLost as error:
                    self._tell("lost", reason=str(error))
            time.sleep(GLANCE_S)

    def _lead(self) -> None:
        began = time.monotonic()
        found = self._lock.load()
        self._lock.save({f"leader {os.getpid()}": b"was here"})
        self._tell("leads", began=began, found=sorted(found))
        last = time.monotonic()
        while self._lock.leads:
            if time.monotonic() - last > 1 and self._lock.leads:
                self._tell("woke up leading")
            last = time.monotonic()
            self._lock.save({"beat": f"{os.getpid()} {last}".encode()})
            time.sleep(GLANCE_S)
        self._tell("ceased", seen_leading=last)

    def _tell(self, event: str, **facts: object) -> None:
        line = json.dumps({"pid": os.getpid(), "event": event, "at": time.monotonic(), **facts})
        os.write(self._journal, line.encode() + b"\n")


if __name__ == "__main__":
    config = load(Path(sys.argv[1]), {}).config
    lock = leadership(config)
    threading.Thread(target=lock.run, args=(threading.Event(),), daemon=True).start()
    journal = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    Contender(lock, journal).run()
