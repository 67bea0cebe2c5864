"""The picture that moves, as a browser sees it."""

import base64

from page.conftest import Look
from page.screenshots import FRAME_MS, moving
from support.http_side import Running

FRAMES = """async base64 => {
    const data = Uint8Array.from(atob(base64), each => each.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/png" });
    await decoder.tracks.ready;
    const found = [];
    for (let at = 0; at < decoder.tracks.selectedTrack.frameCount; at++) {
        const { image } = await decoder.decode({ frameIndex: at });
        found.push([image.codedWidth, image.codedHeight, image.duration / 1000]);
    }
    return found;
}"""


def test_pictures_become_one_that_shows_them_in_turn(look: Look, server: Running) -> None:
    page = look(server, viewport={"width": 400, "height": 300})
    page.locator(".list .row .group a").first.wait_for()
    frames = [page.screenshot()]
    page.goto(f"http://127.0.0.1:{server.port}/#/health")
    page.locator("details").first.wait_for()
    frames.append(page.screenshot())

    seen = page.evaluate(FRAMES, base64.b64encode(moving([*frames, frames[0]])).decode())

    assert seen == [[400, 300, FRAME_MS]] * 3
