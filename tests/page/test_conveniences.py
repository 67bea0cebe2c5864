"""What saves an operator's time: columns, exports, silences, links, paper."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page.conftest import Look
from page.town import HOSTILE, Group, Town, fails_on_one, falls_behind, keeps_up, stalls
from playwright.sync_api import Browser, Page, expect
from support.boards import NOW_S
from support.http_side import CONFIG, Running, ask, running

FORMULA = "=HYPERLINK(1)"
READERS = [Group(name, "orders", keeps_up) for name in (*HOSTILE, FORMULA, "reader.1", "reader.2")]
LATE, STUCK = Group("late", "orders", falls_behind), Group("stuck", "orders", stalls)
GROUPS = [*READERS, LATE, STUCK, Group("torn", "orders", fails_on_one)]
GRAFANA = "https://grafana.example.com/lag?var-group={{.Group}}&c={{.Cluster}}&from={{.From}}"
TOKENS = 'read-token = "r"\nsilence-token = "s"\nwrite-token = "w"\n[cluster.local]'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = f"[general]\ngrafana-url = '{GRAFANA}'\n" + CONFIG
    with running(tmp_path_factory.mktemp("small"), config) as started:
        started.publish(Town(NOW_S, GROUPS).board())
        yield started


def rows(page: Page) -> list[str]:
    return page.locator(".list .rows .row:not([hidden]) .group a").all_inner_texts()


def export(page: Page, item: str) -> None:
    page.locator("summary", has_text="Export").click()
    page.get_by_text(item).click()


def test_an_empty_list_says_why_and_leads_out(look: Look, small: Running) -> None:
    page = look(small, "#/?status=foo")
    empty = page.locator(".empty")
    expect(empty).to_contain_text("There is no status “FOO”: a group is ERR, WARN, OK.")
    page.get_by_role("button", name="Show all groups").click()
    expect(empty).to_be_hidden()
    assert len(rows(page)) == len(GROUPS)
    assert page.url.endswith("/#/")
    page.get_by_role("searchbox").fill("nowhere")
    expect(empty).to_contain_text("No group has “nowhere” in its name, its topics or its owners.")
    page.goto(f"http://127.0.0.1:{small.port}/#/?cluster=moon&status=err")
    page.reload()
    expect(empty).to_contain_text("There is no cluster “moon”.")
    expect(page).to_have_title("(2) Groups · Warren")


def test_chosen_columns_stay_in_the_address(look: Look, small: Running) -> None:
    page = look(small, viewport={"width": 1180, "height": 800})
    heads = page.get_by_role("columnheader")
    usual = ["Status ↓", "Group", "Behind by", "Lag", "Catches up in", "Produced", "Consumed"]
    expect(heads).to_have_count(9)
    assert [text.strip() for text in heads.all_inner_texts()][1:7] == usual[1:]

    page.locator("summary", has_text="Columns").click()
    for name in ("Produced", "Consumed", "Trend"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("Owner", exact=True).check()
    assert page.url.endswith("?columns=behind%2Clag%2Cdrain%2Cage%2Cowner")
    page.reload()
    expect(heads).to_have_count(7)
    expect(page.locator(".row:not([hidden]) .owner").last).to_be_visible()
    expect(page.locator(".row:not([hidden]) .trend").last).to_be_hidden()
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name="The usual ones").click()
    expect(heads).to_have_count(9)


def test_exports_are_safe_and_whole(look: Look, small: Running) -> None:
    page = look(small, permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(".list .row .group a").first).to_be_visible()
    with page.expect_download() as saved:
        export(page, "Save as CSV")
    text = Path(saved.value.path()).read_bytes().decode()
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    assert saved.value.suggested_filename == "groups.csv"
    assert {line["group"] for line in lines} == {
        *(group.name for group in GROUPS if group.name != FORMULA),
        f"'{FORMULA}",  # a spreadsheet does not run it
    }
    late = next(line for line in lines if line["group"] == "late")
    assert (late["status"], late["lag"].isdigit()) == ("WARN", True)

    page.goto(f"http://127.0.0.1:{small.port}/#/group/local/reader.1")
    expect(page.locator("h1")).to_have_text("reader.1")
    export(page, "Copy as curl")
    expect(page.locator(".menu [role=status]")).to_have_text("Copied")
    path = "/v4/group?cluster=local&group=reader.1"
    assert page.evaluate("navigator.clipboard.readText()") == (
        f"curl -s 'http://127.0.0.1:{small.port}{path}'"
    )
    raw = page.get_by_role("link", name="Raw answer").get_attribute("href") or ""
    assert raw.endswith(path)
    docs = page.get_by_role("link", name="API documentation").get_attribute("href") or ""
    assert ask(small.port, docs).status == 200
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        export(page, "Save as JSON")
    assert '"group": "reader.1"' in Path(saved.value.path()).read_text()
    link = page.get_by_role("link", name="Open in Grafana").get_attribute("href") or ""
    assert re.fullmatch(
        r"https://grafana\.example\.com/lag\?var-group=reader\.1&c=local&from=\d+", link
    )


def raw_answer(page: Page, port: int) -> Any:
    page.locator("summary", has_text="Export").click()
    address = page.get_by_role("link", name="Raw answer").get_attribute("href") or ""
    page.keyboard.press("Escape")
    answer = ask(port, address.removeprefix(f"http://127.0.0.1:{port}"))
    assert answer.status == 200
    return answer.json


def test_the_raw_answer_has_what_is_shown(look: Look, server: Running) -> None:
    page = look(server)
    expect(page.locator(".list .row .group a").first).to_be_visible()
    found = {}
    for text in ("", "CLICKS", "10.0.3.12 clicks", "ord late", "nowhere"):
        page.get_by_role("searchbox").fill(text)
        answer = raw_answer(page, server.port)
        shown = page.locator(".total").inner_text().split(" of ")[0] or str(answer["total"])
        found[text] = (int(shown), {line["group"] for line in answer["groups"]})

    assert {text: (shown, len(groups)) for text, (shown, groups) in found.items()} == {
        text: (len(groups), len(groups)) for text, (_, groups) in found.items()
    }
    assert found["CLICKS"][1] == {"clickstream-to-lake", "sessionizer"}
    assert found["10.0.3.12 clicks"][1] == {"clickstream-to-lake", "sessionizer"}
    assert (len(found[""][1]), found["nowhere"][1]) == (36, set())


def test_the_topics_of_all_clusters_are_taken_along(look: Look, tmp_path: Path) -> None:
    made = Town(NOW_S, GROUPS).board()
    (judged,) = made.clusters.values()
    both = CONFIG + CONFIG[CONFIG.index("[cluster.local]") :].replace("local", "far")
    with running(tmp_path, both) as started:
        started.publish(replace(made, clusters={"local": judged, "far": judged}))
        page = look(started, "#/topics")
        lines = page.get_by_role("region", name="Topics").locator("tbody tr")
        expect(lines).to_have_count(8)
        every = raw_answer(page, started.port)["lines"]
        page.get_by_role("searchbox").fill("Ord")
        expect(lines).to_have_count(2)
        some = raw_answer(page, started.port)["lines"]
        page.goto("about:blank")

    assert len(every) == 8
    assert [(line["cluster"], line["topic"]) for line in some] == [
        ("far", "orders"),
        ("local", "orders"),
    ]


def test_an_acknowledgement_is_a_silence_of_that_group_alone(look: Look, small: Running) -> None:
    page = look(small, "#/group/local/reader.1", timezone_id="UTC")
    page.get_by_role("button", name="Acknowledge").click()
    page.get_by_label("Your name").fill("ann")
    page.get_by_label("Why").fill("a look")
    page.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()

    silence = page.locator(".silences")
    expect(silence).to_contain_text(re.compile("^Acknowledged by ann until .* UTC: a look"))
    (kept,) = ask(small.port, "/v4/silences?cluster=local&group=reader.1").json["silences"]
    assert (kept["groups"], kept["kind"]) == (["reader\\.1"], "acknowledgement")
    assert ask(small.port, "/v4/silences?cluster=local&group=reader-1").json["silences"] == []
    page.goto(f"http://127.0.0.1:{small.port}/#/")
    marks = page.locator(".list .rows .row:not([hidden]) .quiet:not([hidden])")
    expect(marks).to_have_text(["acknowledged"])
    expect(marks).to_have_attribute("title", re.compile("^Acknowledged by ann until .*: a look$"))
    marked = page.locator(".row", has=page.locator(".quiet:not([hidden])"))
    expect(marked).to_contain_text("reader.1")
    page.go_back()
    page.get_by_role("button", name="End it").click()
    expect(silence).to_be_empty()
    page.get_by_role("button", name="Silence").click()
    expect(page.get_by_label("Your name")).to_have_value("ann")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_silence_needs_its_token_and_can_be_given_up(tmp_path: Path, browser: Browser) -> None:
    with running(tmp_path, CONFIG.replace("[cluster.local]", TOKENS)) as started:
        started.publish(Town(NOW_S, [Group("late", "orders", falls_behind)], steps=12).board())
        page = browser.new_page()  # it complains about what the server refuses
        page.goto(f"http://127.0.0.1:{started.port}/#/group/local/late")
        page.get_by_label("Token", exact=True).fill("r")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Silence").click()
        page.get_by_label("Your name").fill("ann")
        dialog = page.locator("dialog", has=page.get_by_label("Your name"))
        for answer in ("Cancel", "s"):
            dialog.get_by_role("button", name="Silence").click()
            prompt = page.locator("dialog", has=page.get_by_label("Token", exact=True))
            expect(prompt).to_contain_text(
                "needs the server\u2019s silence-token, or its write-token"
            )
            if answer == "Cancel":
                prompt.get_by_role("button", name="Cancel").click()
                expect(dialog).to_contain_text("nothing was changed")
            else:
                page.get_by_label("Token", exact=True).fill(answer)
                page.keyboard.press("Enter")
        expect(page.locator(".silences")).to_contain_text("Silenced by ann until")
        page.close()


def test_the_worst_partitions_come_first_on_request(look: Look, small: Running) -> None:
    page = look(small, "#/group/local/torn")
    heat, read = page.locator("canvas.heat"), page.locator(".heats .readout")
    page.locator(".chart canvas").wait_for()
    assert page.locator(".legend .tick").count() == 6
    first = []
    for order in ("By topic", "Worst first"):
        page.get_by_role("button", name=order).click()
        heat.hover(position={"x": 300, "y": 5})
        first.append(read.inner_text().split(" · ")[0])
    assert first == ["orders:0", "orders:5"]

    page.goto(f"http://127.0.0.1:{small.port}/#/topic/local/orders")
    partitions = page.get_by_role("region", name="Partitions", exact=True)
    expect(page.get_by_text(f"The 6 that lag most, of {len(GROUPS)}.")).to_be_visible()
    expect(partitions.get_by_role("columnheader")).to_have_count(3 + 6)
    page.get_by_role("button", name=f"Show all {len(GROUPS)}").click()
    expect(partitions.get_by_role("columnheader")).to_have_count(3 + len(GROUPS))


def test_paper_shows_all_of_it(look: Look, small: Running) -> None:
    page = look(small, "#/group/local/late", viewport={"width": 794, "height": 500})
    page.locator(".chart canvas").wait_for()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    inside = """element => { const box = element.getBoundingClientRect(),
        card = element.closest(".card").getBoundingClientRect();
        return box.right <= card.right && box.bottom <= card.bottom && box.width > 300; }"""

    assert page.locator(".chart canvas").evaluate(inside)
    assert page.locator("canvas.heat").evaluate(inside)
    expect(page.locator("header.bar")).to_be_hidden()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
