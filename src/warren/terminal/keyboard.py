"""Keys as they are pressed, and a terminal that is afterwards as it was."""

import codecs
import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

KEYS = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[D": "left",
    "\x1b[5~": "pgup",
    "\x1b[6~": "pgdn",
    "\x1b[H": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1b[4~": "end",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\b": "backspace",
}
PRESSED = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1bO[@-~]|[\s\S]")
UNFINISHED = re.compile(r"\x1b([\[O][0-9;?]*)?\Z")
REST_S = 0.05  # in which the rest of a key comes, if it is not the Escape key
SUSPEND, QUIT = termios.VSUSP, termios.VQUIT


class Keyboard:
    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pressed(self, wait_s: float) -> list[str]:
        """The keys that were pressed, waiting for the first; "q" if nobody is there any more."""
        text = self._read(wait_s)
        if UNFINISHED.search(text):
            text += self._read(REST_S)
        # What some terminals send for arrows in their other mode.
        keys = (key.replace("\x1bO", "\x1b[") for key in PRESSED.findall(text))
        return [KEYS.get(key, key) for key in keys]

    def _read(self, wait_s: float) -> str:
        if not select.select([self._terminal], [], [], wait_s)[0]:
            return ""
        data = os.read(self._terminal, 4096)
        return self._decoder.decode(data) if data else "q"


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """Read keys one by one and unseen; Ctrl-C works, Ctrl-Z would leave the screen behind."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        now = termios.tcgetattr(terminal)
        now[6][SUSPEND] = now[6][QUIT] = b"\0"
        termios.tcsetattr(terminal, termios.TCSANOW, now)
        yield Keyboard(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
