"""`warren status --watch` on a terminal."""

import os
import signal
from pathlib import Path

from support.command_line import of, warren
from support.screen import COLOUR, HIDES, SHOWS, terminal


def test_it_goes_on_when_warren_is_away_and_ends_cleanly(tmp_path: Path) -> None:
    with warren(tmp_path) as server:
        url = of(server)
        with terminal("status", "--watch", "--every", "0.2", "--url", url) as screen:
            screen.wait_for("stuck")
            shown = screen.text
            server.serving.stop()
            screen.wait_for("trying again, this is the last answer")
            os.kill(screen.process.pid, signal.SIGINT)
            code = screen.ended()

    assert code == 0
    assert COLOUR.search(shown)
    assert "Traceback" not in screen.text
    assert screen.text.count(HIDES) == screen.text.count(SHOWS) > 0


def test_a_name_that_no_group_has_is_said(tmp_path: Path) -> None:
    with warren(tmp_path) as server:
        arguments = ("--watch", "--every", "0.2", "--match", "nosuch", "--url", of(server))
        with terminal("status", *arguments) as screen:
            screen.wait_for("there is no group with nosuch in its name")
            os.kill(screen.process.pid, signal.SIGINT)
            code = screen.ended()

    assert code == 0


def test_no_color_is_respected(tmp_path: Path) -> None:
    with (
        warren(tmp_path) as server,
        terminal("status", "--url", of(server), NO_COLOR="1") as screen,
    ):
        code = screen.ended()

    assert code == 4
    assert "stuck" in screen.text
    assert not COLOUR.search(screen.text)
