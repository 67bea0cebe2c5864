"""The screen of `warren top`: a title, the groups or one of them, and which keys there are."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.segment import Segment, SegmentLines
from rich.text import Text

from warren.serve.v4.shapes import Explanation, Overview
from warren.serve.v4.shapes import Group as GroupAnswer
from warren.terminal import group_table, partition_table, words
from warren.terminal.group_table import TableLine
from warren.terminal.top_state import TopState

HINTS = "/ search  ↑↓ PgUp PgDn move  Enter open  s order  r reverse  b bad only  Esc clear  q quit"
IN_GROUP = "↑↓ PgUp PgDn scroll  Esc back  q quit"
CURSOR = "▏"
Line = list[Segment]


class Told(NamedTuple):
    """What has been answered, as far as it has been."""

    where: str
    seen: Overview | None = None
    lines: Sequence[TableLine] = ()  # of all groups in it
    group: tuple[GroupAnswer, Explanation] | None = None  # the opened one
    problem: str = ""


class Page(NamedTuple):
    lines: RenderableType
    body: int  # lines of it that fit
    scrolls: int  # lines of the opened group that do not fit


def page(
    console: Console, size: ConsoleDimensions, state: TopState, told: Told, shown: list[TableLine]
) -> Page:
    top = _lines(console, size.width, [_title(state, told, shown), *_warnings(told)])
    body = max(size.height - len(top) - 1, 1)
    if state.opened:
        found = _lines(console, size.width, _group(state, told, size.width))
        scrolls = max(len(found) - body, 0)
        middle = found[min(state.scroll, scrolls) :][:body]
    else:
        middle, scrolls = _lines(console, size.width, _groups(state, told, shown, size, body)), 0
    empty: list[Line] = [[]] * (body - len(middle))
    every = [*top, *middle[:body], *empty]
    lines = Group(SegmentLines(every, new_lines=True), _hints(state))
    return Page(lines, body, scrolls)


def _lines(console: Console, width: int, parts: Sequence[RenderableType]) -> list[Line]:
    options = console.options.update(width=width, height=None, no_wrap=False)
    return console.render_lines(Group(*parts), options, pad=False)


def _title(state: TopState, told: Told, shown: list[TableLine]) -> Text:
    title = Text.assemble(
        ("warren top", "bold"), f"  {words.shown(told.where)}  ", overflow="ellipsis"
    )
    if told.seen:
        title.append_text(group_table.counts(shown))
        order = f"  by {state.sort.removeprefix('-')}{' reversed' * state.sort.startswith('-')}"
        board = told.group[0].board if told.group else told.seen.board
        clock = time.strftime("%H:%M:%S", time.localtime(board.moment_ms / 1000))
        title.append(f"{order}{'  bad only' * state.only_bad}  {clock}", style="dim")
    title.no_wrap = True
    return title


def _warnings(told: Told) -> list[Text]:
    found = [Text(f"{told.problem}; trying again", style="red")] if told.problem else []
    if told.seen:
        found += group_table.warnings(told.seen)
        found += [
            Text(f"{words.shown(each.name)} is not followed: {words.shown(each.problem)}", "red")
            for each in told.seen.clusters
            if each.problem
        ]
    return found


def _groups(
    state: TopState, told: Told, shown: list[TableLine], size: ConsoleDimensions, body: int
) -> list[RenderableType]:
    if told.seen is None:
        return [] if told.problem else [Text("Waiting for the first answer ...", style="dim")]
    if not shown:
        return [
            Text(
                "No group is like that: Esc shows all."
                if state.search or state.only_bad
                else "There is no group."
            )
        ]
    at, rows = state.place(shown), max(body - 1, 1)  # the table has a head
    first = max(min(at - rows // 2, len(shown) - rows), 0)
    some = shown[first : first + rows]
    return [group_table.table(some, told.seen.board.moment_ms, size.width, at - first)]


def _group(state: TopState, told: Told, width: int) -> list[RenderableType]:
    summary = told.group[0].summary if told.group else None
    if told.group is None or summary is None or state.opened != (summary.cluster, summary.group):
        return [Text("Waiting for the answer ...", style="dim")]
    return [partition_table.render(*told.group, width)]


def _hints(state: TopState) -> Text:
    if state.is_typing:
        text = Text.assemble(("/", "bold"), words.shown(state.search), CURSOR)
    elif state.opened:
        text = Text(IN_GROUP, style="dim")
    elif state.search:
        text = Text.assemble(("/", "bold"), words.shown(state.search), (f"  {HINTS}", "dim"))
    else:
        text = Text(HINTS, style="dim")
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
