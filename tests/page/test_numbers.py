"""How far behind, when it has caught up, what is lost: in lists, on hover, loudly, in the chart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # has no types
from page.conftest import Look
from playwright.sync_api import Locator, Page, expect
from support.boards import NOW_S, cluster_board, windows_of
from support.http_side import Running, running
from support.numbered_groups import HOSTILE, NUMBERS, numbered_board, with_numbers

from warren.model.board import Board
from warren.model.health import Health

WHY = "at this pace: retention reaches them before the group does."
ROWS = ".list .rows .row:not([hidden])"
NOT_KNOWN = (
    "Not known. What is missing: no broker has given the log end; "
    "no broker has given the log start."
)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("numbers")) as started:
        started.publish(numbered_board())
        yield started


def row(page: Page, group: str) -> Locator:
    return page.locator(ROWS).filter(has=page.get_by_role("link", name=group, exact=True))


def hover(page: Page, group: str, cell: str) -> str | None:
    return row(page, group).locator(f".cell.{cell}").get_attribute("title")


def fact(page: Page, label: str) -> Locator:
    return page.locator(".fact").filter(has=page.get_by_text(label, exact=True)).locator("dd")


def open_group(page: Page, server: Running, group: str) -> None:
    page.goto(f"http://127.0.0.1:{server.port}/#/group/local/{quote(group, safe='')}")
    expect(page.locator("h1")).to_have_text(group)
    page.locator(".chart canvas").wait_for()


def test_the_age_comes_before_the_lag(look: Look, numbered: Running) -> None:
    page = look(numbered)
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))

    heads = page.get_by_role("columnheader").all_inner_texts()
    assert [head.strip(" ↓") for head in heads[:5]] == [
        *("Status", "Group", "Behind by", "Lag", "Catches up in")
    ]
    behind = {group: row(page, group).locator(".behind").inner_text() for group in NUMBERS}
    assert behind == dict.fromkeys(NUMBERS, "12 min") | {
        "older": "> 11 min",
        "unknown": "—",
        "idle": "0 s",
        "leaving": "0 s",
        "steady": "7 min",
        "extreme": "1,000+ y",
    }


def test_bounds_and_reasons_are_a_hover_away(look: Look, numbered: Running) -> None:
    page = look(numbered)
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))

    assert {group: hover(page, group, "behind") for group in ("late", "idle", "older")} == {
        "late": "11 to 13 min, by log ends",
        "idle": "Nothing is unread.",
        "older": "At least 11 min, by log ends.",
    }
    close = hover(page, "close", "behind") or ""
    assert close.startswith("11 min 52 s to 12 min 8 s, by the timestamps of records")
    assert hover(page, "late", "lag") == "900 to 1,100 messages in 1 partition"
    assert hover(page, "unknown", "behind") == "Not known."
    open_group(page, numbered, "unknown")
    assert fact(page, "Behind by").inner_text() == "—"
    assert fact(page, "Behind by").locator("span").get_attribute("title") == NOT_KNOWN
    assert fact(page, "Catches up in").inner_text() == "—"


def test_groups_are_sorted_by_age_and_unknown_ones_come_last(look: Look, numbered: Running) -> None:
    page = look(numbered)
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))
    found = []
    for _ in range(2):
        page.get_by_role("button", name="Behind by").click()
        names = page.locator(f"{ROWS} .group a").all_inner_texts()
        found.append((names[0], names[-2], names[-1]))

    assert found == [("extreme", "leaving", "unknown"), ("idle", "extreme", "unknown")]
    assert page.url.endswith("#/?sort=-behind")
    page.reload()
    expect(page.locator(ROWS).first).to_contain_text("idle")
    head = page.get_by_role("columnheader", name="Behind by")
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_the_drain_is_a_range_or_never(look: Look, numbered: Running) -> None:
    page = look(numbered)
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))

    some = ("late", "doomed", "unsure", "idle", "unknown", "steady")
    assert {group: row(page, group).locator(".drain").inner_text() for group in some} == {
        "late": "5 to 7 min",
        "doomed": "never",
        "unsure": "10 min or never",
        "idle": "0 s",
        "unknown": "—",
        "steady": "keeps pace",
    }
    assert hover(page, "late", "drain") == (
        "In 5 to 7 min at this pace. It reads 53 msg/s; the log grows by 50 msg/s."
    )
    assert (hover(page, "doomed", "drain") or "").startswith("Not at this pace:")


def test_how_fast_the_lag_grows_stands_beside_a_lag_only(look: Look, tmp_path: Path) -> None:
    """What is shown as 0 does not shrink, whatever was measured a moment before."""
    ends: dict[str, list[int | None]] = {"orders": [2000]}
    offsets = {"done": 2000, "slower": 1000, "faster": 1000, "same": 1000}
    commits = [(group, "orders", 0, at, NOW_S * 1000) for group, at in offsets.items()]
    consumed = {"done": 90, "slower": 30, "faster": 126, "same": 50.01}
    stated = {
        group: {"lag": 7.0, "produced": 50.0, "consumed": pace} for group, pace in consumed.items()
    }
    judged = with_numbers(cluster_board(windows_of(ends, commits), ends), stated)
    with running(tmp_path) as started:
        started.publish(Board(NOW_S * 1000, {"local": judged}, Health(ready=True)))
        page = look(started)
        expect(page.locator(ROWS)).to_have_count(len(offsets))
        told = {
            group: (row(page, group).locator(".growth").inner_text(), hover(page, group, "trend"))
            for group in offsets
        }
        page.goto("about:blank")

    assert told == {
        "done": ("", ""),
        "slower": ("+20/s", "The lag grows by 20 msg/s."),
        "faster": ("\u221276/s", "The lag shrinks by 76 msg/s."),
        "same": ("0/s", "The lag stays as it is."),
    }


def test_a_loss_is_told_loudly(look: Look, numbered: Running) -> None:
    page = look(numbered)
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))
    told = {group: row(page, group).locator(".alarm").all_inner_texts() for group in NUMBERS}
    sentences = {}
    for group in ("lossy", "unlucky", "doomed", "leaving", "safe"):
        open_group(page, numbered, group)
        sentences[group] = page.locator(".alarms .alarm").all_inner_texts()

    assert {group: texts[0] for group, texts in told.items() if texts[0]} == {
        "doomed": "loss in 40 min",
        "lossy": "1,204 lost",
        "unlucky": "1 lost, losing records",
        "leaving": "offsets expire in 20 h",
        "extreme": "9,223,000T lost",
    }
    assert sentences == {
        "lossy": ["1,204 records were lost to retention before the group had read them."],
        "unlucky": [
            "1 record was lost to retention before the group had read it.",
            f"Unread records are being lost now {WHY}",
        ],
        "doomed": [
            f"Unread records will be lost in about 40 min {WHY}",
        ],
        "leaving": ["The brokers will forget offsets of it in about 20 h: no member reads there."],
        "safe": [],
    }


def test_a_group_begins_with_its_age_and_so_do_its_partitions(
    look: Look, numbered: Running
) -> None:
    page = look(numbered, "#/group/local/late")
    page.locator(".chart canvas").wait_for()

    facts = page.locator(".fact").all_inner_texts()
    assert [text.split("\n") for text in facts[1:4]] == [
        ["Behind by", "12 min"],
        ["Lag", "1,000 \u22122.5 msg/s"],
        ["Catches up in", "5 to 7 min"],
    ]
    line = page.get_by_role("region", name="Partitions", exact=True).locator("tbody tr")
    assert line.locator("td").all_inner_texts()[3:5] == ["12 min", "1,000"]
    assert line.locator("td:nth-child(4) span").get_attribute("title") == (
        "11 to 13 min, by log ends"
    )


def test_a_topic_says_where_its_age_is_a_bound_only(look: Look, tmp_path: Path) -> None:
    ends: dict[str, list[int | None]] = {"orders": [2000], "bills": [2000]}
    commits = [("older", topic, 0, 1000, NOW_S * 1000) for topic in ends]
    judged = cluster_board(windows_of(ends, commits), ends)
    with running(tmp_path) as started:
        older = with_numbers(judged, {"older": NUMBERS["older"]})
        started.publish(Board(NOW_S * 1000, {"local": older}, Health(ready=True)))
        page = look(started, "#/topics")
        row = page.get_by_role("region", name="Topics").locator("tbody tr").first
        expect(row.locator("td").nth(3)).to_have_text("> 11 min")
        page.goto("about:blank")


def test_a_topic_tells_the_age_of_its_groups(look: Look, server: Running) -> None:
    page = look(server, "#/topic/local/orders")
    groups = page.get_by_role("region", name="Groups").locator("tbody tr")
    billing = groups.filter(has_text="billing").locator("td")
    expect(billing.nth(2)).to_have_text("2 min")

    assert "by log ends" in (billing.nth(2).locator("span").get_attribute("title") or "")
    partitions = page.get_by_role("region", name="Partitions", exact=True).locator("tbody tr")
    titles = partitions.nth(5).locator("td span").evaluate_all("all => all.map(e => e.title)")
    assert "Behind by 2 min" in titles


# The dotted line's colour on the right, where only the future is drawn.
AHEAD = """canvas => { const pen = canvas.getContext("2d"), from = Math.round(canvas.width * 0.86);
    const { data } = pen.getImageData(from, 0, canvas.width - from, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
        const key = data.slice(at, at + 4).join();
        counts.set(key, (counts.get(key) ?? 0) + 1); }
    return counts.size; }"""


def test_the_chart_goes_on_at_the_present_pace(look: Look, numbered: Running) -> None:
    page = look(numbered)
    told, said = {}, {}
    for group in ("late", "doomed", "unsure", "steady", "idle", "unknown", "extreme"):
        open_group(page, numbered, group)
        said[group] = page.locator(".chart").get_attribute("aria-description") or ""
        told[group] = page.locator(".chart .readout .ahead").all_inner_texts()
    open_group(page, numbered, "unsure")
    colours = page.locator(".chart canvas").evaluate(AHEAD)
    over = page.locator(".chart .u-over")
    width = over.evaluate("over => over.clientWidth")
    over.hover(position={"x": 0.95 * width, "y": 50})

    assert {group: texts for group, texts in told.items() if group != "extreme"} == {
        "late": ["at this pace it catches up in 5 to 7 min"],
        "doomed": ["at this pace it never catches up"],
        "unsure": ["at this pace it catches up in 10 min or never"],
        "steady": ["at this pace it stays behind"],
        "idle": [],
        "unknown": [],
    }
    assert said["late"].endswith(
        "to 1,000 messages. From now on, at this pace it catches up in 5 to 7 min."
    )
    assert colours > 3
    expect(page.locator(".chart .readout .ahead")).to_contain_text("all partitions at this pace")


def place(locator: Locator) -> tuple[float, float]:
    """From the top, then from the left."""
    box = locator.bounding_box()
    assert box is not None
    return box["y"], box["x"]


@pytest.mark.parametrize("width", [390, 1180, 2560])
def test_every_width_shows_age_and_status_first(look: Look, numbered: Running, width: int) -> None:
    page = look(numbered, viewport={"width": width, "height": 900})
    first = row(page, "late")
    first.locator(".behind").wait_for()
    shown = {
        name: first.locator(f".{name}").first.is_visible()
        for name in ("status", "behind", "lag", "drain", "produced", "consumed")
    }
    behind, lag = (place(first.locator(f".cell.{name}")) for name in ("behind", "lag"))
    is_too_wide = page.evaluate(
        "(list => list.scrollWidth > list.clientWidth)(document.querySelector('.list'))"
    )

    assert shown == {
        **dict.fromkeys(("status", "behind", "lag"), True),
        "drain": width > 390,
        **dict.fromkeys(("produced", "consumed"), width > 390),
    }
    assert not is_too_wide
    assert behind < lag


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_numbers_and_alarms_are_accessible(look: Look, numbered: Running, theme: str) -> None:
    page = look(numbered, color_scheme=theme)
    serious = dict[str, Any]()
    expect(page.locator(ROWS)).to_have_count(len(NUMBERS))
    for group in ("", "unlucky", "unknown"):
        if group:
            open_group(page, numbered, group)
        found = Axe().run(page).response["violations"]
        serious |= {
            f"{group}: {each['id']}": [node["html"] for node in each["nodes"]]
            for each in found
            if each["impact"] in {"serious", "critical"}
        }

    assert serious == {}


def test_hostile_names_and_extreme_numbers_are_text(look: Look, numbered: Running) -> None:
    page = look(numbered)
    open_group(page, numbered, HOSTILE)
    assert fact(page, "Behind by").inner_text() == "12 min"
    open_group(page, numbered, "extreme")

    assert page.locator("main b").count() == 0
    text = page.locator("main").inner_text()
    assert not any(word in text for word in ("NaN", "Infinity", "undefined", "null", "1 messages"))


def test_the_first_view_has_ages_and_alarms_without_script(look: Look, numbered: Running) -> None:
    page = look(numbered, java_script_enabled=False)
    line = page.locator("tbody tr").filter(has=page.get_by_role("link", name="late"))
    expect(line.locator("td").nth(3)).to_have_text("12 min")
    expect(line.locator("td").nth(3).locator("span")).to_have_attribute(
        "title", "11 to 13 min, by log ends"
    )
    page.get_by_role("link", name="unlucky").click()

    expect(page.locator(".alarms .alarm")).to_have_count(2)
