import json
import logging
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import structlog

from warren.config import Logging
from warren.errors import StartError
from warren.process import logs

log = structlog.get_logger()


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(path: Path) -> list[object]:
    return [line["msg"] for line in lines(path)]


def to_file(path: Path, level: str = "info") -> Logging:
    return Logging(filename=str(path), level=level)


def test_a_line_has_burrows_keys_in_burrows_order(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path)):
        log.info(
            "cluster ready",
            topics=3,
            name="local",
            class_="kafka",
            coordinator="cluster",
            type="module",
        )

    (line,) = lines(path)
    assert list(line) == ["level", "ts", "msg", "type", "coordinator", "class", "name", "topics"]
    assert isinstance(line.pop("ts"), float)
    assert line == {
        "level": "info",
        "msg": "cluster ready",
        "type": "module",
        "coordinator": "cluster",
        "class": "kafka",
        "name": "local",
        "topics": 3,
    }


def test_levels_are_named_as_burrow_names_them(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path, "debug")):
        log.debug("-")
        log.info("-")
        log.warning("-")
        log.error("-")
        log.critical("-")

    assert [line["level"] for line in lines(path)] == ["debug", "info", "warn", "error", "fatal"]


def test_every_level_drops_what_is_below_it(tmp_path: Path) -> None:
    kept = {}
    for level in ("debug", "info", "warn", "error", "panic", "fatal"):
        path = tmp_path / level
        with logs.configured(to_file(path, level)):
            log.debug("debug")
            log.info("info")
            log.warning("warn")
            log.error("error")
            log.critical("fatal")
        kept[level] = messages(path)

    everything = ["debug", "info", "warn", "error", "fatal"]
    assert kept == {
        "debug": everything,
        "info": everything[1:],
        "warn": everything[2:],
        "error": everything[3:],
        "panic": everything[4:],
        "fatal": everything[4:],
    }


def test_the_level_can_be_changed_while_running(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path)):
        before = logs.get_level()
        log.debug("not yet")
        logs.set_level("DEBUG")
        log.debug("now")
        after = logs.get_level()

    assert (before, after) == ("info", "debug")
    assert messages(path) == ["now"]


def test_an_unknown_level_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with logs.configured(to_file(tmp_path / "warren.log", "warn")):
        with pytest.raises(ValueError, match="unknown log level 'loud'"):
            logs.set_level("loud")

        assert logs.get_level() == "warn"


def test_libraries_are_quiet_unless_debugging(tmp_path: Path) -> None:
    heard = {}
    for level in ("info", "debug"):
        path = tmp_path / level
        with logs.configured(to_file(path, level)):
            logging.getLogger("kazoo.client").info("kazoo info")
            logging.getLogger("kazoo.client").warning("kazoo %s", "warning")
            logging.getLogger("py4j.java_gateway").error("py4j error")
            logging.getLogger("py4j.clientserver").debug("password=secret")
            logging.getLogger("httpx").info("HTTP Request: POST https://hooks/secret")
        heard[level] = messages(path)

    assert heard == {
        "info": ["kazoo warning"],
        "debug": ["kazoo info", "kazoo warning", "py4j error"],
    }


def test_a_librarys_line_names_its_logger(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path)):
        logging.getLogger("kazoo.client").warning("session lost")

    (line,) = lines(path)
    assert (line["level"], line["logger"]) == ("warn", "kazoo.client")


def test_values_that_json_does_not_know_do_not_break_a_line(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path)):
        log.info("odd", path=Path("/x"), error=OSError("gone"), group="caf\udce9", text="é\n")

    (line,) = lines(path)
    assert (line["path"], line["error"]) == ("/x", "gone")
    assert (line["group"], line["text"]) == ("caf\udce9", "é\n")


def test_an_exception_is_one_line_with_its_trace(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    with logs.configured(to_file(path)):
        try:
            raise RuntimeError("broken")  # noqa: TRY301  # an error to be logged
        except RuntimeError:
            log.exception("a tick failed")

    (line,) = lines(path)
    assert line["level"] == "error"
    assert "RuntimeError: broken" in str(line["exception"])


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"

    def talk(number: int) -> None:
        for round_ in range(200):
            log.info("line", thread=number, round=round_, filler="x" * 500)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(8)]
    with logs.configured(to_file(path)):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    said = {(line["thread"], line["round"]) for line in lines(path)}
    assert said == {(number, round_) for number in range(8) for round_ in range(200)}


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "warren.log"

    with pytest.raises(StartError) as refused, logs.configured(to_file(path)):
        pass

    assert str(refused.value) == f"cannot write logging.filename {path}: Not a directory"


TALK = """
import structlog
from warren.config import Logging
from warren.process import logs
with logs.configured(Logging()):
    structlog.get_logger().info("cluster ready", type="module", topics=3)
"""

ODD_NAME = TALK.replace("topics=3", "group='caf\\udce9'")


def test_a_pipe_gets_json() -> None:
    done = subprocess.run([sys.executable, "-c", TALK], check=True, capture_output=True, text=True)

    line = json.loads(done.stdout)
    assert (line["level"], line["msg"], line["topics"]) == ("info", "cluster ready", 3)
    assert done.stderr == ""


def test_a_pipe_gets_names_that_are_not_valid_text_as_escapes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ODD_NAME],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )

    assert json.loads(done.stdout)["group"] == "caf\udce9"
    assert done.stderr == b""


def test_a_terminal_gets_colours_and_no_json() -> None:
    controller, terminal = pty.openpty()

    subprocess.run([sys.executable, "-c", TALK], check=True, stdout=terminal)
    os.close(terminal)
    shown = os.read(controller, 4096).decode()
    os.close(controller)

    assert "cluster ready" in shown
    assert "\x1b[" in shown
    assert "{" not in shown


def test_a_terminal_without_colours_is_respected() -> None:
    controller, terminal = pty.openpty()

    subprocess.run(
        [sys.executable, "-c", TALK],
        check=True,
        stdout=terminal,
        env=os.environ | {"NO_COLOR": "1"},
    )
    os.close(terminal)
    shown = os.read(controller, 4096).decode()
    os.close(controller)

    assert re.fullmatch(r"\d\d:\d\d:\d\d \[info +\] cluster ready +type=module topics=3\s*", shown)
