"""What a page says while there is nothing to show yet."""

import time
from pathlib import Path

from page.conftest import Look
from page.past import HISTORY_CONFIG
from page.town import Town
from playwright.sync_api import expect
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
        expect(page.locator(".services")).to_contain_text("History: begins when Spark is up.")
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
