"""The outcome as JSON, and as one HTML page with plots that needs nothing else."""

import html

import msgspec

from warren.backtest.outcome import PAGES_SECTION, SIDES, SIDES_SECTION, Outcome, Row
from warren.backtest.page_times import DID, WOULD
from warren.history.report import svg
from warren.history.report.columns import instant
from warren.history.report.formats import section_as_html, whole_page
from warren.model.period import Period

BARS = 40  # groups that are drawn
LINE, BAR, NAME_WIDTH = 26, 9, 260
COLOURS = {DID: svg.COLOURS[0], WOULD: svg.COLOURS[1]}


def as_json(found: Outcome) -> str:
    everything = {
        **found.period._asdict(),
        "moments": found.moments,
        "verdicts": {"replayed": found.replayed, "differing": found.differing},
        "notes": found.notes,
        "sides": found.sides,
        "pages": found.pages,
        "series": {
            "times_ms": found.times_ms,
            "open": {each.name: each.values for each in found.open_pages},
        },
    }
    return msgspec.json.format(msgspec.json.encode(everything), indent=2).decode()


def summary_line(found: Outcome) -> str:
    """What was replayed, and whether the replay can be trusted."""
    agrees = "with the settings in force all of them are as recorded"
    if found.differing:
        agrees = f"with the settings in force {found.differing:,} are not as recorded"
    return f"{found.moments:,} moments, {found.replayed:,} verdicts replayed; {agrees}."


def as_page(found: Outcome) -> str:
    since, until = (instant(moment) for moment in found.period)
    notes = "".join(f"<p>{html.escape(note)}.</p>" for note in found.notes)
    title = "Incidents that somebody had been paged about"
    return whole_page(
        f"Back-test, {since}",
        f"<h1>Back-test</h1><p>From {since} until {until} UTC. {summary_line(found)}</p>{notes}"
        f"{section_as_html(SIDES_SECTION, found)}"
        f"<h2>{title}</h2>{svg.curves(found.times_ms, found.open_pages, title)}"
        f"{_bars(found)}{section_as_html(PAGES_SECTION, found)}",
    )


def _bars(found: Outcome) -> str:
    """When each group would page, below when it did."""
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in found.pages:
        by_group.setdefault((row["cluster"], row["group"]), []).append(row)
    if not by_group:
        return ""
    drawn = list(by_group.items())[:BARS]
    lines = "".join(
        _line(at, f"{group} ({cluster})", rows, found.period)
        for at, ((cluster, group), rows) in enumerate(drawn)
    )
    height = LINE * len(drawn)
    more = f"<p>The first {BARS} of {len(by_group)} groups.</p>" if len(by_group) > BARS else ""
    return (
        f'<h2>Group by group</h2><svg viewBox="0 0 {svg.WIDTH} {height}" role="img" '
        f'aria-label="When each group pages">{lines}</svg>'
        f"{svg.legend(found.open_pages, svg.COLOURS)}{more}"
    )


def _line(at: int, name: str, rows: list[Row], period: Period) -> str:
    shown = name if len(name) <= BARS else f"{name[: BARS - 1]}…"
    y = at * LINE + LINE / 2 + 4
    title = f"<title>{html.escape(name)}</title>"
    parts = [f'<text x="0" y="{y:.0f}">{html.escape(shown)}{title}</text>']
    for place, side in enumerate(SIDES):
        top = at * LINE + 3 + place * (BAR + 1)
        for page in (page for row in rows for page in row[f"{side}_pages"]):
            left = _x(page["paged_ms"], period)
            ended_ms = period.until_ms if page["ended_ms"] is None else page["ended_ms"]
            width = max(_x(ended_ms, period) - left, 1.5)
            what = f"{SIDES[side]}: {page['verdict']} from {instant(page['paged_ms'])}"
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{BAR}" '
                f'fill="{COLOURS[side]}"><title>{what}</title></rect>'
            )
    return "".join(parts)


def _x(moment_ms: int, period: Period) -> float:
    share = (moment_ms - period.since_ms) / (period.until_ms - period.since_ms)
    return NAME_WIDTH + (svg.WIDTH - NAME_WIDTH - svg.RIGHT) * min(max(share, 0.0), 1.0)
