"""What a page says while there is nothing to show yet: at a start, and while history is read."""

import re
import time
from pathlib import Path

from page.conftest import Look
from page.past import HISTORY_CONFIG, Forgetful, Hesitating
from page.town import Group, Town, falls_behind
from playwright.sync_api import Browser, expect
from support.boards import NOW_S
from support.http_side import running

from warren.config import load
from warren.model.board import Board
from warren.model.health import ConsumerHealth, Health
from warren.services import not_begun

READING = ConsumerHealth("local", "catching up", records=30, remaining=1070, seconds_left=8.6)
SPARK = "Spark is starting; reading begins when it is up."


def test_before_anything_is_read_the_page_says_what_goes_on(look: Look, tmp_path: Path) -> None:
    with running(tmp_path, HISTORY_CONFIG) as started:
        plain = look(started, java_script_enabled=False)
        expect(plain.locator("#live")).to_have_text("starting")
        expect(plain.locator(".notice")).to_have_text(SPARK)
        assert "1970" not in plain.content()
        plain.goto("about:blank")

        started.publish(Board(0, health=not_begun(load(tmp_path / "burrow.toml", {}).config)))
        page = look(started)
        live, notice = page.locator("#live"), page.locator(".notice")
        expect(live).to_have_text("starting")
        expect(live).to_have_attribute("data-old", "")  # no green dot
        expect(notice).to_contain_text(SPARK)
        page.goto(f"http://127.0.0.1:{started.port}/#/health")
        history = page.locator("section", has=page.get_by_role("heading", name="History"))
        expect(history).to_contain_text("begins when Spark is up")
        expect(notice).to_have_text(SPARK)
        assert "1970" not in page.locator("main").inner_text()

        health = Health(ready=False, spark="up", consumers={"local": READING})
        now_s = int(time.time())  # an old board is another matter
        started.publish(Board(now_s * 1000, {}, health))
        expect(notice).to_contain_text("30 of 1,100 commits. It takes about 9 s more.")
        expect(live).to_have_text("reading")
        expect(live).to_have_attribute("data-old", "")
        page.goto(f"http://127.0.0.1:{started.port}/#/")
        expect(notice).to_contain_text("30 of 1,100 commits.")
        started.publish(Town(now_s).board())
        expect(notice).to_be_hidden()
        page.goto("about:blank")


def test_history_that_is_not_answered_is_told_and_asked_for_again(
    browser: Browser, tmp_path: Path
) -> None:
    actions = Hesitating()
    page = browser.new_page()  # it complains about what the server refuses
    with running(tmp_path, HISTORY_CONFIG, actions) as started:
        started.publish(Town(NOW_S, [Group("billing", "orders", falls_behind)]).board())
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
        actions.go_on.set()
        expect(page.locator(".chart .readout")).to_contain_text("all partitions 1,234")
        expect(said).to_have_text("")
        expect(incidents).to_contain_text("lag up to 900")
        page.close()


def test_a_group_of_which_nothing_was_kept_has_no_incidents(
    browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page()
    with running(tmp_path, HISTORY_CONFIG, Forgetful()) as started:
        started.publish(Town(NOW_S, [Group("billing", "orders", falls_behind)]).board())
        page.goto(f"http://127.0.0.1:{started.port}/#/group/local/billing")

        expect(page.locator(".incidents")).to_have_text("None.")
        page.get_by_role("button", name="6 h").click()
        expect(page.locator(".period + .note")).to_have_text("Nothing was kept in that time.")
        page.close()
