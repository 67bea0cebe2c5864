"""Who may see the page, and what a browser is told to do with it."""

import gzip
import re
from collections.abc import Iterator

import pytest
from page.town import Town
from playwright.sync_api import expect
from support.boards import NOW_S
from support.browser import chromium
from support.http_side import CONFIG, Running, ask, running

from warren.serve.page_files import FOLDER, files

LOCKED = CONFIG.replace("[cluster.local]", 'read-token = "hush-hush"\n[cluster.local]')


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("locked"), LOCKED) as started:
        started.publish(Town(NOW_S, steps=3).board())
        yield started


def test_without_the_token_the_page_tells_nothing(locked: Running) -> None:
    page = ask(locked.port, "/")
    view = ask(locked.port, "/?view=groups")
    group = ask(locked.port, "/?cluster=local&group=billing")

    assert page.status == 200
    assert b"billing" not in page.body
    assert (view.status, group.status) == (401, 401)
    assert "www-authenticate" in view.headers


def test_with_the_token_the_first_view_is_whole(locked: Running) -> None:
    page = ask(locked.port, "/", headers={"authorization": "Bearer hush-hush"})

    assert b"billing" in page.body


def test_the_page_asks_for_the_token_and_keeps_it_for_the_tab(locked: Running) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(15_000)
        page.goto(f"http://127.0.0.1:{locked.port}/#/group/local/billing")
        prompt = page.get_by_label("Token", exact=True)
        prompt.fill("wrong")
        prompt.press("Enter")
        expect(page.get_by_text("That was not it.")).to_be_visible()
        prompt.fill("hush-hush")
        prompt.press("Enter")

        expect(page.locator("h1")).to_have_text("billing")
        expect(page.locator(".live")).to_have_attribute("data-state", "live")
        page.reload()
        expect(page.locator("h1")).to_have_text("billing")
        assert page.evaluate("JSON.stringify(localStorage)") == "{}"


def test_a_browser_may_run_and_load_only_what_is_ours(server: Running) -> None:
    page = ask(server.port, "/")

    policy = page.headers["content-security-policy"]
    links = re.findall(rb'(?:src|href)="([^"]+)"', page.body)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert b"<style" not in page.body
    assert [link for link in links if not link.startswith((b"/", b"#"))] == []
    assert re.findall(rb"<script(?![^>]* src=)", page.body) == []


def test_files_are_kept_by_browsers_until_they_change(server: Running) -> None:
    version, _, packed = files()
    plain = ask(server.port, f"/page/{version}/app.js")
    small = ask(server.port, f"/page/{version}/app.js", headers={"accept-encoding": "gzip"})
    old = ask(server.port, "/page/0123456789ab/app.js")
    wrong = [name for name in packed if ask(server.port, f"/page/{version}/{name}").status != 200]

    assert plain.body == (FOLDER / "app.js").read_bytes() == gzip.decompress(small.body)
    assert "immutable" in plain.headers["cache-control"]
    assert old.headers["cache-control"] == "no-store"
    assert wrong == []
    assert ask(server.port, f"/page/{version}/index.html").status == 404
    assert ask(server.port, f"/page/{version}/..%2Fsite.py").status == 404


def test_no_path_leads_out_of_the_page(server: Running) -> None:
    version = files().version
    astray = [
        "/page/../page_files.py",
        f"/page/{version}/../page_files.py",
        f"/page/{version}/../../page_files.py",
        f"/page/{version}/lib/../../page_files.py",
        f"/page/{version}/lib/../index.html",
        f"/page/{version}/lib/..",
        f"/page/{version}/lib",
        f"/page/{version}/lib/..%2F..%2Fpage_files.py",
        f"/page/{version}/lib%2F..%2F..%2Fpage_files.py",
        f"/page/{version}/%2e%2e/page_files.py",
        f"/page/{version}/..%5Cpage_files.py",
        f"/page/{version}//etc/passwd",
        f"/page/{version}/%2Fetc%2Fpasswd",
    ]

    answers = [ask(server.port, path) for path in astray]
    # A path with dots or slashes too many may be put right first, as everywhere.
    meant = [
        answer.headers.get("location", path) for path, answer in zip(astray, answers, strict=True)
    ]
    assert {answer.status for answer in answers} <= {301, 404}
    assert [path for path in meant if ask(server.port, path).status != 404] == []


def test_no_module_of_the_page_makes_elements_of_text() -> None:
    ours = [path for path in FOLDER.rglob("*.js") if path.name != "uplot.js"]
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(")

    assert len(ours) > 10
    assert [path.name for path in ours if unsafe.search(path.read_text())] == []
    assert (FOLDER / "lib/uplot.LICENSE.txt").is_file()
