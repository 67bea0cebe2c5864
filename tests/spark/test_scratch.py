"""What a killed process leaves behind is gone with the next start; what a living one has is not."""

import subprocess
import sys
from pathlib import Path

from warren.spark import scratch

MAKES_AND_DIES = (
    "import os, signal; from warren.spark.scratch import make_scratch\n"
    "print(make_scratch(), flush=True)\n"
    "os.kill(os.getpid(), signal.SIGKILL)\n"
)


def test_directories_of_the_dead_are_removed_and_those_of_the_living_are_not() -> None:
    ours = scratch.make_scratch()
    died = subprocess.run([sys.executable, "-c", MAKES_AND_DIES], capture_output=True, check=False)
    left = Path(died.stdout.decode().strip())
    assert left.is_dir()

    other = scratch.make_scratch()

    assert not left.exists()
    assert ours.is_dir()
    assert other.is_dir()
    for each in (ours, other):
        scratch.remove_scratch(each)
        assert not each.exists()
