"""Plots as SVG, small and self-contained: curves, and areas on top of each other."""

import html
from collections.abc import Sequence
from datetime import UTC, datetime

from warren.history.report.summary import Series

WIDTH, HEIGHT = 960, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 10, 12, 28
TICKS = 4
# Told apart by those who do not see all colours (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a00", "#666666")
STATUS_COLOURS = ("#009e73", "#e69f00", "#d55e00")


def curves(times_ms: Sequence[int], series: Sequence[Series], title: str) -> str:
    most = max((value for each in series for value in each.values if value is not None), default=0)
    lines = [
        f'<path d="{_line(each.values, most)}" fill="none" stroke="{colour}" stroke-width="1.5">'
        f"<title>{html.escape(each.name)}</title></path>"
        for each, colour in zip(series, COLOURS, strict=False)
    ]
    return _plot(times_ms, most, "".join(lines), title) + legend(series, COLOURS)


def areas(times_ms: Sequence[int], series: Sequence[Series], title: str) -> str:
    """One on top of the other, the last one at the bottom."""
    heights = [0.0] * len(times_ms)
    totals = [sum(each.values[step] or 0 for each in series) for step in range(len(times_ms))]
    most, shapes = max(totals, default=0), []
    for each, colour in reversed([*zip(series, STATUS_COLOURS, strict=True)]):
        below = heights
        heights = [at + (value or 0) for at, value in zip(below, each.values, strict=True)]
        name = html.escape(each.name)
        path = _area(below, heights, most)
        shapes.append(f'<path d="{path}" fill="{colour}"><title>{name}</title></path>')
    return _plot(times_ms, most, "".join(shapes), title) + legend(series, STATUS_COLOURS)


def legend(series: Sequence[Series], colours: Sequence[str]) -> str:
    entries = (
        f'<li><i style="background:{colour}"></i>{html.escape(each.name)}</li>'
        for each, colour in zip(series, colours, strict=False)
    )
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _plot(times_ms: Sequence[int], most: float, inside: str, title: str) -> str:
    label = html.escape(title)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"{_axes(times_ms, most)}{inside}</svg>"
    )


def _axes(times_ms: Sequence[int], most: float) -> str:
    parts = []
    for tick in range(TICKS + 1):
        y = _y(most * tick / TICKS, most)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = f"{most * tick / TICKS:,.0f}"
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    for tick in range(TICKS + 1):
        step = round((len(times_ms) - 1) * tick / TICKS)
        at = datetime.fromtimestamp(times_ms[step] / 1000, UTC) if times_ms else datetime.now(UTC)
        anchor = ("start", "middle", "middle", "middle", "end")[tick]
        x = _x(step, len(times_ms))
        y = HEIGHT - 8
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{at:%m-%d %H:%M}</text>')
    return "".join(parts)


def _line(values: Sequence[int | None], most: float) -> str:
    """Broken where nothing was kept; a lone point is a short dash."""
    parts, is_down = [], False
    for step, value in enumerate(values):
        if value is None:
            is_down = False
            continue
        x, y = _x(step, len(values)), _y(value, most)
        parts.append(f"L{x:.1f} {y:.1f}" if is_down else f"M{x:.1f} {y:.1f}h1")
        is_down = True
    return "".join(parts)


def _area(below: Sequence[float], above: Sequence[float], most: float) -> str:
    count = len(above)
    upper = "L".join(f"{_x(step, count):.1f} {_y(at, most):.1f}" for step, at in enumerate(above))
    lower = "L".join(
        f"{_x(step, count):.1f} {_y(below[step], most):.1f}" for step in reversed(range(count))
    )
    return f"M{upper}L{lower}Z" if count else ""


def _x(step: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * step / max(count - 1, 1)


def _y(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / (most or 1)
