"""Whole processes: started, signalled, and looked at from outside."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

WORK = """
import os, subprocess, sys
from pathlib import Path
from warren.config import load
from warren.errors import StartError
from warren.process import life

progress = int(sys.argv[1])
loaded = load(Path(), os.environ)
with life.announced(), life.running(loaded.config) as stop:
    life.log_findings(loaded)
    if "child" in sys.argv:
        subprocess.run(["sh", "-c", "echo of a child; echo complaint of a child >&2"], check=True)
    os.write(progress, b"ready\\n")
    if "fail" in sys.argv:
        raise StartError("port 8000 is taken")
    stop.wait()
    if "hang" in sys.argv:
        os.write(progress, b"hanging\\n")
        os.read(0, 1)
"""

CLUSTER = """
[cluster.local]
class-name = "kafka"
servers = ["localhost:9092"]
"""


class Work:
    """A process that runs WORK in `folder`, and the pipe on which it says how far it is."""

    def __init__(self, folder: Path, config: str, *arguments: str, before: str = "") -> None:
        (folder / "burrow.toml").write_text(config + CLUSTER)
        reads, writes = os.pipe()
        self.said = os.fdopen(reads, "rb")
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{WORK}", str(writes), *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=(writes,),
        )
        os.close(writes)

    def says(self, word: str) -> None:
        assert self.said.readline().decode().strip() == word, self.process.communicate()

    def end(self, number: int | None = None) -> tuple[int, str, str]:
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def work(folder: Path, config: str = "", *arguments: str, before: str = "") -> Iterator[Work]:
    started = Work(folder, config, *arguments, before=before)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()
        started.said.close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"])
def test_a_signal_stops_it_cleanly(tmp_path: Path, name: str) -> None:
    with work(tmp_path) as started:
        started.says("ready")
        pid = (tmp_path / "burrow.pid").read_text()
        code, out, err = started.end(signal.Signals[name])

    assert pid == str(started.process.pid)
    assert not (tmp_path / "burrow.pid").exists()
    assert code == 0
    assert json.loads(out)["signal"] == name
    assert re.fullmatch(r"Stopped Warren at \w+ \d+, \d{4} at \d+:\d\d[ap]m \(\w+\)\n", err)


def test_nohup_is_respected(tmp_path: Path) -> None:
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    with work(tmp_path, before=ignore) as started:
        started.says("ready")
        started.process.send_signal(signal.SIGHUP)
        code, out, _ = started.end(signal.SIGTERM)

    assert code == 0
    assert json.loads(out)["signal"] == "SIGTERM"


def test_a_second_ctrl_c_leaves_at_once_and_takes_the_pidfile_along(tmp_path: Path) -> None:
    with work(tmp_path, "", "hang") as started:
        started.says("ready")
        started.process.send_signal(signal.SIGINT)
        started.says("hanging")
        code, _, err = started.end(signal.SIGINT)

    assert (code, err) == (130, "Warren exited without a clean stop\n")
    assert not (tmp_path / "burrow.pid").exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with work(tmp_path, "", "fail") as started:
        code, _, err = started.end()

    assert code == 1
    assert "Warren failed at" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["burrow.toml"]


def test_a_second_process_is_refused_and_the_first_keeps_its_pidfile(tmp_path: Path) -> None:
    with work(tmp_path) as first:
        first.says("ready")
        with work(tmp_path) as second:
            code, _, err = second.end()
        pid = (tmp_path / "burrow.pid").read_text()

    assert code == 1
    assert f"pid {first.process.pid}, holds the pidfile burrow.pid" in err
    assert pid == str(first.process.pid)


def test_a_killed_process_does_not_stand_in_the_way_of_the_next(tmp_path: Path) -> None:
    with work(tmp_path) as first:
        first.says("ready")
        first.end(signal.SIGKILL)
    with work(tmp_path) as second:
        second.says("ready")
        code, _, _ = second.end(signal.SIGTERM)

    assert code == 0


def test_a_log_that_cannot_be_written_takes_the_pidfile_back(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with work(tmp_path, '[logging]\nfilename = "file/warren.log"\n') as started:
        code, _, err = started.end()

    assert code == 1
    assert "cannot write logging.filename file/warren.log: Not a directory" in err
    assert not (tmp_path / "burrow.pid").exists()


def test_oddities_of_the_configuration_are_in_the_log(tmp_path: Path) -> None:
    with work(tmp_path, "[general]\npidfil = 'x'\n[logging]\nlevel = 'loud'\n") as started:
        started.says("ready")
        _, out, _ = started.end(signal.SIGTERM)

    told = [json.loads(line) for line in out.splitlines()][:-1]
    assert [(line["level"], line["file"]) for line in told] == [("warn", "burrow.toml")] * 2
    findings = " ".join(line["finding"] for line in told)
    assert "logging.level" in findings
    assert "did you mean pidfile" in findings


TO_FILE = '[general]\nstdout-logfile = "out.log"\n'


def test_stdout_logfile_takes_what_children_print_too(tmp_path: Path) -> None:
    with work(tmp_path, TO_FILE, "child") as started:
        started.says("ready")
        code, out, err = started.end(signal.SIGTERM)

    printed = (tmp_path / "out.log").read_text().splitlines()
    assert code == 0
    assert printed[:2] == ["of a child", "complaint of a child"]
    assert json.loads(printed[2])["msg"] == "stopping"
    assert out == ""
    assert err.startswith("Stopped Warren at")


def test_stdout_logfile_of_an_earlier_run_is_kept_under_the_time(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("earlier\n")
    with work(tmp_path, TO_FILE) as started:
        started.says("ready")
        started.end(signal.SIGTERM)

    (kept,) = tmp_path.glob("out.log.*")
    assert re.fullmatch(r"out\.log\.\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d", kept.name)
    assert kept.read_text() == "earlier\n"
    assert "earlier" not in (tmp_path / "out.log").read_text()


def test_stdout_logfile_says_why_the_start_failed_and_so_does_stderr(tmp_path: Path) -> None:
    with work(tmp_path, TO_FILE, "fail") as started:
        _, _, err = started.end()

    assert (tmp_path / "out.log").read_text() == "port 8000 is taken\n"
    assert "port 8000 is taken" in err


def test_a_stdout_logfile_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with work(tmp_path, '[general]\nstdout-logfile = "missing/out.log"\n') as started:
        code, _, err = started.end()

    assert code == 1
    assert "cannot write general.stdout-logfile missing/out.log: No such file or directory" in err
    assert not (tmp_path / "burrow.pid").exists()


def test_a_start_that_is_refused_leaves_the_running_ones_log_alone(tmp_path: Path) -> None:
    with work(tmp_path, TO_FILE) as running:
        running.says("ready")
        with work(tmp_path, TO_FILE) as refused:
            code, _, _ = refused.end()

        assert code == 1
        assert list(tmp_path.glob("out.log.*")) == []
