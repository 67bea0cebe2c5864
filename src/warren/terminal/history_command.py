"""`warren history`: one group over time, drawn with characters."""

import sys
from collections.abc import Callable
from typing import Any

import msgspec
import plotext
from rich.console import Console
from rich.text import Text

from warren.errors import WarrenError
from warren.history import group_history
from warren.history.memory_queries import Kept
from warren.history.reader import Past
from warren.history.report.columns import count, duration, instant, share
from warren.model.period import Period
from warren.model.tables import GROUP, PARTITION
from warren.terminal.report_command import plain_console, working
from warren.terminal.words import COLOURS, shown

HEIGHT, WIDTH = 16, 100
MARGIN = 10  # what the axis takes
INCIDENTS = 10
BLOCK = "█"


class NothingKept(WarrenError):
    def __init__(self, group: str) -> None:
        super().__init__(f"history has nothing of {shown(group)}, its topic or partition then")


class Ambiguous(WarrenError):
    def __init__(self, group: str, clusters: list[str]) -> None:
        names = ", ".join(map(shown, clusters))
        super().__init__(f"{shown(group)} is a group of {names}; choose one with --cluster")


def history(
    past: Callable[[], Past], group: str, topic: str, partition: int | None, *, as_json: bool
) -> None:
    chosen = past()
    console = plain_console()
    width = min(console.width, WIDTH) - MARGIN
    with working(), chosen.reading(group, (GROUP, PARTITION)) as rows:
        kept = rows.together(topic, partition) if topic else rows
        cluster = _cluster(kept, group)
        answer: dict[str, Any] = {
            "cluster": cluster,
            "group": group,
            **chosen.period._asdict(),
            **group_history.curve(kept, chosen.period, group_history.STEPS if as_json else width),
            "incidents": group_history.incidents(kept),
        }
    if as_json:
        sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    else:
        what = shown(" ".join([group, topic, "" if partition is None else str(partition)]).strip())
        _print(console, answer, what, chosen.period)


def _cluster(kept: Kept, group: str) -> str:
    clusters = kept.clusters()
    if not clusters:
        raise NothingKept(group)
    if len(clusters) > 1:
        raise Ambiguous(group, clusters)
    return clusters[0]


def _print(console: Console, answer: dict[str, Any], what: str, period: Period) -> None:
    since, until = (instant(moment) for moment in period)
    cluster, moments = shown(answer["cluster"]), answer["moments"]
    console.print(Text(f"{what} of {cluster}, {since} until {until} UTC, {moments} moments"))
    console.print(Text("total lag"))
    console.print(Text(_curve(answer)))
    console.print(_strip(answer["status"]))
    console.print(_words(answer))
    for incident in answer["incidents"][:INCIDENTS]:
        console.print(_incident(incident))
    if len(answer["incidents"]) > INCIDENTS:
        console.print(Text(f"and {len(answer['incidents']) - INCIDENTS} incidents before"))


def _curve(answer: dict[str, Any]) -> str:
    """Broken where nothing was kept."""
    figure, times, lags = plotext.figure, answer["times_ms"], answer["lag"]
    figure.clear()
    figure.theme("colorless")
    figure.plot_size(len(times) + MARGIN, HEIGHT)
    for run in _runs(lags):
        points = figure.signal(list(run), [lags[step] for step in run], marker="braille")
        figure.draw(points.lines())
    ticks = [0, len(times) // 2, len(times) - 1]
    figure.ruler("x").lim(0, max(len(times) - 1, 1))
    figure.ruler("x").ticks(ticks, [instant(times[step])[5:16] for step in ticks])
    figure.ruler("y").lim(0, max((lag for lag in lags if lag is not None), default=0) or 1)
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
    return Text.assemble("status ", *blocks)


def _words(answer: dict[str, Any]) -> Text:
    """The same for those who do not see colours."""
    known = [word for word in answer["status"] if word]
    parts = [f"{word} {share(known.count(word) / len(known))}" for word in dict.fromkeys(known)]
    lags = [lag for lag in answer["lag"] if lag is not None]
    return Text(
        f"       {', '.join(parts)} of the time; lag {count(lags[-1])}, max {count(max(lags))}"
    )


def _incident(incident: dict[str, Any]) -> Text:
    began, ended = incident["began_ms"], incident["ended_ms"]
    lasted = f"for {duration((ended - began) // 1000)}" if ended else "still"
    word = incident["status"]
    return Text.assemble(
        (f"{word:6}", COLOURS[word]),
        f" {instant(began)} {lasted}, lag up to {count(incident['max_lag'])}",
    )
