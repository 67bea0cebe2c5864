"""Debian's Chromium, with nothing of its own going out to the network."""

import contextlib
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright
from support.servers.debian import executable

ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextlib.contextmanager
def chromium(*arguments: str) -> Iterator[Browser]:
    path = executable("chromium", "chromium", "fonts-dejavu-core")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS, *arguments])
        try:
            yield browser
        finally:
            browser.close()
