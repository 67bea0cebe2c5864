"""`warren status` and `warren lag`: ask, print, and say by the exit code how it stands."""

import difflib
import time
from collections.abc import Iterable

import click
import msgspec
from rich.console import Console, Group, RenderableType
from rich.text import Text

from warren.errors import GroupUnknown, Unanswered
from warren.serve.v4.shapes import Groups
from warren.terminal import overview, partitions, words
from warren.terminal.answers import Answers
from warren.terminal.overview import Filter
from warren.terminal.source import Source, opened
from warren.terminal.watch import watch

EXIT = {"OK": 0, "WARN": 3, "ERR": 4}  # 1 is a failure, 2 wrong usage
WIDE = 10_000  # what is not a terminal gets everything
ROOM = 3  # lines that a watched table leaves: its head, how many more there are, the cursor
NEAR = 3


def status(source: Source, wanted: Filter, *, as_json: bool, every_s: float | None) -> int:
    """Show the groups, once or again and again; gives the exit code, that of the worst."""
    console = _console()
    with opened(source) as answers:
        if every_s is not None:
            watch(console, every_s, lambda: _screen(console, answers, wanted, as_json=as_json))
            return 0
        if as_json:
            found = _groups(answers, wanted)
            _print_json(found)
            return _exit_code(each.status for each in found.groups)
        seen = answers.overview()
    lines = overview.lines(seen, wanted)
    console.print(overview.render(seen, lines, console.width))
    return _exit_code(each.status for each in lines)


def lag(source: Source, group: str, cluster: str, *, as_json: bool) -> int:
    """Show the partitions of a group; gives the exit code of its status."""
    console = _console()
    with opened(source) as answers:
        cluster = cluster or _cluster_of(answers, group)
        try:
            found = answers.group(cluster, group)
            explanation = answers.explain(cluster, group)
        except GroupUnknown:
            raise _unknown(answers, cluster, group) from None
    if as_json:
        _print_json(found)
    else:
        console.print(partitions.render(found, explanation, console.width))
    return _exit_code([found.summary.status])


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def _screen(console: Console, answers: Answers, wanted: Filter, *, as_json: bool) -> RenderableType:
    if as_json:  # a line for each time
        return Text(msgspec.json.encode(_groups(answers, wanted)).decode())
    seen = answers.overview()
    lines = overview.lines(seen, wanted)
    room = max(console.height - ROOM - 2 * len(seen.clusters), 1) if console.is_terminal else None
    clock = time.strftime("%H:%M:%S", time.localtime(seen.board.moment_ms / 1000))
    head = Text(f"{clock}  Ctrl-C ends", style="dim")
    return Group(head, overview.render(seen, lines, console.width, room))


def _groups(answers: Answers, wanted: Filter) -> Groups:
    found = answers.groups()
    chosen = [each for each in found.groups if wanted.accepts(each)]
    return Groups(found.board, len(chosen), chosen)


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
    """Says what it may have been meant to be."""
    names = {each.group for each in answers.groups().groups if cluster in {"", each.cluster}}
    near = difflib.get_close_matches(group, sorted(names), NEAR)
    return GroupUnknown(
        words.shown(cluster), words.shown(group), [words.shown(each) for each in near]
    )
