"""Where the demo keeps everything, its configuration, and how all of it is removed."""

import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from warren.config import Config, load
from warren.process.signals import STOPPING

USUAL_PORT = 8000
CONFIGURATION = """
[logging]
filename = "{directory}/warren.log"
[spark]
master = "local[2]"
driver-memory = "1g"
[spark.conf]
"spark.driver.extraJavaOptions" = "{java_options}"
[cluster.demo]
class-name = "kafka"
servers = ["{bootstrap}"]
offset-refresh = 1
topic-refresh = 5
[consumer.demo]
class-name = "kafka"
cluster = "demo"
servers = ["{bootstrap}"]
[storage.default]
class-name = "inmemory"
group-denylist = "^burrow-"  # its own reading is none of the stories
[httpserver.default]
address = "127.0.0.1:{port}"
[history]
directory = "{directory}/history"
history-interval = 10
"""


def configure(home: Path, bootstrap: str, port: int | None, java_options: list[str]) -> Config:
    file = home / "burrow.toml"
    text = CONFIGURATION.format(
        directory=home,
        bootstrap=bootstrap,
        port=(USUAL_PORT if _is_free(USUAL_PORT) else 0) if port is None else port,
        java_options=" ".join(java_options),
    )
    file.write_text(text)
    return load(file, {}).config


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


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
