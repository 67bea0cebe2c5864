"""What the demo prints: its steps, the box with things to try, and the summary."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.box import ROUNDED
from rich.console import Console, Group
from rich.panel import Panel
from rich.status import Status
from rich.table import Table
from rich.text import Text

from warren.demo.demo_groups import GONE, GROUPS
from warren.demo.spark_jobs import JOBS
from warren.process.beside import beside
from warren.serve.v4.shapes import Overview
from warren.terminal import group_table, words
from warren.terminal.group_choice import Filter

WIDE = 120  # columns without a terminal: no line of ours is longer
LOOK_S = 0.5  # between two updates of a step's progress
ROOM = 14  # lines of the terminal that the box and the prompt take


def console() -> Console:
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=WIDE)


@contextmanager
def step(console: Console, doing: str, how_far: Callable[[], str] | None = None) -> Iterator[None]:
    """Show a step and its progress, then how long it took."""
    began = time.monotonic()
    with console.status(f"{doing} ...") as status, _repeated(status, doing, how_far):
        yield
    took = time.monotonic() - began
    console.print(Text.assemble(("  ok  ", "green"), f"{doing} ", (f"({took:.1f} s)", "dim")))


@contextmanager
def _repeated(status: Status, doing: str, how_far: Callable[[], str] | None) -> Iterator[None]:
    if how_far is None:
        yield
        return

    def update(over: threading.Event) -> None:
        while not over.wait(LOOK_S):
            status.update(f"{doing}: {how_far()} ...")

    with beside("progress", update):
        yield


def box(url: str, home: Path, *, keep: bool) -> Panel:
    left = f"{home} is kept" if keep else "nothing is left behind"
    lines = Group(
        Text.assemble("The page:  ", (url, "bold")),
        Text(),
        Text("Three things to try:"),
        Text(f"  1. Open {url} and choose a group to see why it has its status"),
        Text(f"  2. curl {url}/v3/kafka/demo/consumer/stalled/status"),
        Text(f"  3. ./warren top --url {url}"),
        Text(),
        Text(f"Log: {home / 'warren.log'}", style="dim"),
        Text(f"Ctrl-C ends the demo; {left}.", style="dim"),
    )
    return Panel(lines, box=ROUNDED, title="Warren is judging", expand=False, padding=(1, 2))


def table(seen: Overview, console: Console) -> Group:
    """The groups, as many as there is room for."""
    lines = Filter().choose(group_table.lines(seen))
    shown = group_table.render(seen, lines, console.width, max(console.height - ROOM, 5))
    return Group(Text(), shown)


class Outcome:
    """The status of each of the twelve groups and the Spark jobs; when it had the expected one."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._reached_s: dict[str, float] = {}
        self._known: set[str] = set()
        self._now: Mapping[str, str] = {}

    def see(self, seen: Overview, now: float) -> None:
        """Note the statuses of a board."""
        self._now = {
            group: status
            for cluster in seen.clusters
            for group, status in zip(cluster.group, cluster.status, strict=True)
        }
        self._known |= self._now.keys()
        for group in (*GROUPS, *JOBS):
            if self._status(group.name) == group.expected:
                self._reached_s.setdefault(group.name, now - self._began)

    def _status(self, group: str) -> str:
        """The status of a group; GONE only if it existed before."""
        return self._now.get(group, GONE if group in self._known else "")

    @property
    def missed(self) -> list[str]:
        """Groups that never had the expected status; the Spark jobs start later than they."""
        return [group.name for group in GROUPS if group.name not in self._reached_s]

    @property
    def count(self) -> int:
        """The groups of the brokers."""
        return len(self._now.keys() - {job.name for job in JOBS})

    def summary(self) -> Table:
        found = Table(box=ROUNDED, title=f"Result, of {self.count} groups and 2 Spark jobs")
        for head in ("group", "shows", "expected", "is", "after"):
            found.add_column(head, no_wrap=head != "shows")
        for group in (*GROUPS, *JOBS):
            after = self._reached_s.get(group.name)
            found.add_row(
                group.name,
                group.story,
                words.status(group.expected),
                words.status(self._status(group.name)),
                "never" if after is None else f"{after:.0f} s",
            )
        return found
