"""The same again and again, in place on a terminal and one after the other elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from warren.errors import Unanswered
from warren.terminal.ending import as_ctrl_c

Draw = Callable[[], RenderableType]


def watch(console: Console, every_s: float, draw: Draw) -> None:
    """Draw until Ctrl-C; who does not answer for a while is told about, and asked again."""
    with _until_interrupted():
        if console.is_terminal:
            _in_place(console, every_s, draw)
        else:
            _one_after_the_other(console, every_s, draw)


def _in_place(console: Console, every_s: float, draw: Draw) -> None:
    last: RenderableType = Text()
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            try:
                last = draw()
                live.update(last, refresh=True)
            except Unanswered as error:
                lost = Text(f"{error}; asked again, this is the last answer", style="red")
                live.update(Group(lost, last), refresh=True)
            time.sleep(every_s)


def _one_after_the_other(console: Console, every_s: float, draw: Draw) -> None:
    while True:
        try:
            console.print(draw(), soft_wrap=True)
        except Unanswered as error:
            click.echo(f"warren: {error}; asked again", err=True)
        time.sleep(every_s)


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Then the cursor is shown again, and what was started ends."""
    try:
        with as_ctrl_c():
            yield
    except KeyboardInterrupt:
        return
