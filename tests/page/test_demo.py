"""The page of `warren demo`: what a newcomer sees."""

import signal
from pathlib import Path
from types import SimpleNamespace

from page.conftest import Look
from page.every_size import faults_of
from page.screenshots import MEANT, statuses
from playwright.sync_api import expect
from support.demo_process import demo
from support.waiting import eventually

from warren.demo.demo_groups import GONE, GROUPS
from warren.demo.spark_jobs import JOBS

VIEWS = {
    "overview": ("#/", ".list .row .group a"),
    "group": ("#/group/demo/mixed-topics", ".chart canvas"),
    "stalled": ("#/group/demo/stalled?since=1h", ".chart canvas"),
    "spark": ("#/group/demo/spark-falls-behind", ".query"),
    "topics": ("#/topics", "tbody a"),
    "topic": ("#/topic/demo/orders", "tbody td"),
    "changes": ("#/changes", "tbody td"),
    "health": ("#/health", "details"),
}
WHILE_MS = 60_000  # a story takes its time to unfold
ROWS = ".list .rows .row:not([hidden])"
COLOURS = """canvas => new Set(new Uint32Array(canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""


def test_a_newcomer_sees_every_view_live_and_ctrl_c_leaves_nothing(
    tmp_path: Path, look: Look
) -> None:
    with demo(tmp_path, "--port", "0") as started:
        server = SimpleNamespace(port=started.shown_at())
        page = look(server)

        page.locator(".live[data-state=live]").wait_for()
        for group in GROUPS:
            if group.expected != GONE:
                row = page.locator(ROWS).filter(has_text=group.name).first
                expect(row).to_be_visible(timeout=WHILE_MS)
        for job in JOBS:
            row = page.locator(ROWS).filter(has_text=job.name)
            expect(row).to_contain_text(job.expected, timeout=WHILE_MS)
        moment = page.locator(".live time").get_attribute("datetime") or ""
        expect(page.locator(".live time")).not_to_have_attribute(
            "datetime", moment, timeout=WHILE_MS
        )
        stalled = page.locator(ROWS).filter(has_text="stalled")
        expect(stalled).to_contain_text("STALL", timeout=WHILE_MS)

        page.get_by_role("link", name="stalled").click()
        expect(page.locator(".verdict")).to_contain_text("It commits, but always offset 42")
        expect(page.locator(".incidents")).to_contain_text("not over", timeout=WHILE_MS)
        assert page.locator(".chart canvas").evaluate(COLOURS) > 10
        assert page.locator("canvas.heat").evaluate(COLOURS) > 2

        home, shown = page.url.partition("#")[0], page.url
        eventually(lambda: statuses(home).keys(), MEANT.keys())
        assert faults_of(page, home, VIEWS) == {}
        page.goto("about:blank")
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(shown)
        page.get_by_role("region", name="Partitions").get_by_role("link").first.click()
        expect(page.locator("h1")).to_have_text("orders")
        expect(page.get_by_role("region", name="Groups")).to_contain_text("healthy-kip848")
        expect(page.locator(".fact").filter(has_text="Grows")).to_contain_text("msg/s")

        page.get_by_role("link", name="Health", exact=True).click()
        expect(page.get_by_role("region", name="Offsets topics")).to_contain_text("caught up")
        page.goto("about:blank")
        started.process.send_signal(signal.SIGINT)
        code, said = started.ended()
        left = started.left()

    assert code == 0
    assert said.endswith("Stopped; nothing is left behind.\n")
    assert left == []
