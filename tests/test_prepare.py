"""`warren prepare` makes what is missing, says what it cannot make, and leaves nothing half."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.waiting import eventually

from warren.prepare import is_prepared
from warren.spark import jars

PREPARE = [sys.executable, "-m", "warren", "prepare"]


def test_what_is_there_is_not_made_again() -> None:
    assert is_prepared()  # or all tests would be slow
    archives = sorted((jars.cache_dir() / "class-archives").glob("*.jsa"))
    before = [file.stat().st_mtime_ns for file in archives]

    done = subprocess.run(PREPARE, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, f"Ready: {jars.cache_dir()}\n"), done.stderr
    assert [file.stat().st_mtime_ns for file in archives] == before


def test_an_environment_that_allows_no_archive_is_told() -> None:
    environ = {**os.environ, "HADOOP_CONF_DIR": "/etc/hadoop"}

    done = subprocess.run(PREPARE, capture_output=True, text=True, env=environ, check=False)

    first, last = done.stdout.splitlines()
    assert first == "No class archive for Spark: what is set in the environment rules it out."
    assert (done.returncode, last) == (0, f"Ready: {jars.cache_dir()}")


def test_ctrl_c_stops_it_with_code_1_and_nothing_is_left(tmp_path: Path) -> None:
    cache, scratch = tmp_path / "cache" / "warren", tmp_path / "scratch"
    cache.mkdir(parents=True)
    scratch.mkdir()
    (cache / "jars").symlink_to(jars.cache_dir() / "jars")
    environ = {
        **os.environ,
        "XDG_CACHE_HOME": str(cache.parent),
        "TMPDIR": str(scratch),
    }
    process = subprocess.Popen(PREPARE, stdout=subprocess.PIPE, text=True, env=environ)
    eventually(lambda: [*scratch.glob("warren-prepare-*")])

    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)

    assert (process.returncode, said.splitlines()[-1]) == (1, "Stopped before all was there.")
    eventually(lambda: [file.name for file in scratch.iterdir()], expected=[])
    assert [*(cache / "class-archives").glob("*.jsa")] == []
