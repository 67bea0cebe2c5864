"""A group, a topic, Warren itself: what each view shows, in light and dark, on a phone, for all."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from page.conftest import Look
from page.every_size import TWO_FRAMES, WIDTHS, faults, faults_of
from page.town import GROUPS, HOSTILE, Group, Town, falls_behind, keeps_up, stalls
from playwright.sync_api import Locator, Page, expect
from support.boards import NOW_S, with_words
from support.http_side import Running, ask, running

MANY = 2_000
VIEWS = {
    "overview": ("", ".list .row .group a"),
    "empty": ("#/?q=nowhere", ".empty"),
    "group": ("#/group/local/warehouse-sync", ".chart canvas"),
    "hostile": (f"#/group/local/{quote(HOSTILE[0], safe='')}", ".chart canvas"),
    "long": (f"#/group/local/{quote(HOSTILE[2], safe='')}", ".chart canvas"),
    "topics": ("#/topics", "tbody a"),
    "topic": ("#/topic/local/emails", "tbody td"),
    "changes": ("#/changes", "tbody td"),
    "health": ("#/health", "details"),
}
JSON = {"content-type": "application/json"}
# To a part of a pixel: less is enough for an ellipsis.
IS_CUT = """element => {
    const text = document.createRange();
    text.selectNodeContents(element);
    return text.getBoundingClientRect().width > element.getBoundingClientRect().width;
}"""
MARK = re.compile("^Acknowledged by ann|^acknowledged$")

# How many different colours a canvas has.
COLOURS = """canvas => new Set(new Uint32Array(canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""


def table(page: Page, label: str) -> list[list[str]]:
    rows = page.get_by_role("region", name=label, exact=True).locator("tbody tr")
    return [row.locator("td").all_inner_texts() for row in rows.all()]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two thousand groups more, all of one topic."""
    ways = (keeps_up, falls_behind, stalls)
    odd = [Group(name, "emails", ways[n % 3]) for n, name in enumerate(HOSTILE)]
    many = [Group(f"group-{n:05}", "emails", ways[n % 3]) for n in range(MANY)]
    with running(tmp_path_factory.mktemp("crowd")) as started:
        town = Town(NOW_S, GROUPS + odd + many, steps=16)
        started.publish(town.board())
        town.groups = GROUPS + [each._replace(way=stalls) for each in odd] + many
        for _ in range(12):
            town.live()
        started.publish(town.board())  # so that there are changes, too
        yield started


def test_every_view_is_good_at_every_size_in_light_and_in_dark(look: Look, crowd: Running) -> None:
    page = look(crowd)

    assert faults_of(page, f"http://127.0.0.1:{crowd.port}/", VIEWS) == {}


def test_what_is_open_is_good_at_every_size(look: Look, crowd: Running) -> None:
    page = look(crowd)
    wrong = dict[str, Any]()
    with acknowledged(crowd):
        for name, item in (("overview", "Columns"), ("overview", "Export"), ("long", "Silence")):
            place, sign = VIEWS[name]
            page.goto("about:blank")
            page.goto(f"http://127.0.0.1:{crowd.port}/{place}")
            page.locator(sign).first.wait_for()
            expect(page.get_by_text(MARK).first).to_be_attached()

            def open_it(shown: Page, item: str = item) -> None:
                opener = shown.locator("summary, .actions button", has_text=item)
                if opener.is_visible():  # a phone has no columns
                    opener.click()

            wrong |= {f"{item}, {what}": each for what, each in faults(page, open_it).items()}

    assert wrong == {}


def test_the_mark_of_a_silence_gives_way_to_the_name(look: Look, crowd: Running) -> None:
    page = look(crowd)
    cut = dict[int, str]()
    with acknowledged(crowd):
        page.reload()
        name = page.locator(".list .row .group a", has_text="group-00002")
        expect(page.get_by_text(MARK).first).to_be_attached()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(TWO_FRAMES)
            if name.evaluate(IS_CUT):
                cut[width] = name.inner_text()

    assert cut == {}


@contextmanager
def acknowledged(server: Running) -> Iterator[None]:
    """All groups, by somebody with a hostile name."""
    silence = {"clusters": ["local"], "kind": "acknowledgement", "duration": "1h"}
    silence |= {"author": "ann " + HOSTILE[0], "comment": HOSTILE[2]}
    ask(server.port, "/v4/silences", "POST", json.dumps(silence), JSON)
    yield
    (kept,) = ask(server.port, "/v4/silences").json["silences"]
    ask(server.port, f"/v4/silences/{kept['id']}", "DELETE")


@pytest.fixture(scope="module")
def judged_twice(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made = town.board()
    judged = with_words(made.clusters["local"], town.windows, {}, decides=True)
    with running(tmp_path_factory.mktemp("twice")) as started:
        started.publish(replace(made, clusters={"local": judged}))
        yield started


def test_a_group_tells_the_second_opinion_and_its_rhythm(look: Look, judged_twice: Running) -> None:
    page = look(judged_twice, "#/group/local/warehouse-sync")

    expect(page.locator(".verdict .second-opinion")).to_contain_text(
        "On orders:5, Burrow's rules would say STOP: Nothing was committed for 103 s"
    )
    expect(page.locator(".verdict .rhythm").first).to_contain_text("a commit every 6 s")
    page.goto(f"http://127.0.0.1:{judged_twice.port}/#/group/local/checkout")
    expect(page.locator("h1")).to_have_text("checkout")
    expect(page.locator(".verdict .rhythm").first).to_be_visible()
    expect(page.locator(".second-opinion")).to_have_count(0)


def test_a_group_says_why_and_what_would_change_it(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/warehouse-sync")

    expect(page.locator("h1")).to_have_text("warehouse-sync")
    expect(page.locator(".verdict .why")).to_have_text(
        "Silent at offset 4,812 for 103 s; 5,203 messages wait. That is orders:5; its other 7 "
        "partitions are OK. It is OK again when that partition is."
    )
    expect(page.locator(".verdict")).to_contain_text("Nothing was committed for 103 s, longer")
    expect(page.locator(".verdict")).to_contain_text("The next commit ends STOP.")
    worst = table(page, "Partitions")[0]
    assert worst[:5] == ["STOP", "orders", "5", "2 min", "5,203"]
    assert worst[7:] == ["2,121", "4,812", "2 min", "100 %", "/10.0.3.12", "warehouse-sync-2"]
    assert table(page, "Members")[0] == ["/10.0.3.10", "warehouse-sync-0", "3"]
    expect(page).to_have_title("(6) warehouse-sync · Warren")
    assert page.locator("nav [aria-current]").all_inner_texts() == ["Groups"]
    expect(page.get_by_role("group", name="Period")).to_be_hidden()


def test_a_group_in_good_order_says_why_too(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/clickstream-to-lake")

    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("its lag has shrunk at least once in its last 10 commits")
    expect(verdict).to_contain_text("It becomes WARN when its lag has not shrunk in 10 commits")
    expect(verdict).to_contain_text("Likewise: clicks:14")
    page.goto(f"http://127.0.0.1:{server.port}/#/group/local/checkout")
    expect(verdict).to_contain_text("It has read everything.")


def test_partitions_are_sorted_by_any_column(look: Look, server: Running) -> None:
    page = look(server, "#/group/local/billing")

    page.get_by_role("button", name="Lag", exact=True).last.click()
    lags = [int(row[4].replace(",", "")) for row in table(page, "Partitions")]
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


def test_the_legend_of_the_heat_map_has_each_lag_once(look: Look, tmp_path: Path) -> None:
    told = {}
    with running(tmp_path) as started:
        page = look(started)
        for lag in (1, 2, 3, 10, 40, 40_000):

            def is_behind(_step: int, _partition: int, end: int, lag: int = lag) -> int:
                return end - lag

            groups = [Group(f"behind-{lag}", "clicks", is_behind)]
            started.publish(Town(NOW_S, groups, steps=300).board())
            page.goto(f"http://127.0.0.1:{started.port}/#/group/local/behind-{lag}")
            page.locator(".chart canvas").wait_for()
            ticks = page.locator(".legend .tick")
            expect(ticks.last).to_have_text(f"{lag:,} message{'s' * (lag > 1)}")
            told[lag] = ticks.all_inner_texts()[:-1]
        colours = page.locator(".legend .swatch").evaluate_all(
            "all => new Set(all.map(each => getComputedStyle(each).backgroundColor)).size"
        )
        page.goto("about:blank")

    assert told == {
        1: ["0"],
        2: ["0", "1"],
        3: ["0", "1", "2"],
        10: ["0", "1", "3", "6"],
        40: ["0", "1", "3", "10", "23"],
        40_000: ["0", "1", "2,500", "10,000", "22,500"],
    }
    assert colours == 6


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

    page.get_by_role("region", name="Topics").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("ord")
    expect(page.get_by_role("region", name="Topics").locator("tbody tr")).to_have_count(1)
    assert table(page, "Topics")[0][:6] == [
        *("orders", "STOP", "51,084", "2 min", "3", "400 msg/s")
    ]
    page.get_by_role("link", name="orders").click()
    expect(page.locator("h1")).to_have_text("orders")
    groups = {row[1]: (row[0], row[2], row[3]) for row in table(page, "Groups")}
    assert groups["billing"] == ("WARN", "2 min", "51,084")
    assert groups["warehouse-sync"] == ("STOP", "2 min", "5,203")
    bars = page.get_by_role("region", name="Groups").locator(".bar")
    assert bars.evaluate_all("bars => bars.map(bar => bar.clientWidth > 0)") == [True, True, False]
    assert table(page, "Partitions")[5] == ["5", "10,015", "50 msg/s", "6,165", "0", "5,203"]
    for _ in range(2):  # from good to bad, then the other way
        page.get_by_role("button", name="Status").click()
    assert [row[0] for row in table(page, "Groups")] == ["STOP", "WARN", "OK"]
    page.get_by_role("link", name="billing").click()
    expect(page.locator("h1")).to_have_text("billing")


def test_warren_about_itself(look: Look, server: Running) -> None:
    page = look(server, "#/health")

    expect(page.locator(".fact").nth(3)).to_have_text(re.compile("17 ms"))
    assert page.locator(".fact").nth(1).inner_text().split("\n") == ["Reading is behind by", "3 s"]
    assert table(page, "Offsets topics")[0][:5] == ["local", "caught up", "3 s", "2 s", "4 s"]
    assert table(page, "Offsets topics")[0][-1] == "held back: 0, 7; no answer: 3"
    told = page.locator(".service").all_inner_texts()
    assert told[0] == (
        "Reads local: caught up, 3 s behind, the last records came 2 s ago, partitions held back "
        "by a transaction: 0, 7, partitions without an answer: 3."
    )
    assert told[1] == "Sink influx: 40,120 sent."
    assert re.fullmatch(
        r"Notifier pager: 3 sent\. Fails since 14 Nov 2023, .*: 503 from the pager", told[2]
    )
    expect(page.get_by_text("Not configured: snapshots, history.")).to_be_visible()
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


def test_a_phone_needs_no_scrolling_aside_for_what_matters(look: Look, crowd: Running) -> None:
    page = look(crowd, viewport={"width": 390, "height": 800})
    fits = "element => element.scrollWidth <= element.clientWidth"
    filters = page.locator(".filter")
    expect(filters.first).to_contain_text("2,036")
    tops = {box["y"] for each in filters.all() if (box := each.bounding_box())}
    found = {"filters": page.locator(".filters").evaluate(fits)}
    for place, label in (("#/topic/local/emails", "Groups"), ("#/changes", "Changes")):
        page.goto(f"http://127.0.0.1:{crowd.port}/{place}")
        table = page.get_by_role("region", name=label, exact=True)
        expect(table.locator("tbody td").first).to_be_visible()
        found[label] = table.evaluate(fits)

    assert len(tops) == 1
    assert found == dict.fromkeys(("filters", "Groups", "Changes"), True)


def test_a_phone_can_choose_the_order(look: Look, server: Running) -> None:
    page = look(server, viewport={"width": 390, "height": 760})

    page.get_by_label("Order").select_option("By name")

    first = page.locator(".list .rows .row:not([hidden])").first
    expect(first).to_contain_text("<script>")
    assert page.url.endswith("#/?sort=name")


def test_the_content_can_be_skipped_to(look: Look, server: Running) -> None:
    page = look(server, "#/topics")
    page.locator("tbody a").first.wait_for()
    skip = page.get_by_role("link", name="Skip to the content")

    skip.focus()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()
    expect(page.get_by_role("region", name="Topics")).to_be_visible()
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
