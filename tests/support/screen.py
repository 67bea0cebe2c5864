"""A command on a terminal of its own: what it draws there, keys, and what it leaves behind."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from support.waiting import eventually

WAIT_S = 60.0
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
HIDES, SHOWS = "\x1b[?25l", "\x1b[?25h"  # the cursor
ENTERS, LEAVES = "\x1b[?1049h", "\x1b[?1049l"  # the screen that is for full-screen programs
SIZELESS = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
HOME = "\x1b[H"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[@-~]")


class Terminal:
    """A command on a terminal of its own, and all it has written there."""

    def __init__(self, *arguments: str, **environ: str) -> None:
        ours, self._theirs = pty.openpty()
        self._screen = ours
        self.resize(100, 30)
        self.settings = self.read_settings()
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warren", *arguments],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=SIZELESS | {"TERM": "xterm"} | environ,
            start_new_session=True,
        )

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_settings(self) -> list[Any]:
        """How the terminal treats input and output."""
        return termios.tcgetattr(self._theirs)

    def press(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    @property
    def lines(self) -> list[str]:
        """What a full-screen program has drawn last, whole."""
        *_, last = self.text.split(HOME)
        return [line.rstrip() for line in CONTROL.sub("", last).splitlines()]

    def wait_until(self, is_so: Callable[[list[str]], object]) -> None:
        """Until the screen that is drawn last is like that."""
        eventually(
            lambda: self._read() and bool(is_so(self.lines)),
            seconds=WAIT_S,
            more=lambda: "\n".join(self.lines),
        )

    def wait_for(self, words: str) -> None:
        def is_shown() -> bool:
            return words in self.text or (self._read() and words in self.text)

        eventually(is_shown, seconds=WAIT_S, more=lambda: f"{words!r} in {self.text!r}")

    def _read(self) -> bool:
        """Take in what has come; False at the end."""
        if not select.select([self._screen], [], [], 0.2)[0]:
            return True
        try:
            came = os.read(self._screen, 65_536)
        except OSError:  # how a terminal says that nobody is left on it
            return False
        self.text += self._decoder.decode(came)
        return bool(came)

    def ended(self) -> int:
        while self.process.poll() is None:
            self._read()
        while select.select([self._screen], [], [], 0)[0]:
            self._read()
        return self.process.wait(WAIT_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self._screen, self._theirs):
            os.close(end)


@contextmanager
def terminal(*arguments: str, **environ: str) -> Iterator[Terminal]:
    made = Terminal(*arguments, **environ)
    try:
        yield made
    finally:
        made.close()
