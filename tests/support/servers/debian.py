"""Servers from Debian's packages: found, or installed where that is a matter of one command."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

PLACES = ":/usr/sbin:/sbin:/usr/lib/chromium"


def executable(name: str, *packages: str) -> str:
    """Where a program is; it is installed first if need be, and the test fails if it cannot be."""
    found = _find(name)
    if found is None:
        _install(name, packages)
        found = _find(name)
    if found is None:
        pytest.fail(f"{name} is not there after installing {', '.join(packages)}")
    return found


def _find(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + PLACES)


def _install(name: str, packages: tuple[str, ...]) -> None:
    apt_get = shutil.which("apt-get")
    if os.geteuid() != 0 or apt_get is None:
        pytest.fail(f"{name} is needed; on Debian type: sudo apt-get install {' '.join(packages)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with Path(tempfile.gettempdir(), "warren-tests-apt.lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            done = subprocess.run(
                [apt_get, "-qq", *arguments], env=quiet, capture_output=True, text=True, check=False
            )
        if done.returncode:
            pytest.fail(f"{' '.join(packages)} cannot be installed: {done.stderr.strip()}")
