"""A page that stays open: boards come, groups go, the server goes and comes back."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page.conftest import Look
from page.town import Group, Town, falls_behind, keeps_up, stalls
from playwright.sync_api import Browser, expect
from support.boards import NOW_S, cluster_board, log_ends
from support.http_side import CONFIG, Running, running

TABS = 8  # a browser makes six connections to one server
HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}"""
SHOW = """() => {
  delete document.hidden;
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}"""
LIVE = ".live[data-state=live]"


@pytest.fixture
def town() -> Town:
    return Town(NOW_S, [Group("billing", "orders", falls_behind), Group("ok", "clicks", keeps_up)])


@pytest.fixture
def started(tmp_path: Path, town: Town) -> Iterator[Running]:
    with running(tmp_path) as serving:
        serving.publish(town.board())
        yield serving


def test_hidden_tabs_leave_the_connections_to_the_one_that_is_seen(
    browser: Browser, started: Running, town: Town
) -> None:
    context = browser.new_context()
    context.set_default_timeout(15_000)
    pages = [context.new_page() for _ in range(TABS)]
    for page in pages:
        page.goto(f"http://127.0.0.1:{started.port}/")
        page.locator(LIVE).wait_for()
        page.evaluate(HIDE)

    town.live()
    started.publish(town.board())
    pages[0].evaluate(SHOW)

    moment = pages[0].evaluate("ms => new Date(ms).toISOString()", town.now_s * 1000)
    expect(pages[0].locator(".live time")).to_have_attribute("datetime", moment)
    context.close()


def test_a_new_board_disturbs_nobody(started: Running, look: Look, town: Town) -> None:
    page = look(started, "#/group/local/billing", viewport={"width": 500, "height": 700})
    page.locator(LIVE).wait_for()
    lag = page.locator(".fact", has=page.get_by_text("Lag", exact=True)).locator("dd")
    before = lag.inner_text()
    heat, table = page.locator("canvas.heat"), page.get_by_role("region", name="Partitions")
    heat.hover(position={"x": 200, "y": 5})
    read = page.locator(".heats .readout")
    expect(read).to_contain_text("orders:0")
    link = page.locator("tbody a").first
    link.focus()
    table.evaluate("table => { table.scrollLeft = 90 }")

    town.live()
    started.publish(town.board())

    expect(lag).not_to_have_text(before)
    expect(link).to_be_focused()
    expect(read).to_contain_text("orders:0")
    assert table.evaluate("table => table.scrollLeft") == 90


def test_tile_and_chart_agree_when_only_the_log_ends_are_new(tmp_path: Path, look: Look) -> None:
    """No commit came, so the group is judged as of the same moment again, with another lag."""
    town = Town(NOW_S, [Group("newsletter", "orders", stalls)], steps=12)
    with running(tmp_path) as started:
        first = town.board()
        started.publish(first)
        page = look(started, "#/group/local/newsletter")
        read = page.locator(".chart .readout")
        lag = page.locator(".fact", has=page.get_by_text("Lag", exact=True)).locator("dd span")
        expect(read).to_contain_text(f"all partitions {lag.first.inner_text()}")
        before = lag.first.inner_text()

        counts = {topic: len(ends) for topic, ends in town.ends().items()}
        later = {topic: [(end or 0) + 50 for end in ends] for topic, ends in town.ends().items()}
        town.windows.set_log_ends(log_ends(later), counts, now_s=town.now_s)
        judged = cluster_board(town.windows, later, town.file, town.now_s)
        started.publish(
            replace(first, moment_ms=first.moment_ms + 1000, clusters={"local": judged})
        )

        expect(lag.first).not_to_have_text(before)
        expect(read).to_contain_text(f"all partitions {lag.first.inner_text()}")
        page.goto("about:blank")


def test_a_group_that_goes_while_it_is_looked_at_can_still_be_read(
    started: Running, browser: Browser, town: Town
) -> None:
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{started.port}/#/group/local/billing")
    page.locator(LIVE).wait_for()

    town.windows.delete_group("billing")
    started.publish(town.board())

    expect(page.get_by_role("alert")).to_have_text(
        "there is no such group. This is the last of it."
    )
    expect(page.locator("h1")).to_have_text("billing")
    town.groups = [Group("billing", "orders", keeps_up)]
    town.live()
    started.publish(town.board())
    expect(page.get_by_role("alert")).to_have_count(0)
    page.close()


