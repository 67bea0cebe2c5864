import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warren.errors import StartError
from warren.process.pidfile import held


@pytest.fixture
def live_pid() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate(b"\n")


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_pidfile_holds_our_pid_and_goes_with_us(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"

    with held(path):
        inside = path.read_text()

    assert inside == str(os.getpid())
    assert not path.exists()


def test_the_pidfile_goes_when_the_work_fails(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"

    with pytest.raises(RuntimeError), held(path):
        raise RuntimeError

    assert not path.exists()


def test_the_pidfile_of_a_live_process_is_respected(tmp_path: Path, live_pid: int) -> None:
    path = tmp_path / "burrow.pid"
    path.write_text(f"{live_pid}\n")

    with pytest.raises(StartError, match=f"pid {live_pid}, holds the pidfile {path}"), held(path):
        pass

    assert path.read_text() == f"{live_pid}\n"


def test_the_first_process_of_the_machine_counts_as_live(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"
    path.write_text("1")

    with pytest.raises(StartError, match="pid 1, holds"), held(path):
        pass


def test_whatever_is_stale_is_replaced_whole(tmp_path: Path, dead_pid: int) -> None:
    path = tmp_path / "burrow.pid"
    stale = {
        "a dead process": f"{dead_pid}\n",
        "our own number": str(os.getpid()),
        "empty": "",
        "garbage": "not a pid",
        "garbage after a number": "1 one",
        "longer than any pid": "9" * 30,
        "longer than is read": "9" * 200,
        "the caller's process group": "0",
        "everybody": "-1",
        "a line of spaces": " \n",
    }

    wrong = []
    for name, content in stale.items():
        path.write_text(content)
        with held(path):
            if path.read_text() != str(os.getpid()):
                wrong.append(name)

    assert wrong == []


def test_a_pidfile_that_another_process_took_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"

    with held(path):
        path.write_text("12345678")

    assert path.read_text() == "12345678"


def test_a_pidfile_removed_by_hand_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"

    with held(path):
        path.unlink()

    assert not path.exists()


def test_a_pidfile_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    missing, directory = tmp_path / "missing" / "burrow.pid", tmp_path

    with pytest.raises(StartError) as no_folder, held(missing):
        pass
    with pytest.raises(StartError) as is_folder, held(directory):
        pass

    assert str(no_folder.value) == f"cannot write the pidfile {missing}: No such file or directory"
    assert str(is_folder.value) == f"cannot write the pidfile {directory}: Is a directory"


def test_of_many_processes_that_start_at_once_one_gets_the_pidfile(tmp_path: Path) -> None:
    path = tmp_path / "burrow.pid"
    path.write_text("999999999")
    contender = (
        "import sys; from pathlib import Path; from warren.process.pidfile import claim\n"
        f"input(); claim(Path({str(path)!r})); print('mine', flush=True); input()"
    )
    contenders = [
        subprocess.Popen(
            [sys.executable, "-c", contender],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(6)
    ]

    for process in contenders:
        assert process.stdin
        process.stdin.write("start\n")
        process.stdin.flush()
    # The losers end by themselves; the winner waits for its second line.
    said = [process.stdout.readline() for process in contenders if process.stdout]
    for process in contenders:
        process.communicate("end\n")

    assert sorted(said) == [""] * 5 + ["mine\n"]
