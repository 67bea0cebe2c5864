"""A view on a phone, on a laptop and on a large screen, in light and in dark."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # has no types
from playwright.sync_api import Page

Views = Mapping[str, tuple[str, str]]
WIDTHS = (390, 1180, 2560)
THEMES = ("light", "dark")
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SERIOUS = {"serious", "critical"}
SHORT = {"resultTypes": ["violations"]}
COLOURS = SHORT | {"runOnly": ["color-contrast"]}
TOO_WIDE = "Math.max(document.querySelector('main').scrollWidth, document.body.scrollWidth)"
# What does not fit and cannot be scrolled to. A name may be cut where the hover has the whole.
CUT = """() => {
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const { overflowX, display } = getComputedStyle(element);
        const isWhole = element.scrollWidth <= element.clientWidth + 1;
        if (isWhole || display === "inline" || /auto|scroll/.test(overflowX)) continue;
        if (element.closest(".unseen, .skip, .plot, .strip, svg, select, input")) continue;
        if (element.matches(":has(.name[title]), .quiet[title]")) continue;
        if (element.matches(".menu[open], :has(> .menu[open])")) continue; // its panel is elsewhere
        found.push(`${element.localName}.${element.className}: ${element.textContent.trim()}`);
    }
    return [...new Set(found.map(each => each.slice(0, 90)))];
}"""
ONE_OF_MANY = r"(?<![-\d,.:])1 [a-z]{2,}s\b"  # "1 groups"
WRONG = re.compile(rf"\bNaN\b|undefined|\[object|Infinity|{ONE_OF_MANY}|[-\u2212]0 msg")


def faults(page: Page, prepare: Callable[[Page], None] = lambda _: None) -> dict[str, Any]:
    """What is wrong with the view that is shown, by width and theme; `prepare` opens something."""
    found = dict[str, Any]()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(TWO_FRAMES)  # charts follow the width in the first
        prepare(page)
        page.evaluate(TWO_FRAMES)  # a menu finds its side after it has opened
        needed, words = page.evaluate(TOO_WIDE), WRONG.findall(page.locator("main").inner_text())
        found |= {f"{width}: is wider": needed} if needed > width else {}
        found |= {f"{width}: no words for readers": words} if words else {}
        cut = page.evaluate(CUT)
        found |= {f"{width}: cut": cut} if cut else {}
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]  # one of them
            # A theme changes colours and nothing else.
            options = COLOURS if theme != THEMES[0] else SHORT
            for each in Axe().run(page, options=options).response["violations"]:
                if each["impact"] in SERIOUS:
                    nodes = [node["html"] for node in each["nodes"]]
                    found[f"{width} {theme}: {each['id']}"] = nodes
        page.keyboard.press("Escape")  # closes what was opened
    return found


def faults_of(page: Page, home: str, views: Views) -> dict[str, Any]:
    """Of several views: each has its place, and a sign that it is drawn."""
    found = dict[str, Any]()
    for name, (place, sign) in views.items():
        page.goto("about:blank")  # so that nothing is left of the view before
        page.goto(home + place)
        page.locator(sign).first.wait_for()
        page.locator(".live[data-state=live]").wait_for()
        found |= {f"{name}, {what}": nodes for what, nodes in faults(page).items()}
    return found
