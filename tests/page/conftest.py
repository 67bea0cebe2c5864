"""A browser that fails the test when the page complains or asks anybody else."""

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest
from page.town import GROUPS, HOSTILE, Group, Town, keeps_up, stalls
from playwright.sync_api import Browser, Page
from support.boards import NOW_S
from support.browser import chromium
from support.http_side import Running, running

Look = Callable[..., Page]  # (server, place, options of the browser's context)


class HasPort(Protocol):
    @property
    def port(self) -> int | None: ...


# Not for the whole run: while Playwright is at work, nobody else in the process has an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def town() -> Town:
    odd = [Group(name, "emails", stalls if n % 2 else keeps_up) for n, name in enumerate(HOSTILE)]
    return Town(NOW_S, GROUPS + odd)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, town: Town) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("page")) as started:
        started.publish(town.board())
        yield started


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """`look(server, "#/health")` opens a page; it must have nothing to complain about."""
    contexts, wrong = [], list[str]()

    def open_page(server: HasPort, place: str = "", **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]  # as Playwright's own
        contexts.append(context)
        page = context.new_page()
        home = f"http://127.0.0.1:{server.port}/"
        page.set_default_timeout(15_000)
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda sent: wrong.append(sent.url) if home not in sent.url else None)
        page.goto(home + place)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
