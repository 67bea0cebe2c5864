"""Servers that Maven has as zip files: fetched once, into the cache beside the jars."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from warren.spark import jars


def zip_file(coordinate: str) -> Path:
    """Where the zip of `org:name:version` is; the test fails if it cannot be had."""
    _, name, version = coordinate.split(":")
    folder = jars.cache_dir() / "zips"
    file = folder / f"{name}-{version}.zip"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as one_at_a_time:
            fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
            if not file.exists():
                _fetch(coordinate, file)
    return file


def _fetch(coordinate: str, file: Path) -> None:
    home, log = jars.cache_dir() / "ivy", jars.cache_dir() / f"ivy-{file.stem}.log"
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        descriptor = Path(scratch, "ivy.xml")
        descriptor.write_text(jars.ivy_module([coordinate], []))
        problem = jars.retrieve(descriptor, Path(scratch), home, log, os.environ, types=["zip"])
        if problem:
            pytest.fail(f"{coordinate} cannot be fetched: {problem} (more in {log})")
        (found,) = Path(scratch).glob("*.zip")
        found.rename(file)
