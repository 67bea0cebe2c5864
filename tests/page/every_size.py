"""A view on a phone, on a laptop and on a large screen, in light and in dark."""

import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # has no types
from playwright.sync_api import Page

WIDTHS = (390, 1180, 2560)
THEMES = ("light", "dark")
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SERIOUS = {"serious", "critical"}
TOO_WIDE = "Math.max(document.querySelector('main').scrollWidth, document.body.scrollWidth)"
ONE_OF_MANY = r"(?<![-\d,.:])1 [a-z]{2,}s\b"  # "1 groups"
WRONG = re.compile(rf"\bNaN\b|undefined|\[object|Infinity|{ONE_OF_MANY}|[-\u2212]0 msg")


def faults(page: Page, audited: tuple[int, ...] = WIDTHS) -> dict[str, Any]:
    """What is wrong with the view that is shown, by width and theme; an audit takes its time."""
    found = dict[str, Any]()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(TWO_FRAMES)  # charts follow the width in the first
        needed, words = page.evaluate(TOO_WIDE), WRONG.findall(page.locator("main").inner_text())
        found |= {f"{width}: is wider": needed} if needed > width else {}
        found |= {f"{width}: no words for readers": words} if words else {}
        for theme in THEMES if width in audited else ():
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]  # one of them
            for each in Axe().run(page).response["violations"]:
                if each["impact"] in SERIOUS:
                    nodes = [node["html"] for node in each["nodes"]]
                    found[f"{width} {theme}: {each['id']}"] = nodes
    return found
