"""Makes docs/screenshots from a demo that has run for a while: pictures, and one that moves.

`PYTHONPATH=src:tests .venv/bin/python tests/page/screenshots.py`; with `--url URL` from one that
runs already.
"""

import argparse
import contextlib
import signal
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, ViewportSize
from support.browser import chromium
from support.demo_process import WAIT_S, demo
from support.waiting import eventually

from warren.demo.demo_groups import GONE, GROUPS
from warren.demo.spark_jobs import JOBS

HERE = Path(__file__).parents[2] / "docs/screenshots"
AFTER_S = 200  # then windows are full, and Warren's evaluator knows each group's rhythm
WIDTH = 1180
VIEWS = {
    "overview": ("#/", ".list .row .group a", 760),
    "group": ("#/group/demo/mixed-topics", ".chart canvas", 1400),
    "topic": ("#/topic/demo/orders", "tbody td", 800),
    "health": ("#/health", "details", 900),
}
MOST_TRIES = 15
MEANT = {each.name: each.expected for each in (*GROUPS, *JOBS) if each.expected != GONE}
PHONE: ViewportSize = {"width": 390, "height": 780}
MOVING: ViewportSize = {"width": 1000, "height": 600}
FRAME_MS = 2500
WALK_TO = "mixed-topics"


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The address of a demo that has run for long enough."""
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder), "--port", "0") as started:
        port = started.shown_at()
        time.sleep(AFTER_S)
        yield f"http://127.0.0.1:{port}/"
        started.process.send_signal(signal.SIGINT)
        started.ended()


def take(browser: Browser, address: str, folder: Path) -> None:
    for theme in ("dark", "light"):
        page = browser.new_page(color_scheme=theme, reduced_motion="reduce")
        for name, (place, sign, height) in VIEWS.items():
            page.set_viewport_size({"width": WIDTH, "height": height})
            shoot(page, address + place, sign, folder / f"{name}-{theme}.png")
        page.close()
    phone = browser.new_page(viewport=PHONE, color_scheme="light")
    shoot(phone, address, ".list .row .group a", folder / "phone.png")
    phone.close()
    walk(browser, address, folder / "walk.png")


def walk(browser: Browser, address: str, file: Path) -> None:
    """From all groups to one that is bad, and down its page."""
    page = browser.new_page(viewport=MOVING, color_scheme="dark", reduced_motion="reduce")
    shoot(page, address, ".list .row .group a", file)
    frames = [file.read_bytes()]
    page.get_by_role("searchbox").fill(WALK_TO)
    page.locator(".list .rows .row:not([hidden])", has_text=WALK_TO).wait_for()
    frames.append(page.screenshot())
    page.get_by_role("link", name=WALK_TO, exact=True).click()
    page.locator(".verdict").wait_for()
    for sign in ("h1", ".chart canvas", "canvas.heat"):
        page.locator(sign).evaluate("element => element.scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(FRAME_MS)
        frames.append(page.screenshot())
    page.close()
    file.write_bytes(moving(frames))


def shoot(page: Page, address: str, sign: str, file: Path) -> None:
    """Take it again until nothing has gone astray in the meantime."""
    for _ in range(MOST_TRIES):
        eventually(lambda: is_as_meant(address), seconds=WAIT_S)
        page.goto("about:blank")
        page.goto(address)
        page.locator(sign).first.wait_for()
        page.locator(".live[data-state=live] time").wait_for()
        page.wait_for_timeout(4000)  # let it live a little: what has been seen is drawn
        page.screenshot(path=file)
        if is_as_meant(address) and not page.locator("#news").inner_text():
            return


def is_as_meant(address: str) -> bool:
    """Whether every group has the status that it stands for: a slow machine takes its time."""
    return statuses(address.partition("#")[0]) == MEANT


def statuses(home: str) -> dict[str, str]:
    overview = httpx.get(f"{home}v4/overview", trust_env=False).json()
    (cluster,) = overview["clusters"]
    return dict(zip(cluster["group"], cluster["status"], strict=True))


def moving(frames: list[bytes]) -> bytes:
    """Put PNGs of one size into a PNG that shows them in turn, for ever."""
    first = frames[0]
    ((_, start),) = (each for each in chunks(first) if each[0] == b"IHDR")
    control = struct.pack(">II", len(frames), 0)
    made = [first[:8], chunk(b"IHDR", start), chunk(b"acTL", control)]
    number = 0
    for frame in frames:
        shown = struct.pack(">I8s8xHHxx", number, start[:8], FRAME_MS, 1000)
        pixels = zlib.decompress(b"".join(body for kind, body in chunks(frame) if kind == b"IDAT"))
        packed = zlib.compress(pixels, 9)
        made.append(chunk(b"fcTL", shown))
        if number == 0:
            made.append(chunk(b"IDAT", packed))
        else:
            number += 1
            made.append(chunk(b"fdAT", struct.pack(">I", number) + packed))
        number += 1
    return b"".join([*made, chunk(b"IEND", b"")])


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8  # after the signature
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + 8 : at + 8 + length]
        at += 12 + length


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--url", help="of a Warren that runs already")
    options.add_argument("--folder", type=Path, default=HERE)
    asked = options.parse_args(sys.argv[1:])
    asked.folder.mkdir(parents=True, exist_ok=True)
    place = contextlib.nullcontext(asked.url) if asked.url else running()
    with place as address, chromium() as browser:
        take(browser, address, asked.folder)


if __name__ == "__main__":
    main()
