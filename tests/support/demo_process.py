"""`warren demo` as a process, and what is left of it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.waiting import eventually

WAIT_S = 240.0
PAGE = re.compile(r"The page: +http://127\.0\.0\.1:(\d+)")


class Demo:
    """A demo whose every file, and every process' command line, is below one folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by `demo`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warren", "demo", *arguments],
            env=os.environ | {"TMPDIR": str(folder)},
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    @property
    def said(self) -> str:
        self.output.seek(0)
        return self.output.read()

    def shown_at(self) -> int:
        """The port of its page, once that is told."""
        eventually(
            lambda: PAGE.search(self.said) or self.process.poll() is not None, seconds=WAIT_S
        )
        found = PAGE.search(self.said)
        assert found, self.said
        return int(found[1])

    def processes(self) -> dict[int, str]:
        """Command lines, by process id."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended meanwhile
                continue
            if str(self.folder) in command:
                found[int(entry.name)] = command
        return found

    def left(self) -> list[str]:
        """Files, and command lines of processes, that are still there."""
        return [str(path) for path in self.folder.iterdir()] + [*self.processes().values()]

    def ended(self) -> tuple[int, str]:
        return self.process.wait(WAIT_S), self.said

    def signal_at(self, file: str, *numbers: signal.Signals) -> tuple[int, str]:
        """Send signals as soon as a file of the demo is there; how it ended then."""
        eventually(lambda: [*self.folder.glob(f"warren-demo-*/{file}")], seconds=WAIT_S)
        for number in numbers:
            self.process.send_signal(number)
        return self.ended()


@contextmanager
def demo(folder: Path, *arguments: str) -> Iterator[Demo]:
    started = Demo(folder, *arguments)
    with started.output, started.process:
        try:
            yield started
        finally:
            started.process.kill()
