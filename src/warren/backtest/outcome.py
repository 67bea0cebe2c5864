"""What would have paged against what did: plain rows, ready for any format.

Incidents of a group that overlap are the same event, told twice: how they differ is the outcome.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warren.backtest.page_times import DID, WOULD
from warren.backtest.replay import Replayed
from warren.history.group_history import step_of, times_of
from warren.history.report.columns import CLUSTER, GROUP, Column, ReportSection, count, instant
from warren.history.report.columns import duration as in_words
from warren.history.report.summary import STEPS, Rows, Series
from warren.model.period import Period

SAME, OTHER, LESS, MORE = "same", "changed", "no more", "new"
ORDER = (MORE, LESS, OTHER, SAME)  # of the table: what is new is read first
SIDES = {DID: "as configured", WOULD: "as proposed"}

Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    period: Period
    replayed: int  # verdicts
    differing: int  # that replay otherwise with the settings in force
    moments: int
    notes: list[str]
    sides: Rows  # one for each of SIDES
    pages: Rows  # every event, with both sides
    times_ms: list[int]
    open_pages: list[Series]


def outcome(replayed: Replayed, period: Period, notes: Sequence[str]) -> Outcome:
    found: Rows = replayed.pages.to_pylist()
    last_ms = max((int(each[-1]) for each in replayed.moments.values()), default=period.until_ms)
    period = Period(period.since_ms, max(min(period.until_ms, last_ms), period.since_ms + 1))
    step_ms = step_of(period, STEPS)
    times = times_of(period, step_ms)
    events = [_row(event, period) for event in _events(found)]
    events.sort(key=_importance)
    return Outcome(
        period,
        replayed.replayed,
        replayed.differing,
        sum(map(len, replayed.moments.values())),
        [*notes, *_notes(replayed)],
        [_side(side, [page for page in found if page["side"] == side], period) for side in SIDES],
        events,
        times,
        [
            Series(name, _open_at(times, step_ms, [each for each in found if each["side"] == side]))
            for side, name in SIDES.items()
        ],
    )


def _notes(replayed: Replayed) -> Iterator[str]:
    if replayed.wordless:
        yield (
            f"{replayed.wordless:,} rows of history have no words and were left out: an older "
            "Warren wrote them, or history-granularity keeps their topics as one row"
        )
    if replayed.differing:
        yield (
            f"{replayed.differing:,} verdicts replay otherwise than recorded even with the "
            "settings in force: another version of Warren judged them"
        )


def _events(pages: Rows) -> Iterator[Rows]:
    """Incidents of one group that overlap, on either side or both."""
    by_group: dict[tuple[str, str], Rows] = {}
    for page in pages:
        by_group.setdefault((page["cluster"], page["group"]), []).append(page)
    for of_group in by_group.values():
        event: Rows = []
        for page in sorted(of_group, key=lambda each: each["paged_ms"]):
            if event and not any(_lasts_until(each, page["paged_ms"]) for each in event):
                yield event
                event = []
            event.append(page)
        yield event


def _lasts_until(page: Row, moment_ms: int) -> bool:
    return page["ended_ms"] is None or page["ended_ms"] > moment_ms


def _row(event: Rows, period: Period) -> Row:
    sides = {side: [each for each in event if each["side"] == side] for side in SIDES}
    shown = (sides[WOULD] or sides[DID])[0]
    row = {name: shown[name] for name in ("cluster", "group", "verdict", "topic", "partition")}
    row |= {"owner": shown["owner"], "lag": max(each["lag"] for each in event)}
    row["change"] = _change(sides)
    for side, pages in sides.items():
        row |= {f"{side}_{name}": value for name, value in _times(pages, period).items()}
        row[f"{side}_pages"] = [
            {
                name: value
                for name, value in each.items()
                if name not in ("side", "cluster", "group")
            }
            for each in pages
        ]
    return row


def _change(sides: dict[str, Rows]) -> str:
    if not sides[WOULD]:
        return LESS
    if not sides[DID]:
        return MORE
    names = ("paged_ms", "ended_ms", "verdict", "messages", "notifiers")
    did, would = ([[each[name] for name in names] for each in sides[side]] for side in SIDES)
    return SAME if did == would else OTHER


def _times(pages: Rows, period: Period) -> Row:
    if not pages:
        return {"paged_ms": None, "seconds": None, "lasted": (None, False), "messages": 0}
    seconds = sum(_lasted_ms(each, period) for each in pages) // 1000
    is_open = any(each["ended_ms"] is None for each in pages)
    return {
        "paged_ms": pages[0]["paged_ms"],
        "seconds": seconds,
        "lasted": (seconds, is_open),
        "messages": sum(each["messages"] for each in pages),
    }


def _lasted_ms(page: Row, period: Period) -> int:
    """From the first message to the end, as far as the period goes."""
    ended_ms = period.until_ms if page["ended_ms"] is None else page["ended_ms"]
    return int(max(ended_ms - page["paged_ms"], 0))


def _importance(row: Row) -> tuple[Any, ...]:
    longest = max(row["did_seconds"] or 0, row["would_seconds"] or 0)
    return ORDER.index(row["change"]), -longest, row["cluster"], row["group"]


def _side(side: str, pages: Rows, period: Period) -> Row:
    return {
        "side": SIDES[side],
        "incidents": len(pages),
        "groups": len({(each["cluster"], each["group"]) for each in pages}),
        "messages": sum(each["messages"] for each in pages),
        "seconds": sum(_lasted_ms(each, period) for each in pages) // 1000,
    }


def _open_at(times_ms: Sequence[int], step_ms: int, pages: Rows) -> list[int | None]:
    """How many incidents somebody had been paged about were open in each step."""
    return [
        sum(
            each["paged_ms"] < at_ms + step_ms
            and (each["ended_ms"] is None or each["ended_ms"] >= at_ms)
            for each in pages
        )
        for at_ms in times_ms
    ]


def _instant(moment_ms: int | None) -> str:
    return "-" if moment_ms is None else instant(moment_ms)[5:16]


def _lasted(lasted: tuple[int | None, bool]) -> str:
    seconds, is_open = lasted
    if seconds is None:
        return "-"
    return f"{in_words(seconds)}, still" if is_open else in_words(seconds)


SIDES_SECTION = ReportSection(
    "sides",
    "Pages",
    (
        Column("side", "", is_number=False),
        Column("incidents", "incidents", count),
        Column("groups", "of groups", count),
        Column("messages", "messages", count),
        Column("seconds", "time paged", in_words),
    ),
)
PAGES_SECTION = ReportSection(
    "pages",
    "Page by page",
    (
        Column("change", "change", is_number=False),
        CLUSTER,
        GROUP,
        Column("verdict", "verdict", is_number=False),
        Column("did_paged_ms", "paged (UTC)", _instant, is_number=False),
        Column("did_lasted", "for", _lasted),
        Column("would_paged_ms", "would page", _instant, is_number=False),
        Column("would_lasted", "for", _lasted),
        Column("owner", "owner", is_number=False),
    ),
)
