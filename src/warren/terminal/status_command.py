"""`warren status` and `warren lag`: ask, print, once or again and again, and set the exit code."""

import difflib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click
import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from warren.errors import GroupUnknown, Unanswered
from warren.serve.v4.shapes import Groups
from warren.terminal import group_table, partition_table, words
from warren.terminal.ending import signals_as_ctrl_c
from warren.terminal.group_choice import Filter
from warren.terminal.questions import Answers
from warren.terminal.source import AnswerSource, open_source

Draw = Callable[[], RenderableType]


def watch(console: Console, every_s: float, draw: Draw) -> None:
    """Draw until Ctrl-C. When nobody answers, say so and try again."""
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
                lost = Text(f"{error}; trying again, this is the last answer", style="red")
                live.update(Group(lost, last), refresh=True)
            time.sleep(every_s)


def _one_after_the_other(console: Console, every_s: float, draw: Draw) -> None:
    while True:
        try:
            console.print(draw(), soft_wrap=True)
        except Unanswered as error:
            click.echo(f"warren: {error}; trying again", err=True)
        time.sleep(every_s)


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Leave at Ctrl-C: the cursor shows again, and what was started ends."""
    try:
        with signals_as_ctrl_c():
            yield
    except KeyboardInterrupt:
        return


EXIT = {"OK": 0, "WARN": 3, "ERR": 4}  # 1 is a failure, 2 wrong usage
WIDE = 10_000  # what is not a terminal gets everything
ROOM = 3  # lines that a watched table leaves: its head, how many more there are, the cursor
NEAR = 3


def status(source: AnswerSource, wanted: Filter, *, as_json: bool, every_s: float | None) -> int:
    """Show the groups, once or repeatedly; return the exit code of the worst."""
    console = _console()
    with open_source(source) as answers:
        if every_s is not None:
            watch(console, every_s, lambda: _screen(console, answers, wanted, as_json=as_json))
            return 0
        if as_json:
            every = answers.groups()
            wanted.refuse_if_none(every.groups)
            found = _chosen(every, wanted)
            _print_json(found)
            return _exit_code(each.status for each in found.groups)
        seen = answers.overview()
    lines = group_table.lines(seen)
    wanted.refuse_if_none(lines)
    chosen = wanted.choose(lines)
    console.print(group_table.render(seen, chosen, console.width))
    return _exit_code(each.status for each in chosen)


def lag(source: AnswerSource, group: str, cluster: str, *, as_json: bool) -> int:
    """Show the partitions of a group; return the exit code of its status."""
    console = _console()
    with open_source(source) as answers:
        cluster = cluster or _cluster_of(answers, group)
        try:
            found = answers.group(cluster, group)
            explanation = answers.explain(cluster, group)
        except GroupUnknown:
            raise _unknown(answers, cluster, group) from None
    if as_json:
        _print_json(found)
    else:
        console.print(partition_table.render(found, explanation, console.width))
    return _exit_code([found.summary.status])


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def _screen(console: Console, answers: Answers, wanted: Filter, *, as_json: bool) -> RenderableType:
    if as_json:  # a line for each time
        return Text(msgspec.json.encode(_chosen(answers.groups(), wanted)).decode())
    seen = answers.overview()
    every = group_table.lines(seen)
    lines, why_none = wanted.choose(every), wanted.why_none(every)
    room = max(console.height - ROOM - 2 * len(seen.clusters), 1) if console.is_terminal else None
    clock = time.strftime("%H:%M:%S", time.localtime(seen.board.moment_ms / 1000))
    head = Text(f"{clock}  Ctrl-C ends", style="dim")
    table = group_table.render(seen, lines, console.width, room)
    return Group(head, table, *([Text(why_none, style="yellow")] if why_none else []))


def _chosen(every: Groups, wanted: Filter) -> Groups:
    chosen = wanted.choose(every.groups)
    return Groups(every.board, len(chosen), chosen)


def _print_json(answer: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(answer)))


def _exit_code(statuses: Iterable[str]) -> int:
    return max((EXIT[each] for each in statuses), default=0)


def _cluster_of(answers: Answers, group: str) -> str:
    """The only cluster that has a group of this name."""
    found = sorted(each.cluster for each in answers.groups().groups if each.group == group)
    if not found:
        raise _unknown(answers, "", group)
    if len(found) > 1:
        names = ", ".join(map(words.shown, found))
        raise Unanswered(
            f"group {words.shown(group)}", f"is in several clusters ({names}): name one, --cluster"
        )
    return found[0]


def _unknown(answers: Answers, cluster: str, group: str) -> GroupUnknown:
    """The error, with the names that come closest."""
    names = {each.group for each in answers.groups().groups if cluster in {"", each.cluster}}
    near = difflib.get_close_matches(group, sorted(names), NEAR)
    return GroupUnknown(
        words.shown(cluster), words.shown(group), [words.shown(each) for each in near]
    )
