"""Finds Java 17 or newer, or installs it where one command does it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from warren.errors import JavaMissing

OLDEST = 17
# Newer distributions no longer have 17, but a newer default.
PACKAGES = ("openjdk-17-jre-headless", "default-jre-headless")


def java_home(environ: Mapping[str, str] = os.environ, uid: int | None = None) -> Path:
    """The home of a Java that can run Spark and Kafka; callers set JAVA_HOME to it."""
    home = _find(environ)
    if home is None and _may_install(environ, uid):
        _install(environ)
        home = _find(environ)
    if home is None:
        raise JavaMissing(_remedy(environ))
    return home


def _find(environ: Mapping[str, str]) -> Path | None:
    for executable in _candidates(environ):
        home = _usable_home(executable)
        if home is not None:
            return home
    return None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"], "bin", "java")
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield Path(on_path)


def _usable_home(executable: Path) -> Path | None:
    try:
        properties = _properties(executable)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = properties.get("java.specification.version", "1").removeprefix("1.")
    if "java.home" not in properties or int(version) < OLDEST:
        return None
    return Path(properties["java.home"])


@cache
def _properties(executable: Path) -> Mapping[str, str]:
    """Run Java to find out: on PATH there may be a link, a stub or a version switcher's script."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603  the user's own Java
    return dict(re.findall(r"^\s*(java\.\S+) = (.+?)\s*$", answer.stderr, re.MULTILINE))


def _may_install(environ: Mapping[str, str], uid: int | None) -> bool:
    is_root = (os.geteuid() if uid is None else uid) == 0
    return is_root and _apt_get(environ) is not None


def _apt_get(environ: Mapping[str, str]) -> str | None:
    return shutil.which("apt-get", path=environ.get("PATH", ""))


def _install(environ: Mapping[str, str]) -> None:
    apt_get = _apt_get(environ)
    print("warren: installing Java with apt-get (once; about a minute)", file=sys.stderr)  # noqa: T201  progress, before logging is set up
    quiet = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (
        ["update"],
        *(["install", "-y", "--no-install-recommends", p] for p in PACKAGES),
    ):
        done = subprocess.run(  # noqa: S603  a fixed command
            [str(apt_get), "-qq", *arguments], env=quiet, capture_output=True, check=False
        )
        if arguments[0] == "install" and done.returncode == 0:
            return


def _remedy(environ: Mapping[str, str]) -> str:
    if _apt_get(environ):
        return "type: sudo apt-get install default-jre-headless"
    return "install a JRE (for instance from https://adoptium.net) and set JAVA_HOME to it"
