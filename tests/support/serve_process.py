"""`warren serve` as a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.monitor import Site
from support.waiting import eventually

PORT_LINE = re.compile(r'"msg":"listening for HTTP".*"url":"([^"]+)"')
HTTP = '[httpserver.default]\naddress = "127.0.0.1:{port}"\n'
FEW_CORES = '[spark]\nmaster = "local[2]"\ndriver-memory = "512m"\n'


class Served:
    """A `warren serve` in a folder of its own, with its output in files there."""

    def __init__(self, folder: Path, config: str) -> None:
        self.folder = folder
        where = "" if "[spark]" in config else FEW_CORES
        (folder / "burrow.toml").write_text(where + config)
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "warren", "serve"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                # In a group of its own: whatever is left of it is found there.
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text()

    @property
    def site(self) -> Site:
        eventually(lambda: bool(PORT_LINE.search(self.out)), expected=True)
        found = PORT_LINE.search(self.out)
        assert found
        return Site(found[1])

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def left(self) -> list[str]:
        """The command lines of processes that it started and that still run."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended meanwhile
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.append(command)
        return found


@contextmanager
def served(folder: Path, config: str) -> Iterator[Served]:
    started = Served(folder, config)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            os.killpg(started.process.pid, signal.SIGKILL)
        started.process.wait()
