"""A group, a topic, Warren itself: what each view shows, in light and dark, on a phone, for all."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # has no types
from page.conftest import Look
from page.past import HISTORY_CONFIG, Remembering
from page.town import HOSTILE, Town
from playwright.sync_api import Locator, Page, expect
from support.boards import NOW_S
from support.http_side import Running, running

VIEWS = {
    "overview": ("", ".list .row .group a"),
    "group": ("#/group/local/warehouse-sync", ".chart canvas"),
    "topics": ("#/topics", ".topics a"),
    "topic": ("#/topic/local/orders", "tbody td"),
    "health": ("#/health", "details"),
}

# How many different colours a canvas has.
COLOURS = """canvas => new Set(new Uint32Array(canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""


def table(page: Page, label: str) -> list[list[str]]:
    rows = page.get_by_role("region", name=label, exact=True).locator("tbody tr")
    return [row.locator("td").all_inner_texts() for row in rows.all()]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_view_is_accessible(look: Look, server: Running, theme: str) -> None:
    serious = dict[str, Any]()
    page = look(server, color_scheme=theme)
    for name, (place, sign) in VIEWS.items():
        page.goto(f"http://127.0.0.1:{server.port}/{place}")
        page.locator(sign).first.wait_for()

        found = Axe().run(page).response["violations"]
        serious |= {
            f"{name}: {each['id']}": [node["html"] for node in each["nodes"]]
            for each in found
            if each["impact"] in {"serious", "critical"}
        }

    assert serious == {}


def test_a_group_says_why_and_what_would_change_it(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/warehouse-sync")

    expect(page.locator("h1")).to_have_text("warehouse-sync")
    expect(page.locator(".verdict")).to_contain_text("Nothing was committed for 103 s, longer")
    expect(page.locator(".verdict")).to_contain_text("The next commit ends STOP.")
    worst = table(page, "Partitions")[0]
    assert worst[:4] == ["STOP", "orders", "5", "5,203"]
    assert worst[6:] == ["2,121", "4,812", "2 min", "100 %", "/10.0.3.12", "warehouse-sync-2"]
    assert table(page, "Members")[0] == ["/10.0.3.10", "warehouse-sync-0", "3"]
    assert page.title() == "warehouse-sync · Warren"
    assert page.locator("nav [aria-current]").all_inner_texts() == ["Groups"]
    expect(page.get_by_role("group", name="Period")).to_be_hidden()


def test_a_group_in_good_order_says_why_too(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/clickstream-to-lake")

    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("its lag has shrunk at least once in its last 10 commits")
    expect(verdict).to_contain_text("It becomes WARN when its lag has not shrunk in 10 commits")
    expect(verdict).to_contain_text("Likewise: clicks:14")
    page.goto(f"http://127.0.0.1:{server.port}/#/group/local/checkout")
    expect(verdict).to_contain_text("It is 0 messages behind the log end")


def test_partitions_are_sorted_by_any_column(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/billing")

    page.get_by_role("button", name="Lag", exact=True).last.click()
    lags = [int(row[3].replace(",", "")) for row in table(page, "Partitions")]
    assert lags == sorted(lags, reverse=True)
    page.get_by_role("button", name="Partition", exact=True).click()
    assert [row[2] for row in table(page, "Partitions")] == [str(number) for number in range(8)]
    head = page.get_by_role("columnheader", name="Partition", exact=True)
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_chart_and_heat_map_are_drawn(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/billing")
    heat = page.locator("canvas.heat")

    page.locator(".chart canvas").wait_for()
    by_lag = heat.evaluate(COLOURS)
    page.get_by_role("button", name="Status", exact=True).first.click()
    expect(page.locator(".legend")).to_contain_text("REWIND")
    by_status = heat.evaluate(COLOURS)
    heat.hover(position={"x": 600, "y": 5})

    assert page.locator(".chart canvas").evaluate(COLOURS) > 10
    assert by_lag > 10
    assert by_status > 2
    expect(page.locator(".heats .readout")).to_have_text(re.compile(r"orders:0 · .* · lag [\d,]+"))


def test_the_heat_map_is_read_by_keyboard_and_by_touch(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/billing", has_touch=True)
    heat, read = page.locator("canvas.heat"), page.locator(".heats .readout")
    page.locator(".chart canvas").wait_for()

    page.touchscreen.tap(*centre(heat))
    expect(read).to_contain_text("orders:")
    heat.focus()
    for key in ("Home", "ArrowUp", *["ArrowUp"] * 9, "ArrowDown", "End"):
        page.keyboard.press(key)

    expect(read).to_have_text(re.compile(r"orders:1 · .* · lag [\d,]+ · WARN"))
    expect(read).to_have_attribute("aria-live", "polite")


def centre(locator: Locator) -> tuple[float, float]:
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_status_of_the_past_is_told_as_far_as_it_is_known(look: Look, server: Running) -> None:
    """A partition that has stopped was not stopped when it committed last."""
    page = look(server, "#/group/local/fraud-scoring")
    page.locator(".chart canvas").wait_for()
    heat, read = page.locator("canvas.heat"), page.locator(".heats .readout")

    heat.focus()
    told = []
    for _ in range(96):
        page.keyboard.press("ArrowLeft")
        told.append(read.inner_text().split(" · ")[-1])

    runs = [status for status, _ in groupby(told)]
    assert runs[:2] == ["STOP", "WARN"]
    assert told.count("STOP") < len(told) / 2


def test_a_topic_with_its_groups(look: Look, server: Running) -> None:
    page = look(server, "#/topics")

    page.keyboard.press("/")
    page.keyboard.type("ord")
    page.get_by_role("link", name="orders").click()
    expect(page.locator("h1")).to_have_text("orders")
    groups = {row[1]: (row[0], row[2]) for row in table(page, "Groups")}
    assert groups["billing"] == ("WARN", "51,084")
    assert groups["warehouse-sync"] == ("STOP", "5,203")
    assert table(page, "Partitions")[5] == ["5", "10,015", "50 msg/s", "6,165", "0", "5,203"]
    for _ in range(2):  # from good to bad, then the other way
        page.get_by_role("button", name="Status").click()
    assert [row[0] for row in table(page, "Groups")] == ["STOP", "WARN", "OK"]
    page.get_by_role("link", name="billing").click()
    expect(page.locator("h1")).to_have_text("billing")


def test_warren_about_itself(look: Look, server: Running) -> None:
    page = look(server, "#/health")

    expect(page.locator(".fact").nth(2)).to_have_text(re.compile("17 ms"))
    assert table(page, "Offsets topics")[0][:5] == ["local", "caught up", "3 s", "2 s", "4 s"]
    assert table(page, "Offsets topics")[0][-1] == "held back: 0, 7; no answer: 3"
    page.get_by_text("503 from the pager").wait_for()
    page.get_by_text("sent 40120, failed 0").wait_for()
    page.get_by_text("[cluster.local]").click()
    expect(page.get_by_role("region", name="Settings of cluster.local")).to_contain_text(
        '["localhost:9092"]'
    )


def test_hostile_names_are_text_everywhere(look: Look, server: Running) -> None:
    page = look(server, "#/topic/local/emails")
    page.locator("tbody a").first.wait_for()
    beside = page.locator("tbody a").all_text_contents()
    titles = []
    for name in HOSTILE:
        page.goto(f"http://127.0.0.1:{server.port}/#/group/local/{quote(name, safe='')}")
        expect(page.locator("h1")).to_have_text(name, use_inner_text=False)
        titles.append(page.title())

    assert set(HOSTILE) <= set(beside)
    assert all(title.endswith("· Warren") for title in titles)
    assert page.locator("main script").count() == 0


def test_what_is_gone_is_said_to_be(look: Look, server: Running) -> None:
    page = look(server, "?cluster=local&group=nobody", java_script_enabled=False)

    expect(page.locator(".problem")).to_have_text("there is no such group")


def test_a_phone_shows_it_all(look: Look, server: Running) -> None:
    page = look(server, viewport={"width": 390, "height": 760})
    too_wide = []
    for name, (place, sign) in VIEWS.items():
        page.goto(f"http://127.0.0.1:{server.port}/{place}")
        page.locator(sign).first.wait_for()
        if page.evaluate("document.querySelector('main').scrollWidth > innerWidth"):
            too_wide.append(name)

    assert too_wide == []


def test_a_phone_can_choose_the_order(look: Look, server: Running) -> None:
    page = look(server, viewport={"width": 390, "height": 760})

    page.get_by_label("Order").select_option("By name")

    first = page.locator(".list .rows .row:not([hidden])").first
    expect(first).to_contain_text("<script>")
    assert page.url.endswith("#/?sort=name")


def test_the_content_can_be_skipped_to(look: Look, server: Running) -> None:
    page = look(server, "#/topics")
    page.locator(".topics a").first.wait_for()
    skip = page.get_by_role("link", name="Skip to the content")

    skip.focus()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()
    expect(page.locator(".topics")).to_be_visible()
    assert page.url.endswith("#/topics")


def test_the_theme_can_be_chosen_and_stays(look: Look, server: Running) -> None:
    page = look(server, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)

    page.get_by_role("button", name="Dark theme").click()
    after = page.evaluate(background)
    page.reload()

    assert after != before
    assert page.evaluate(background) == after
    expect(page.get_by_role("button", name="Light theme")).to_be_visible()


def test_times_are_the_readers(look: Look, server: Running) -> None:
    page = look(server, timezone_id="Asia/Tokyo")

    hover = page.locator(".list time").first.get_attribute("title") or ""
    assert "15 Nov 2023, 07:13:19" in hover
    assert "GMT+9" in hover
    assert "(2023-11-14T22:13:19.300Z)" in hover


def test_history_is_shown_when_it_is_kept(look: Look, tmp_path: Path) -> None:
    with running(tmp_path, HISTORY_CONFIG, Remembering()) as started:
        started.publish(Town(NOW_S).board())
        page = look(started, "#/group/local/billing")

        page.get_by_role("button", name="6 h").click()
        expect(page.locator(".chart .readout")).to_contain_text("all partitions 1,234")
        incidents = page.locator(".incidents li").all_inner_texts()
        colours = page.locator("canvas.heat").evaluate(COLOURS)
        assert page.url.endswith("/billing?since=6h")
        page.reload()
        expect(page.get_by_role("button", name="6 h")).to_have_attribute("aria-pressed", "true")
        page.get_by_label("From", exact=True).fill("2023-11-14T10:00")
        page.get_by_label("To", exact=True).fill("2023-11-14T12:30")
        page.get_by_role("button", name="Show", exact=True).click()
        heading = page.get_by_role("heading", name="Incidents from 14 Nov 2023, 10:00:00")
        heading.wait_for()
        address = page.url
        page.goto("about:blank")

    assert address.endswith(
        "?since=2023-11-14T10%3A00%3A00.000Z&until=2023-11-14T12%3A30%3A00.000Z"
    )
    assert len(incidents) == 2
    assert "not over" in incidents[0]
    assert "lag up to 900" in incidents[1]
    assert colours > 2
