"""Where the demo keeps everything, and how it is gone however the demo ends."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from warren.process.signals import STOPPING

# Waits for our side of the pipe to close, which it does even when we are killed; then removes what
# is left, for as long as somebody who dies more slowly goes on writing there.
WATCHDOG = """
read -r _
for _ in $(seq 100); do rm -rf -- "$1"; sleep 0.1; [ -e "$1" ] || exit; done
"""


@contextmanager
def directory(*, keep: bool) -> Iterator[Path]:
    """A directory of the demo's own, also for the temporary files of all it starts."""
    made = Path(tempfile.mkdtemp(prefix="warren-demo-"))
    (made / "tmp").mkdir()
    watchdog = None if keep else _watch(made)
    before, tempfile.tempdir = tempfile.tempdir, str(made / "tmp")
    try:
        yield made
    finally:
        tempfile.tempdir = before
        shutil.rmtree(made / "tmp" if keep else made, ignore_errors=True)
        if watchdog is not None:
            watchdog.communicate()


def _watch(made: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603  our own command
        ["/bin/sh", "-c", WATCHDOG, "sh", str(made)],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us, not for it
    )


@contextmanager
def interruptible() -> Iterator[None]:
    """While something starts, a stopping signal undoes it at once instead of waiting for its end.

    The signal is passed on first, so that a second Ctrl-C leaves without waiting for the undoing.
    """
    before = {number: signal.getsignal(number) for number in STOPPING}
    is_raised = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal is_raised
        below = before[signal.Signals(number)]
        if callable(below):
            below(number, frame)
        if not is_raised:
            is_raised = True
            raise KeyboardInterrupt

    for number, below in before.items():
        if callable(below):  # `nohup` ignores SIGHUP for us, and that is meant
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, below in before.items():
            signal.signal(number, below)
