"""Which Java is taken, and what happens when there is none."""

from pathlib import Path

import pytest

from warren.errors import JavaMissing
from warren.spark.java import java_home

NOBODY, ROOT = 65534, 0


def make_java(home: Path, specification: str) -> Path:
    """A `java` that answers for its settings as the real one does, on stderr."""
    write_script(
        home / "bin" / "java",
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.specification.version = {specification}" >&2\n',
    )
    return home


def write_script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)


def test_java_home_is_asked_before_path(tmp_path: Path) -> None:
    chosen, other = make_java(tmp_path / "21", "21"), make_java(tmp_path / "17", "17")

    found = java_home({"JAVA_HOME": str(chosen), "PATH": f"{other}/bin"}, uid=NOBODY)

    assert found == chosen


def test_a_java_that_is_too_old_or_broken_is_passed_over(tmp_path: Path) -> None:
    good = make_java(tmp_path / "17", "17")
    write_script(tmp_path / "broken" / "bin" / "java", "exit 1\n")
    unusable = {
        "Java 11": make_java(tmp_path / "11", "11"),
        "Java 8, which calls itself 1.8": make_java(tmp_path / "8", "1.8"),
        "says nothing": tmp_path / "broken",
        "is not there": tmp_path / "absent",
    }

    found = {
        name: java_home({"JAVA_HOME": str(home), "PATH": f"{good}/bin"}, uid=NOBODY)
        for name, home in unusable.items()
    }

    assert [name for name, home in found.items() if home != good] == []


def test_without_java_the_error_is_one_line_to_type(tmp_path: Path) -> None:
    write_script(tmp_path / "apt-get", "exit 1\n")
    remedies = {
        "apt-get, not root": (str(tmp_path), NOBODY, "type: sudo apt-get install"),
        "apt-get, root, no network": (str(tmp_path), ROOT, "type: sudo apt-get install"),
        "no apt-get": ("", ROOT, "set JAVA_HOME"),
    }

    for path, uid, remedy in remedies.values():
        with pytest.raises(JavaMissing, match=remedy) as raised:
            java_home({"PATH": path}, uid=uid)
        assert "\n" not in str(raised.value)


def test_root_gets_java_installed_from_the_first_package_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_java(tmp_path / "21", "21")
    install = f"/bin/ln -s {tmp_path}/21/bin/java {tmp_path}/bin/java"
    cases = f'*" default-jre-headless") {install} ;;\n*install*) exit 100 ;;'
    write_script(tmp_path / "bin" / "apt-get", f'case "$*" in\n{cases}\nesac\n')

    found = java_home({"PATH": f"{tmp_path}/bin"}, uid=ROOT)

    assert found == tmp_path / "21"
    assert (
        capsys.readouterr().err == "warren: installing Java with apt-get (once; about a minute)\n"
    )
