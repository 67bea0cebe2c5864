"""`warren status --watch` on a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.command_line import of, warren
from support.waiting import eventually

WAIT_S = 60.0
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
HIDES, SHOWS = "\x1b[?25l", "\x1b[?25h"  # the cursor


class Terminal:
    """A command on a terminal of its own, and all it has written there."""

    def __init__(self, *arguments: str, **environ: str) -> None:
        ours, theirs = pty.openpty()
        self._screen = ours
        self.text = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warren", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"} | environ,
            start_new_session=True,
        )
        os.close(theirs)

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
        self.text += came.decode()
        return bool(came)

    def ended(self) -> int:
        while self._read() and self.process.poll() is None:
            pass
        return self.process.wait(WAIT_S)


@contextmanager
def terminal(*arguments: str, **environ: str) -> Iterator[Terminal]:
    made = Terminal(*arguments, **environ)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def test_it_goes_on_when_warren_is_away_and_ends_cleanly(tmp_path: Path) -> None:
    with warren(tmp_path) as server:
        url = of(server)
        with terminal("status", "--watch", "--every", "0.2", "--url", url) as screen:
            screen.wait_for("stuck")
            shown = screen.text
            server.serving.stop()
            screen.wait_for("trying again, this is the last answer")
            os.kill(screen.process.pid, signal.SIGINT)
            code = screen.ended()

    assert code == 0
    assert COLOUR.search(shown)
    assert "Traceback" not in screen.text
    assert screen.text.count(HIDES) == screen.text.count(SHOWS) > 0


def test_no_color_is_respected(tmp_path: Path) -> None:
    with (
        warren(tmp_path) as server,
        terminal("status", "--url", of(server), NO_COLOR="1") as screen,
    ):
        code = screen.ended()

    assert code == 4
    assert "stuck" in screen.text
    assert not COLOUR.search(screen.text)