def test_an_order_that_was_chosen_stays(tmp_path: Path, look: Look) -> None:
    """Others lag most now, and the last one that had a column is gone."""
    town = Town(NOW_S, [Group(f"group-{n}", "payments", keeps_up) for n in range(8)])
    with running(tmp_path) as started:
        started.publish(town.board())
        page = look(started, "#/topic/local/payments")
        page.locator(LIVE).wait_for()
        heads = page.get_by_role("region", name="Partitions").get_by_role("columnheader")
        by_lag = heads.get_by_role("button", name="group-0")
        by_lag.click()
        by_lag.focus()
        before = heads.all_inner_texts()

        town.groups = [Group(f"group-{n}", "payments", falls_behind) for n in range(2, 8)]
        town.live()
        town.windows.delete_group("group-5")
        started.publish(town.board())

        expect(heads.last).to_have_text("group-7")
        after = heads.all_inner_texts()
        expect(by_lag).to_be_focused()
        expect(heads.nth(3)).to_have_attribute("aria-sort", "descending")
        page.goto("about:blank")

    assert before[3:] == [f"group-{n}" for n in range(6)]
    assert [head.strip(" \u2193") for head in after[3:]] == [
        f"group-{n}" for n in (0, 2, 3, 4, 6, 7)
    ]


def test_the_groups_that_lag_most_have_the_columns(tmp_path: Path, look: Look) -> None:
    def town_groups(behind: set[int]) -> list[Group]:
        ways = [stalls if number in behind else keeps_up for number in range(8)]
        return [Group(f"group-{number}", "payments", way) for number, way in enumerate(ways)]

    town = Town(NOW_S, town_groups({0, 1, 2, 3, 4, 5}), steps=12)
    with running(tmp_path) as started:
        started.publish(town.board())
        page = look(started, "#/topic/local/payments")
        heads = page.get_by_role("region", name="Partitions").get_by_role("columnheader")
        expect(heads.last).to_have_text("group-5")
        expect(page.get_by_text("The 6 that lag most, of 8.")).to_be_visible()

        town.groups = town_groups({6, 7})
        for _ in range(12):
            town.live()
        started.publish(town.board())

        expect(heads.last).to_have_text("group-7")
        shown = heads.all_inner_texts()[3:]
        page.goto("about:blank")

    assert shown == [f"group-{number}" for number in (0, 1, 2, 3, 6, 7)]


def test_a_board_that_is_old_is_said_to_be(started: Running, look: Look, town: Town) -> None:
    page = look(started)
    live = page.locator("#live")

    expect(live).to_have_text(re.compile(r"^nothing new for \d+ y$"))
    town.now_s = int(time.time())
    started.publish(town.board())

    expect(live).to_have_text(re.compile(r"^live \d\d:\d\d:\d\d$"))
    started.publish(town.board(behind_s=42.0))

    expect(live).to_have_text("reading is behind by 42 s")


def test_a_server_that_comes_back_is_found(browser: Browser, tmp_path: Path, town: Town) -> None:
    page = browser.new_page()
    page.set_default_timeout(30_000)
    with running(tmp_path) as first:
        first.publish(town.board())
        port = first.port
        page.goto(f"http://127.0.0.1:{port}/#/group/local/billing")
        page.locator(LIVE).wait_for()
    expect(page.locator("#live")).to_have_text("connection lost, trying again")
    expect(page.locator("h1")).to_have_text("billing")

    with running(tmp_path, CONFIG.replace(":0", f":{port}")) as second:
        town.live()
        second.publish(town.board())

        page.locator(LIVE).wait_for()
        page.locator("tbody a").first.click()
        expect(page.locator("h1")).to_have_text("orders")
        page.close()


def test_any_address_is_answered_by_some_view(started: Running, look: Look) -> None:
    page = look(started, "#/constructor?sort=constructor")
    row = page.locator(".list .rows .row:not([hidden])")

    expect(row).to_have_count(2)
    page.goto(f"http://127.0.0.1:{started.port}/?match=bill")
    expect(row).to_have_count(1)
    assert page.url.endswith("/#/?q=bill")
