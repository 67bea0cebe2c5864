"""`warren demo` as a process: what it shows, and that nothing of it is left."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warren.demo.groups import GROUPS

WAIT_S = 240.0
ROW = re.compile(r"^│ (\S+) +│ [^│]+ │ (\w+) +│ (\w+) +│ (\d+) s +│$", re.MULTILINE)


class Demo:
    """A demo whose every file, and every process' command line, is below one folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warren", "demo", *arguments],
            env=os.environ | {"TMPDIR": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def left(self) -> list[str]:
        """Files, and command lines of processes, that are still there."""
        found = [str(path) for path in self.folder.iterdir()]
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended meanwhile
                continue
            if str(self.folder) in command:
                found.append(command)
        return found

    def ended(self) -> tuple[int, str]:
        said, _ = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, said

    def signal_at(self, file: str, *numbers: signal.Signals) -> tuple[int, str]:
        """Send signals as soon as a file of the demo is there; how it ended then."""
        wait_for(lambda: [*self.folder.glob(f"warren-demo-*/{file}")])
        for number in numbers:
            self.process.send_signal(number)
        return self.ended()


def wait_for(look: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def demo(folder: Path, *arguments: str) -> Iterator[Demo]:
    started = Demo(folder, *arguments)
    with started.process:
        try:
            yield started
        finally:
            started.process.kill()


def test_every_group_gets_the_status_it_stands_for_and_nothing_is_left(tmp_path: Path) -> None:
    with demo(tmp_path, "--for", "20", "--partitions", "2", "--groups", "20") as started:
        code, said = started.ended()
        left = started.left()

    came_out = {group: (expected, status) for group, expected, status, _ in ROW.findall(said)}
    assert came_out == {group.name: (group.expected, group.expected) for group in GROUPS}, said
    assert "The page:  http://127.0.0.1:" in said
    assert "of 19 groups" in said  # one was deleted
    assert code == 0
    assert left == []


def test_a_signal_while_it_starts_undoes_what_was_begun(tmp_path: Path) -> None:
    with demo(tmp_path) as started:
        code, said = started.signal_at("broker/broker.log", signal.SIGTERM)
        left = started.left()

    assert (code, said) == (0, "Stopped before it was up.\n")
    assert left == []


def test_a_second_ctrl_c_leaves_at_once_and_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path) as started:
        code, said = started.signal_at("broker/broker.log", signal.SIGINT, signal.SIGINT)
        # Who watches over the demo ends a moment after it.
        wait_for(lambda: not started.left())

    assert "Traceback" not in said
    assert code in {0, 128 + signal.SIGINT}  # both may have come as one
