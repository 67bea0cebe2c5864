"""All groups at a glance: with and without script, ten or ten thousand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from page.conftest import Look
from page.town import HOSTILE, Group, Town, falls_behind, keeps_up, stalls
from playwright.sync_api import Page, Route, expect
from support.boards import NOW_S, cluster_board, windows_of
from support.http_side import Running, running

from warren.model.board import Board
from warren.model.health import Health

ROWS = ".list .rows .row:not([hidden])"
MANY = 10_000


def names(page: Page) -> list[str]:
    return page.locator(f"{ROWS} .group a").all_inner_texts()


def test_the_first_view_needs_no_script(look: Look, server: Running) -> None:
    page = look(server, java_script_enabled=False)

    lines = page.locator("tbody tr")
    expect(lines.first).to_contain_text("ERR")
    assert page.locator("tbody tr td:nth-child(2)").first.inner_text() == "sessionizer"
    assert set(HOSTILE) <= set(page.locator("tbody td:nth-child(2)").all_text_contents())
    page.get_by_role("link", name="billing").click()
    expect(page.locator("h1")).to_have_text("billing")
    expect(page.locator(".reasons li")).to_have_count(1)
    expect(page.locator(".reasons")).to_contain_text("its lag never shrank")
    expect(page.locator(".reasons")).to_contain_text("Likewise: 7 others")


def test_one_of_a_kind_is_counted_as_one(look: Look, tmp_path: Path) -> None:
    at_ms, ends = NOW_S * 1000, {"orders": [50, 50]}
    commits = [("only", "orders", partition, 5, at_ms) for partition in (0, 1)]
    judged = cluster_board(windows_of(ends, commits), ends, now_s=NOW_S + 60)
    with running(tmp_path) as started:
        started.publish(Board(at_ms, {"local": judged}, Health(ready=True)))
        page = look(started, java_script_enabled=False)
        expect(page.locator(".cluster .of")).to_have_text("1 group")
        page.get_by_role("link", name="only").click()
        expect(page.locator(".reasons .of")).to_have_text("Likewise: 1 other")
        expect(page.locator(".reasons")).to_contain_text(
            "in the 60 s since its only commit, and 45"
        )


def test_groups_are_searched_without_script(look: Look, server: Running) -> None:
    page = look(server, "?match=CLICK", java_script_enabled=False)

    assert page.locator("tbody td:nth-child(2)").all_inner_texts() == ["clickstream-to-lake"]


def test_a_group_without_script_begins_with_its_worst_partition(
    look: Look, server: Running
) -> None:
    page = look(server, "?cluster=local&group=warehouse-sync", java_script_enabled=False)

    assert page.locator("tbody tr").first.locator("td").all_inner_texts()[:3] == [
        "STOP",
        "orders",
        "5",
    ]


def test_trouble_comes_first(look: Look, server: Running) -> None:
    page = look(server)

    expect(page.locator(ROWS).first).to_contain_text("sessionizer")
    statuses = page.locator(f"{ROWS} .status .status").all_inner_texts()
    assert names(page)[:3] == ["sessionizer", "fraud-scoring", "warehouse-sync"]
    assert statuses[:3] == ["REWIND", "STOP", "STOP"]
    assert page.locator(".cluster").inner_text().split() == [
        *["local", "36", "groups"],
        *["ERR", "6", "WARN", "1", "OK", "29"],
    ]
    first = page.locator(ROWS).first
    assert first.locator(".lag").inner_text() == "590,160"
    assert first.locator(".worst").inner_text().split() == ["clicks:15", "36,900"]
    assert first.locator(".owner").inner_text() == "/10.0.3.13"
    assert first.locator("time").inner_text() == "1 s ago"
    assert len((first.locator("polyline").get_attribute("points") or "").split()) == 11


def test_filter_search_and_order_are_in_the_address(look: Look, server: Running) -> None:
    page = look(server)

    page.get_by_role("button", name="ERR").last.click()
    expect(page.locator(ROWS)).to_have_count(6)
    page.get_by_role("searchbox").fill("ORDERS")
    expect(page.locator(ROWS)).to_have_count(1)
    assert names(page) == ["warehouse-sync"]
    assert page.url.endswith("#/?q=ORDERS&status=ERR")
    page.reload()
    expect(page.locator(ROWS)).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Group", exact=True).click()
    expect(page.locator(ROWS).first).to_contain_text("<script>")
    assert page.url.endswith("#/?sort=name")
    page.get_by_role("button", name="Group", exact=True).click()
    expect(page.locator(ROWS).first).to_contain_text("eht sdrawkcab")
    head = page.get_by_role("columnheader", name="Group")
    expect(head).to_have_attribute("aria-sort", "descending")


def test_a_group_is_found_by_any_of_its_topics_and_owners(look: Look, tmp_path: Path) -> None:
    ends: dict[str, list[int | None]] = {"Orders": [50], "refunds": [50]}
    at_ms = NOW_S * 1000
    commits = [("both", "Orders", 0, 5, at_ms), ("both", "refunds", 0, 50, at_ms)]
    windows = windows_of(ends, [*commits, ("one", "Orders", 0, 5, at_ms)])
    windows.set_owners("both", {("refunds", 0): ("/10.9.8.7", "client")})
    with running(tmp_path) as started:
        started.publish(Board(at_ms, {"local": cluster_board(windows, ends)}, Health(ready=True)))
        page = look(started)
        expect(page.locator(ROWS)).to_have_count(2)
        found = {}
        for word in ("orders", "REFUNDS", "10.9.8", "refunds orders", "nobody"):
            page.get_by_role("searchbox").fill(word)
            found[word] = names(page)
        page.goto("about:blank")

    both = ["both"]
    assert found == {
        "orders": ["both", "one"],
        "REFUNDS": both,
        "10.9.8": both,
        "refunds orders": both,
        "nobody": [],
    }


def test_an_arrow_begins_with_what_is_in_sight(look: Look, crowded: Running) -> None:
    page = look(crowded, "#/?sort=name")
    expect(page.locator(ROWS).first).to_be_visible()

    page.locator(".list").evaluate("list => { list.scrollTop = 34_000 }")
    expect(page.locator(ROWS).first).not_to_contain_text("group-00000")
    page.keyboard.press("ArrowDown")

    expect(page.locator("[aria-selected=true]")).to_contain_text("group-01000")


def test_going_back_finds_the_list_as_it_was(look: Look, crowded: Running) -> None:
    page = look(crowded, "#/?sort=name")
    expect(page.locator(ROWS).first).to_be_visible()
    page.locator(".list").evaluate("list => { list.scrollTop = 100_000 }")
    row = page.locator(ROWS).nth(12)
    expect(row).not_to_contain_text("group-00012")
    group = row.locator("a").inner_text()

    page.get_by_role("link", name=group).click()  # the row may be drawn elsewhere by now
    expect(page.locator("h1")).to_have_text(group)
    page.go_back()

    expect(page.get_by_role("link", name=group)).to_be_visible()


def test_an_answer_that_comes_after_leaving_does_not_forget_where_the_list_stood(
    look: Look, crowded: Running
) -> None:
    page = look(crowded, "#/?sort=name")
    expect(page.locator(ROWS).first).to_be_visible()
    held = list[Route]()
    page.route("**/v4/overview", lambda asked: asked.continue_() if held else held.append(asked))
    page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")  # asks for news
    for _ in range(500):
        page.wait_for_timeout(20)
        if held:
            break
    page.locator(".list").evaluate("list => { list.scrollTop = 100_000 }")
    expect(page.locator(ROWS).nth(12)).not_to_contain_text("group-00012")
    group = page.locator(ROWS).nth(12).locator("a").inner_text()

    page.get_by_role("link", name=group).click()
    expect(page.locator("h1")).to_have_text(group)
    with page.expect_response("**/v4/overview"):
        held[0].continue_()
    page.wait_for_timeout(200)  # longer than the list takes to draw it
    page.go_back()

    expect(page.get_by_role("link", name=group)).to_be_visible()


def test_the_keyboard_is_enough(look: Look, server: Running) -> None:
    page = look(server)

    expect(page.locator(ROWS).first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("warehouse")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[aria-selected=true]")).to_contain_text("warehouse-sync")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("warehouse-sync")
    assert page.url.endswith("#/group/local/warehouse-sync")


def test_changes_arrive_by_themselves(look: Look, tmp_path: Path) -> None:
    others = [Group(name, "orders", keeps_up) for name in ("billing", "ledger")]
    town = Town(NOW_S, [*others, Group("checkout", "orders", keeps_up)], steps=12)
    with running(tmp_path) as started:
        started.publish(town.board())
        page = look(started)
        page.locator(".live[data-state=live]").wait_for()
        first = page.locator(ROWS).first
        expect(first).to_contain_text("billing")

        town.groups = [*others, Group("checkout", "orders", stalls)]
        town.live()
        started.publish(town.board())

        expect(page.locator("#news")).to_have_text("checkout in local OK → ERR")
        expect(first).to_contain_text("REWIND")
        expect(first).to_contain_text("checkout")
        first.locator("a").click()
        expect(page.locator(".happened")).to_contain_text("OK → ERR")
        expect(page).to_have_title("(1) checkout · Warren")
        page.get_by_role("link", name="Changes").click()
        rows = page.get_by_role("region", name="Changes").locator("tbody tr")
        expect(rows.first).to_contain_text("OK → ERR")
        town.groups = others
        town.windows.delete_group("checkout")
        started.publish(town.board())
        expect(rows.first).to_contain_text("ERR → gone")
        expect(page).to_have_title("Changes · Warren")
        page.goto("about:blank")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    ways = (keeps_up, keeps_up, keeps_up, falls_behind)
    crowd = [Group(f"group-{n:05}", "emails", ways[n % 4]) for n in range(MANY)]
    with running(tmp_path_factory.mktemp("crowd")) as started:
        started.publish(Town(NOW_S, crowd, steps=2).board())
        yield started


def test_of_ten_thousand_groups_only_those_in_sight_are_drawn(look: Look, crowded: Running) -> None:
    page = look(crowded)
    expect(page.locator(ROWS).first).to_be_visible()
    page.evaluate("document.querySelector('.list').scrollTop = 1e9")
    expect(page.locator(ROWS).last).to_contain_text("group-09998")
    assert page.locator(".list .row").count() < 80
    page.get_by_role("searchbox").fill("group-04321")
    expect(page.locator(ROWS)).to_have_count(1)
