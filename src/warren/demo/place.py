"""The demo's directory, its configuration, and their removal."""

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
from warren.demo.spark_jobs import CHECKPOINTS
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
[consumer.spark]
class-name = "spark_checkpoint"
cluster = "demo"
locations = ["file:{directory}/{checkpoints}"]
[storage.default]
class-name = "inmemory"
group-denylist = "^burrow-"  # its own progress is not part of the demo
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
        checkpoints=CHECKPOINTS,
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


# Waits for our end of the pipe to close, which happens even when we are killed. Then removes the
# directory, again and again while a process that ends later still writes there.
WATCHDOG = """
read -r _
for _ in $(seq 100); do rm -rf -- "$1"; sleep 0.1; [ -e "$1" ] || exit; done
"""


@contextmanager
def directory(*, keep: bool) -> Iterator[Path]:
    """The demo's own directory, also for the temporary files of its processes."""
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
        start_new_session=True,  # so that Ctrl-C does not reach it
    )


@contextmanager
def interruptible() -> Iterator[None]:
    """Let a stopping signal interrupt the start at once.

    The signal is passed on first, so that a second Ctrl-C exits without waiting for the clean-up.
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
        if callable(below):  # under `nohup` SIGHUP is ignored: leave it so
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, below in before.items():
            signal.signal(number, below)
