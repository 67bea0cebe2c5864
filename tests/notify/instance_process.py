"""A process that notifies, with no pipeline behind its boards.

    python instance_process.py CONFIG JOURNAL

The status of the only group is in a file beside the configuration. The journal tells when this
instance leads.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

from notify.sample_verdicts import board_of, statuses

from warren.config import load
from warren.model.board import Board
from warren.model.status import Status
from warren.services import Lock, notifiers

GLANCE_S = 0.02


def board(status: Path) -> Board:
    verdicts = statuses({"billing": Status[status.read_text()]})
    return board_of({"local": verdicts}, int(time.time() * 1000))


def tell_leading(lock: Lock, journal: int) -> None:
    led = False
    while True:
        leads = bool(lock.health()["leads"])
        if leads != led:
            event = {"pid": os.getpid(), "event": "leads" if leads else "ceased"}
            os.write(journal, json.dumps(event | {"at": time.monotonic()}).encode() + b"\n")
        led = leads
        time.sleep(GLANCE_S)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    journal = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    lock, *others = notifiers(load(path, {}).config, lambda: board(path.with_name("status")))
    for each in (lock, *others):
        threading.Thread(target=each.run, args=(threading.Event(),), daemon=True).start()
    assert isinstance(lock, Lock)
    tell_leading(lock, journal)
