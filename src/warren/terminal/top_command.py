"""`warren top`: all groups, or one, on the whole screen, for as long as somebody looks."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.control import Control
from rich.screen import Screen

from warren.errors import GroupUnknown, Unanswered, WarrenError
from warren.terminal import group_table
from warren.terminal.ending import signals_as_ctrl_c
from warren.terminal.group_table import TableLine
from warren.terminal.keyboard import Keyboard, keyboard
from warren.terminal.questions import Answers
from warren.terminal.source import AnswerSource, open_source
from warren.terminal.top_screen import Page, Told, page
from warren.terminal.top_state import Extent, Name, TopState, press

LOOK_S = 0.2  # between two looks at what has come, and at the size of the terminal
END_S = 1.0  # a request that is under way is not waited for longer


class NoScreen(WarrenError):
    def __init__(self, why: str) -> None:
        super().__init__(f"top {why}; use `warren status`, with --watch if you like")


class Asking:
    """Requests again and again in a thread of its own, so that no key waits for an answer."""

    def __init__(self, answers: Answers, where: str, every_s: float) -> None:
        self.told = Told(where)
        self._answers, self._every_s = answers, every_s
        self._opened: Name | None = None
        self._changed = threading.Event()
        self._is_over = False

    def open(self, name: Name | None) -> None:
        """Request this group from now on, at once; None: all groups."""
        if name != self._opened:
            self._opened = name
            self.told = self.told._replace(group=None)
            self._changed.set()

    def run(self) -> None:
        while not self._is_over:
            self._changed.clear()
            opened = self._opened
            told = self._ask(opened)
            if opened == self._opened:  # else the answer is of no use any more
                self.told = told
                self._changed.wait(self._every_s)

    def end(self) -> None:
        self._is_over = True
        self._changed.set()

    def _ask(self, opened: Name | None) -> Told:
        try:
            if opened is None:
                seen = self._answers.overview()
                return self.told._replace(seen=seen, lines=group_table.lines(seen), problem="")
            group = (self._answers.group(*opened), self._answers.explain(*opened))
            return self.told._replace(group=group, problem="")
        except (Unanswered, GroupUnknown) as error:
            return self.told._replace(problem=str(error))


@contextmanager
def asking(answers: Answers, where: str, every_s: float) -> Iterator[Asking]:
    found = Asking(answers, where, every_s)
    thread = threading.Thread(target=found.run, name="top", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.end()
        thread.join(END_S)


def top(source: AnswerSource, every_s: float) -> None:
    console = Console(highlight=False)
    if not (sys.stdin.isatty() and console.is_terminal):
        raise NoScreen("needs a terminal")
    if console.is_dumb_terminal:
        raise NoScreen("cannot draw on this terminal (TERM=dumb)")
    with open_source(source) as answers, asking(answers, source.where, every_s) as found:
        try:
            with signals_as_ctrl_c(), keyboard() as keys, console.screen():
                _show(console, keys, found)
        except KeyboardInterrupt:
            return


def _show(console: Console, keys: Keyboard, found: Asking) -> None:
    state, drawn, chosen = TopState(), None, Chosen()
    while not state.is_over:
        told, size = found.told, console.size
        shown = chosen.of(told, state)
        if drawn != (told, size, state):
            drawn = (told, size, state)
            made = page(console, size, state, told, shown)
            _draw(console, made)
        for key in keys.pressed(LOOK_S):
            state = press(state, key, Extent(shown, made.body, made.scrolls))
        found.open(state.opened)


class Chosen:
    """The groups to show, chosen anew only when something is different: there may be many."""

    def __init__(self) -> None:
        self._lines: list[TableLine] = []
        self._seen: object = None
        self._choice: object = None

    def of(self, told: Told, state: TopState) -> list[TableLine]:
        seen = told.seen
        if seen is not None and (seen is not self._seen or state.choice != self._choice):
            self._lines = state.choose(seen, told.lines)
            self._seen, self._choice = seen, state.choice
        return self._lines


def _draw(console: Console, made: Page) -> None:
    console.control(Control.home())
    console.print(Screen(made.lines), end="")
