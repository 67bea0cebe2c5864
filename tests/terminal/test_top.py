"""`warren top` on a terminal of its own."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.command_line import ask, of, warren
from support.http_side import Running
from support.screen import COLOUR, ENTERS, HIDES, LEAVES, SHOWS, Terminal, terminal

NAMES = ("stuck", "evil", "slow", "good")
DOWN, END, ENTER, ESCAPE = "\x1bOB", "\x1b[F", "\r", "\x1b"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with warren(tmp_path_factory.mktemp("top")) as started:
        yield started


@contextmanager
def top(server: Running, **environ: str) -> Iterator[Terminal]:
    with terminal("top", "--every", "0.2", "--url", of(server), **environ) as screen:
        screen.wait_until(lambda lines: groups(lines) == ["stuck", "evil", "slow", "good"])
        yield screen


def groups(lines: list[str]) -> list[str]:
    """The groups of a table from the top; a name that is too long is cut."""
    return [name for line in lines for name in NAMES if line.startswith(name)]


def test_keys_move_open_search_sort_and_leave(server: Running) -> None:
    with top(server) as screen:
        first = screen.lines
        screen.press(DOWN + DOWN + ENTER)
        screen.wait_until(lambda lines: any("slow in local: WARN" in line for line in lines))
        screen.press(ESCAPE)
        screen.wait_until(lambda lines: len(groups(lines)) == 4)
        screen.press("/ST uc")
        screen.wait_until(lambda lines: groups(lines) == ["stuck"] and "/ST uc" in lines[-1])
        screen.press("\x7f\x7f\x7fx" + ENTER)
        screen.wait_until(lambda lines: any("Esc shows all" in line for line in lines))
        screen.press(ESCAPE + "s")
        screen.wait_until(lambda lines: groups(lines) == ["evil", "good", "slow", "stuck"])
        screen.press("r")
        screen.wait_until(lambda lines: groups(lines) == ["stuck", "slow", "good", "evil"])
        screen.press("b")
        screen.wait_until(lambda lines: groups(lines) == ["stuck", "slow", "evil"])
        screen.press(END + ENTER)
        screen.wait_until(
            lambda lines: any(
                line.startswith("evil") and " in local: ERR" in line for line in lines
            )
        )
        screen.press("q")
        code = screen.ended()
        settings = screen.read_settings()

    assert code == 0
    assert len(first) == 30
    assert first[0].startswith(
        f"warren top  {of(server)}  4 groups  2 ERR  1 WARN  1 OK  by trouble"
    )
    assert "q quit" in first[-1]
    assert settings == screen.settings
    assert (screen.text.count(ENTERS), screen.text.count(LEAVES)) == (1, 1)
    assert screen.text.count(HIDES) == screen.text.count(SHOWS) > 0
    assert COLOUR.search(screen.text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(server: Running, number: signal.Signals) -> None:
    with top(server, NO_COLOR="1") as screen:
        os.kill(screen.process.pid, number)
        code = screen.ended()
        settings = screen.read_settings()

    assert (code, settings) == (0, screen.settings)
    assert screen.text.count(ENTERS) == screen.text.count(LEAVES) == 1
    assert screen.text.count(HIDES) == screen.text.count(SHOWS) > 0
    assert "Traceback" not in screen.text
    assert not COLOUR.search(screen.text)
    assert "\x1b[7m" in screen.text  # the chosen line is seen all the same


def test_it_follows_the_size_of_the_terminal(server: Running) -> None:
    with top(server) as screen:
        screen.resize(60, 4)
        screen.wait_until(lambda lines: len(lines) == 4 and groups(lines) == ["stuck"])
        narrow = screen.lines
        screen.press(DOWN)
        screen.wait_until(lambda lines: groups(lines) == ["evil"] or len(groups(lines)) == 0)
        screen.resize(30, 1)
        screen.wait_until(lambda lines: len(lines) == 1)
        screen.resize(200, 50)
        screen.wait_until(lambda lines: len(lines) == 50 and len(groups(lines)) == 4)
        wide = screen.lines
        screen.press("q")
        code = screen.ended()

    assert code == 0
    assert max(map(len, narrow)) <= 60
    assert any("age between" in line for line in wide)


def test_it_goes_on_when_warren_is_away(tmp_path: Path) -> None:
    with warren(tmp_path) as server, top(server) as screen:
        server.serving.stop()
        screen.wait_until(lambda lines: any("trying again" in line for line in lines))
        still = groups(screen.lines)
        screen.press("q")
        code = screen.ended()

    assert (code, len(still)) == (0, 4)


def test_without_a_terminal_it_says_so(server: Running) -> None:
    piped = ask("top", "--url", of(server))
    with terminal("top", "--url", of(server), TERM="dumb") as dumb:
        code = dumb.ended()

    assert (piped.exit_code, piped.stdout, piped.stderr.count("\n")) == (1, "", 1)
    assert "warren: top needs a terminal" in piped.stderr
    assert code == 1
    assert "cannot draw on this terminal (TERM=dumb)" in dumb.text
