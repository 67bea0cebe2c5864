"""The past of a group in the page: from memory at once, from the table, and when it is late."""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from msgspec import structs
from page.conftest import Look
from page.past import HISTORY_CONFIG, STEPS, Hesitating, Remembering, lived
from page.town import Group, falls_behind
from playwright.sync_api import Browser, Page, expect
from pyspark.sql import SparkSession
from support import history_rows
from support.http_side import running

from warren.model.health import HistoryHealth
from warren.model.history_question import Progress

HOUR_MS = 3_600_000
DAYS = 7
QUIET = (5 * 3600, 4 * 3600)  # nothing was watched so long ago
# How many different colours a canvas has.
COLOURS = """canvas => new Set(new Uint32Array(canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""


def tile(page: Page, label: str) -> str:
    value = page.locator(".fact").filter(has=page.get_by_text(label, exact=True)).locator("dd")
    return value.locator("span").first.inner_text()


def test_the_last_hours_come_from_memory_and_agree_with_the_tiles(
    look: Look, tmp_path: Path
) -> None:
    actions = Remembering(tmp_path / "history")
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        town = lived(actions)
        started.publish(town.board())
        page = look(started, "#/group/local/warehouse-sync", timezone_id="UTC")
        read = page.locator(".chart .readout")
        expect(page.locator(".incidents")).to_contain_text("not over")
        assert tile(page, "ERR for").endswith("min")  # as history says: the page has just begun
        now = read.inner_text()
        assert f"all partitions {tile(page, 'Lag')}" in now
        for period in ("1 h", "6 h"):
            page.get_by_role("button", name=period, exact=True).click()
            expect(page.locator(".period + .note")).to_have_text("")
            expect(read).to_contain_text(f"all partitions {tile(page, 'Lag')}")
            expect(page.locator(".strip .err")).to_have_count(1)
            assert page.locator("canvas.heat").evaluate(COLOURS) > 2
            assert page.locator(".chart canvas").evaluate(COLOURS) > 10
        expect(page.locator(".strip .err .word")).to_be_hidden()  # there is no room for it
        expect(page.locator(".chart .readout .ahead")).to_have_text(
            "at this pace it never catches up"
        )
        assert page.url.endswith("/warehouse-sync?since=6h")
        page.reload()
        expect(page.get_by_role("button", name="6 h")).to_have_attribute("aria-pressed", "true")
        end = page.evaluate("s => new Date(s * 1000).toISOString()", town.now_s - 60)
        page.goto(f"{page.url.partition('?')[0]}?since=1h&until={end}")
        page.reload()
        expect(page.get_by_role("heading", name="Incidents from ")).to_be_visible()
        expect(page.locator(".chart .readout .ahead")).to_have_count(0)
        begin, until = (
            f"{datetime.fromtimestamp(town.now_s - ago, UTC):%Y-%m-%dT%H:%M}" for ago in QUIET
        )
        page.get_by_label("From", exact=True).fill(begin)
        page.get_by_label("To", exact=True).fill(until)
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator(".period + .note")).to_have_text("Nothing was kept in that time.")
        address = page.url
        page.goto("about:blank")

    since, end = (f"{quote(each)}%3A00.000Z" for each in (begin, until))
    assert address.endswith(f"?since={since}&until={end}")


def test_a_week_comes_from_the_table(look: Look, tmp_path: Path, spark: SparkSession) -> None:
    now_ms = int(time.time() * 1000)
    hours = range(24 * DAYS - 2)
    moments = {}
    for hour in hours:
        status, lag = (3, 900 + hour) if 40 <= hour < 60 else (1, 5)
        moments[now_ms - (24 * DAYS - 1 - hour) * HOUR_MS] = [
            history_rows.group("billing", status, lag),
            history_rows.partition("billing", "orders", 0, 4 if status == 3 else 1, lag),
        ]
    directory = tmp_path / "history"
    history_rows.write(spark, directory, moments)
    actions = Remembering(directory)
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        town = lived(actions, [Group("billing", "orders", falls_behind)])
        started.publish(town.board())
        page = look(started, "#/group/local/billing?since=7d")
        incidents = page.locator(".incidents")
        expect(incidents).to_contain_text("20 h, lag up to 959", timeout=30_000)
        expect(page.locator(".strip .err")).to_have_count(1)
        expect(page.locator(".strip .ok")).to_have_count(2)
        expect(page.locator(".chart .readout")).to_contain_text(
            f"all partitions {tile(page, 'Lag')}"
        )
        page.goto("about:blank")


def test_history_that_is_not_answered_is_told_and_asked_for_again(
    browser: Browser, tmp_path: Path
) -> None:
    actions = Hesitating(tmp_path / "history")
    page = browser.new_page()  # it complains about what the server refuses
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        town = lived(actions, [Group("billing", "orders", falls_behind)])
        started.publish(town.board())
        page.goto(f"http://127.0.0.1:{started.port}/#/group/local/billing?since=7d")
        said = page.locator(".period + .note")
        incidents = page.locator(".incidents")

        expect(said).to_have_text(
            "The past is not answered: others are being answered. Asked again in 2 s."
        )
        expect(incidents).to_contain_text("Asked again in 2 s.")
        expect(said).to_have_text(
            re.compile(r"^History is being read, for \d+ s now …$"), timeout=30_000
        )
        expect(page.locator(".chart canvas")).to_have_count(0)  # "7 d" is chosen: not now's lag
        actions.progress = Progress(0.45, 4536)
        expect(said).to_have_text("History is being read: 45 %, 4,536 moments so far …")
        expect(incidents).to_contain_text("4,536 moments so far")
        actions.go_on.set()
        expect(incidents).to_contain_text("not over, lag up to ")
        expect(said).to_have_text("")
        expect(page.locator(".chart canvas")).to_be_visible()
        page.close()


def test_a_period_that_cannot_be_is_told_and_not_asked_for_again(
    browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()  # it complains about what the server refuses
    asked = list[str]()
    page.on("request", lambda sent: asked.append(sent.url) if "/v4/history?" in sent.url else None)
    actions = Remembering(tmp_path / "history")
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        town = lived(actions, [Group("billing", "orders", falls_behind)])
        started.publish(town.board())
        page.clock.install()
        page.goto(f"http://127.0.0.1:{started.port}/#/group/local/billing?since=2h&until=3h")
        said, lag = page.locator(".period + .note"), page.locator(".fact").nth(2)
        expect(said).to_have_text("That cannot be shown: the period from 2h until 3h is empty.")
        expect(page.locator(".chart")).to_be_hidden()
        for _ in range(3):
            before = lag.inner_text()
            town.live()
            started.publish(town.board())
            page.clock.fast_forward(120_000)
            expect(lag).not_to_have_text(before)
        assert len(asked) == 1

        page.get_by_label("From", exact=True).fill("2026-11-19T20:00")
        page.get_by_label("To", exact=True).fill("2026-11-19T19:00")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(said).to_have_text("The end of a period comes after its beginning.")
        assert len(asked) == 1
        page.get_by_role("button", name="1 h", exact=True).click()
        expect(said).to_have_text("")
        expect(page.locator(".chart canvas")).to_be_visible()
        page.close()


# How high the line of the past reaches, as a part of the height; the future is right of it.
HEIGHT = """canvas => {
    const { width, height } = canvas, scale = devicePixelRatio;
    const pen = canvas.getContext("2d"), left = 64 * scale;
    const right = left + (width - 96 * scale) * 5 / 6 + 1; // "now"
    const probe = document.createElement("i");
    probe.style.color = "var(--accent)";
    document.body.append(probe);
    const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const pixels = pen.getImageData(left, 0, right - left, height);
    for (let at = 0; at < pixels.data.length; at += 4) {
        const [red, green, blue, alpha] = pixels.data.slice(at, at + 4);
        if (alpha > 200 && Math.abs(red - r) + Math.abs(green - g) + Math.abs(blue - b) < 20)
            return 1 - Math.floor(at / 4 / pixels.width) / height;
    }
    return 0;
}"""


def test_what_is_ahead_takes_little_of_the_picture(look: Look, tmp_path: Path) -> None:
    actions = Remembering(tmp_path / "history", reaches_s=30 * 86_400)
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        town = lived(actions, [Group("billing", "orders", falls_behind)])
        started.publish(town.board())
        page = look(started, "#/group/local/billing?since=24h", timezone_id="UTC")
        canvas, ahead = page.locator(".chart canvas"), page.locator(".chart .readout .ahead")
        expect(ahead).to_have_text("at this pace it never catches up")
        box = canvas.bounding_box()
        assert box is not None
        high = canvas.evaluate(HEIGHT)
        ends = page.locator(".heats .span").evaluate(
            "span => [...span.children].map(each => [each.getBoundingClientRect(), each.title])"
        )
        page.goto("about:blank")

    plot = box["width"] - 64 - 32
    last, ended = ends[-1]
    end = datetime.strptime(ended, "%d %b %Y, %H:%M:%S %Z").replace(tzinfo=UTC)
    assert high > 0.6
    assert 0.8 < (last["right"] - box["x"] - 64) / plot < 0.86  # where the chart has its now
    assert end.timestamp() >= town.now_s  # not when the last column begins


def test_a_group_of_which_nothing_was_kept_has_no_incidents(
    browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()
    actions = Remembering(tmp_path / "history", reaches_s=30 * 86_400)
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        others = Remembering(tmp_path / "other")
        town = lived(others, [Group("billing", "orders", falls_behind)])
        started.publish(town.board())
        page.goto(f"http://127.0.0.1:{started.port}/#/group/local/billing")

        expect(page.locator(".incidents")).to_have_text("None.")
        page.get_by_role("button", name="6 h").click()
        expect(page.locator(".period + .note")).to_have_text("Nothing was kept in that time.")
        for picture in (".chart", ".strip", "canvas.heat"):
            expect(page.locator(picture)).to_be_hidden()
        page.get_by_role("button", name="Now", exact=True).click()
        expect(page.locator(".chart canvas")).to_be_visible()
        expect(page.locator("canvas.heat")).to_be_visible()
        page.close()


def test_memory_tells_its_first_moment(look: Look, tmp_path: Path) -> None:
    actions = Remembering(tmp_path / "history")
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        board = lived(actions).board()
        recent = actions.history.recent.health()
        health = structs.replace(board.health, history=HistoryHealth(recent=recent))
        started.publish(replace(board, health=health))
        page = look(started, "#/health", timezone_id="UTC")
        began = datetime.fromtimestamp(board.moment_ms / 1000 - 6 * (STEPS - 1), UTC)

        first = f"{began.day} {began:%b %Y, %H:%M:%S} UTC"
        expect(page.locator(".services")).to_contain_text(
            f"History in memory: {STEPS} moments since {first}, 0.1 MB."
        )
        little = HistoryHealth(recent=structs.replace(recent, memory_mb=0.0))
        health = structs.replace(board.health, history=little)
        started.publish(replace(board, health=health))
        page.reload()
        expect(page.locator(".services")).to_contain_text("less than 0.1 MB.")
        page.goto("about:blank")
