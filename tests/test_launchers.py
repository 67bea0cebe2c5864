"""`./warren` and `./check`, and how they decide whether the environment has to be made.

The last part runs in a made-up tree with a made-up `uv` that only notes how it was called.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import warren

ROOT = Path(__file__).parents[1]

UV = """#!/bin/sh
echo "$@" >>"$UV_CALLS"
case "$1" in
venv) mkdir -p .venv/bin && ln -sf /bin/true .venv/bin/python ;;
pip) [ ! -e network-is-down ] ;;
esac
"""


class Tree:
    """A tree with requirements and nothing else, and what it asked of `uv`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "requirements").mkdir()
        (folder / "bin").mkdir()
        shutil.copy(ROOT / "requirements" / "environment.sh", folder / "requirements")
        for name in ("run", "check"):
            (folder / "requirements" / f"{name}.txt").write_text(f"{name}==1\n")
        (folder / "bin" / "uv").write_text(UV)
        (folder / "bin" / "uv").chmod(0o755)

    def make(self, *names: str) -> tuple[int, list[str]]:
        """The exit code, and the commands that `uv` got."""
        calls = self.folder / "calls"
        calls.write_text("")
        files = " ".join(f"requirements/{name}.txt" for name in names)
        script = f"set -euo pipefail; . requirements/environment.sh; make_environment {files}"
        done = subprocess.run(
            ["bash", "-c", script],  # noqa: S607  # whichever bash the launchers get
            cwd=self.folder,
            env=os.environ
            | {
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "XDG_CACHE_HOME": str(self.folder / "cache"),
                "UV_CALLS": str(calls),
            },
            check=False,
            capture_output=True,
        )
        return done.returncode, [call.split()[0] for call in calls.read_text().splitlines()]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_warren_runs_from_any_directory(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "warren", "--version"], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert done.stdout == f"warren {warren.__version__}\n"
    assert list(tmp_path.iterdir()) == []


def test_warren_runs_through_a_link_and_sees_the_callers_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ROOT / "warren")

    done = subprocess.run(
        [tmp_path / "link", "check-config", "missing.toml"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert "missing.toml" in done.stderr


def test_check_hands_its_arguments_to_pytest_and_keeps_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "def test_fails(): assert False\ndef test_is_fine(): pass\n"
    )

    fine = subprocess.run(
        [ROOT / "check", "-q", tmp_path / "test_one.py", "-k", "is_fine"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    failed = subprocess.run(
        [ROOT / "check", "-q", tmp_path / "test_one.py"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )

    assert (fine.returncode, failed.returncode) == (0, 1)
    assert "1 passed, 1 deselected" in fine.stdout
    assert "linters" not in fine.stdout


def test_the_environment_is_made_once(tree: Tree) -> None:
    assert tree.make("run") == (0, ["venv", "pip"])
    assert tree.make("run") == (0, [])


def test_changed_requirements_are_installed_into_the_same_environment(tree: Tree) -> None:
    tree.make("run")
    (tree.folder / "requirements" / "run.txt").write_text("run==2\n")

    assert tree.make("run") == (0, ["pip"])
    assert tree.make("run") == (0, [])


def test_the_environment_of_check_serves_warren_too(tree: Tree) -> None:
    tree.make("check")

    assert tree.make("run", "check") == (0, [])


def test_the_environment_of_warren_is_not_enough_for_check(tree: Tree) -> None:
    tree.make("run", "check")

    assert tree.make("check") == (0, ["pip"])


def test_an_environment_that_could_not_be_filled_is_tried_again(tree: Tree) -> None:
    (tree.folder / "network-is-down").touch()
    code, _ = tree.make("run")
    (tree.folder / "network-is-down").unlink()

    assert code != 0
    assert tree.make("run") == (0, ["pip"])


def test_an_environment_whose_python_is_gone_is_made_anew(tree: Tree) -> None:
    tree.make("run")
    (tree.folder / ".venv" / "bin" / "python").unlink()

    assert tree.make("run") == (0, ["venv", "pip"])
