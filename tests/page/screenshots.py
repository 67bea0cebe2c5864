"""Makes docs/screenshots: `PYTHONPATH=src:tests .venv/bin/python tests/page/screenshots.py`."""

import sys
import tempfile
import time
from pathlib import Path

from page.browser import chromium
from page.town import Town
from playwright.sync_api import Browser, ViewportSize
from serve.running import running

WIDE: ViewportSize = {"width": 1100, "height": 700}
TALL: ViewportSize = {"width": 1100, "height": 1200}
VIEWS = {
    "overview": "#/",
    "group": "#/group/local/warehouse-sync",
    "topic": "#/topic/local/orders",
    "health": "#/health",
}


def take(browser: Browser, address: str, folder: Path) -> None:
    for theme in ("dark", "light"):
        page = browser.new_page(viewport=WIDE, color_scheme=theme, reduced_motion="reduce")
        for name, place in VIEWS.items():
            page.goto(address + place)
            page.locator("article.page, .overview").first.wait_for()
            if name == "group":
                page.locator(".chart canvas").wait_for()
            page.set_viewport_size(TALL if name == "group" else WIDE)
            page.screenshot(path=folder / f"{name}-{theme}.png")
        page.close()
    phone = browser.new_page(viewport={"width": 390, "height": 760}, color_scheme="light")
    phone.goto(address)
    phone.locator(".overview").wait_for()
    phone.screenshot(path=folder / "phone.png")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, running(Path(place)) as server:
        server.publish(Town(int(time.time())).board())
        with chromium() as browser:
            take(browser, f"http://127.0.0.1:{server.port}/", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "docs/screenshots")
