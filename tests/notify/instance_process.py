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
from warren.services import Lock, NotifierServices

GLANCE_S = 0.02


def board(status: Path) -> Board:
    verdicts = statuses({"billing": Status[status.read_text()]})
    return board_of({"local": verdicts}, int(time.time() * 1000))


def tell_leading(lock: Lock, journal: int) -> None:
    led = False
    while True:
        leads = lock.health().leads
        if leads != led:
            event = {"pid": os.getpid(), "event": "leads" if leads else "ceased"}
            os.write(journal, json.dumps(event | {"at": time.monotonic()}).encode() + b"\n")
        led = leads
        time.sleep(GLANCE_S)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    journal = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    services = NotifierServices(load(path, {}).config, lambda: board(path.with_name("status")))
    for each in services:
        threading.Thread(target=each.run, args=(threading.Event(),), daemon=True).start()
    tell_leading(services.lock, journal)
