"""`warren history`: one group over time, drawn with characters."""

import sys
from collections.abc import Callable
from typing import Any

import msgspec
import plotext
from rich.console import Console
from rich.text import Text

from warren.history.report.columns import count, duration, instant, share
from warren.model.counted_nouns import counted
from warren.model.history_question import STEPS
from warren.terminal.past_source import Answer, PastSource
from warren.terminal.report_command import plain_console, working
from warren.terminal.words import COLOURS, brief, shown

HEIGHT, WIDTH = 16, 100
LABEL = 8  # columns of an axis label
MARGIN = LABEL + 2  # what the axis and the frame take
TICKS = 4  # of the axis of lag, above its 0
INCIDENTS = 10
BLOCK = "█"
INDENT = " " * (LABEL + 1)


def history(
    past: Callable[[], PastSource], group: str, topic: str, partition: int | None, *, as_json: bool
) -> None:
    source, console = past(), plain_console()
    steps = STEPS if as_json else min(console.width, WIDTH) - MARGIN
    with working():
        answer = source.history(group, topic, partition, steps)
    if as_json:
        sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    else:
        what = shown(" ".join([group, topic, "" if partition is None else str(partition)]).strip())
        _print(console, answer, what)


def _print(console: Console, answer: Answer, what: str) -> None:
    since, until = (instant(answer[end]) for end in ("since_ms", "until_ms"))
    cluster, moments = shown(answer["cluster"]), counted(answer["moments"], "moment")
    console.print(Text(f"{what} of {cluster}, {since} until {until} UTC, {moments}"))
    console.print(Text("total lag"))
    console.print(Text(_curve(answer)))
    console.print(_strip(answer["status"]))
    console.print(_words(answer))
    for incident in answer["incidents"][:INCIDENTS]:
        console.print(_incident(incident))
    if len(answer["incidents"]) > INCIDENTS:
        earlier = counted(len(answer["incidents"]) - INCIDENTS, "incident")
        console.print(Text(f"and {earlier} before"))


def _curve(answer: Answer) -> str:
    """Broken where nothing was kept."""
    figure, times, lags = plotext.figure, answer["times_ms"], answer["lag"]
    plotext.terminal.limit(width=False, height=False)  # of a file, the size is ours to choose
    figure.clear()
    figure.theme("colorless")
    figure.plot_size(len(times) + MARGIN, HEIGHT)
    for run in _runs(lags):
        points = figure.signal(list(run), [lags[step] for step in run], marker="braille")
        figure.draw(points.lines())
    ticks = [0, len(times) // 2, len(times) - 1]
    figure.ruler("x").lim(0, max(len(times) - 1, 1))
    figure.ruler("x").ticks(ticks, [instant(times[step])[5:16] for step in ticks])
    highest = max((lag for lag in lags if lag is not None), default=0) or 1
    marks = sorted({highest * tick // TICKS for tick in range(TICKS + 1)})
    figure.ruler("y").lim(0, highest)
    # All labels are equally wide, so that the strip of statuses can stand below its moments.
    figure.ruler("y").ticks(marks, [f"{brief(mark):>{LABEL - 1}} " for mark in marks])
    text: str = plotext.uncolorize(figure.build().string())
    return text.rstrip("\n")


def _runs(lags: list[int | None]) -> list[range]:
    """Steps that follow each other and have a value."""
    runs: list[range] = []
    for step, lag in enumerate(lags):
        if lag is None:
            continue
        if runs and runs[-1].stop == step:
            runs[-1] = range(runs[-1].start, step + 1)
        else:
            runs.append(range(step, step + 1))
    return runs


def _strip(statuses: list[str | None]) -> Text:
    """A block for each step, in the colour of its worst status."""
    blocks = [(BLOCK if word else " ", COLOURS[word] if word else "") for word in statuses]
    return Text.assemble(f"{'status':>{LABEL - 1}} ", " ", *blocks)


def _words(answer: Answer) -> Text:
    """The same for those who do not see colours."""
    known = [word for word in answer["status"] if word]
    parts = [f"{word} {share(known.count(word) / len(known))}" for word in dict.fromkeys(known)]
    lags = [lag for lag in answer["lag"] if lag is not None]
    line = f"{INDENT}{', '.join(parts)} of the time; lag {count(lags[-1])}, max {count(max(lags))}"
    ages = [age for age in answer["age_s"] if age is not None]
    if ages:
        last, most = duration(round(ages[-1])), duration(round(max(ages)))
        line += f"\n{INDENT}oldest unread message {last} old, at most {most}"
    return Text(line)


def _incident(incident: dict[str, Any]) -> Text:
    began, ended = incident["began_ms"], incident["ended_ms"]
    lasted = f"for {duration((ended - began) // 1000)}" if ended else "still"
    word = incident["status"]
    return Text.assemble(
        (f"{word:6}", COLOURS[word]),
        f" {instant(began)} {lasted}, lag up to {count(incident['max_lag'])}",
    )
