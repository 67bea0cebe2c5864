import gzip
import logging
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warren.process.logs import MEGABYTE, RotatingFile, RotationLimits, backup_path, tidy

NOW = datetime(2024, 5, 6, 7, 8, 9, 123_456, tzinfo=UTC)


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def write(file: RotatingFile, text: str) -> None:
    file.emit(logging.makeLogRecord({"msg": text}))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def backups(folder: Path, *ages: timedelta, ending: str = ".log") -> None:
    for age in ages:
        stamp = (NOW - age).strftime("%Y-%m-%dT%H-%M-%S.000")
        (folder / f"warren-{stamp}{ending}").write_text("old\n")


def test_a_full_file_is_set_aside_under_the_time(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)

    write(file, "a" * (MEGABYTE - 1))
    write(file, "b")
    file.close()

    assert names(tmp_path) == ["warren-2024-05-06T07-08-09.123.log", "warren.log"]
    assert path.read_text() == "b\n"


def test_a_file_that_an_earlier_run_filled_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"
    path.write_bytes(b"x" * MEGABYTE)
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)

    write(file, "first")
    file.close()

    assert path.read_text() == "first\n"


def test_a_line_longer_than_the_limit_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)

    write(file, "a" * 2 * MEGABYTE)
    file.close()

    assert names(tmp_path) == ["warren.log"]
    assert path.stat().st_size == 2 * MEGABYTE + 1


def test_a_size_of_zero_is_a_hundred_megabytes() -> None:
    assert RotationLimits(megabytes=0).size == 100 * MEGABYTE


def test_names_follow_lumberjack(tmp_path: Path, new_york: None) -> None:  # noqa: ARG001  # a time zone
    local = RotationLimits(local_time=True)
    cases = {
        ("warren.log", RotationLimits()): "warren-2024-05-06T07-08-09.123.log",
        ("warren.log", local): "warren-2024-05-06T03-08-09.123.log",
        ("warren", RotationLimits()): "warren-2024-05-06T07-08-09.123",
        ("a.b.txt", RotationLimits()): "a.b-2024-05-06T07-08-09.123.txt",
        (".log", RotationLimits()): "-2024-05-06T07-08-09.123.log",
    }

    named = {case: backup_path(tmp_path / case[0], NOW, case[1]).name for case in cases}

    assert named == cases


def test_two_files_set_aside_in_one_millisecond_are_both_kept(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "warren.log", RotationLimits(megabytes=1), lambda: NOW)

    for _ in range(3):
        write(file, "a" * MEGABYTE)
    file.close()

    assert names(tmp_path) == [
        "warren-2024-05-06T07-08-09.123.log",
        "warren-2024-05-06T07-08-09.124.log",
        "warren.log",
    ]


def test_the_newest_backups_are_kept(tmp_path: Path) -> None:
    backups(tmp_path, *(timedelta(hours=hours) for hours in range(1, 5)))

    tidy(tmp_path / "warren.log", RotationLimits(backups=2), NOW)

    assert names(tmp_path) == [
        "warren-2024-05-06T05-08-09.000.log",
        "warren-2024-05-06T06-08-09.000.log",
    ]


def test_old_backups_go_compressed_or_not(tmp_path: Path) -> None:
    backups(tmp_path, timedelta(days=2, hours=23), timedelta(days=3, hours=1))
    backups(tmp_path, timedelta(days=4), ending=".log.gz")

    tidy(tmp_path / "warren.log", RotationLimits(days=3), NOW)

    assert names(tmp_path) == ["warren-2024-05-03T08-08-09.000.log"]


def test_local_names_are_aged_in_local_time(tmp_path: Path, new_york: None) -> None:  # noqa: ARG001  # a time zone
    # Read as UTC the name would be four hours too old.
    (tmp_path / "warren-2024-05-05T04-00-00.000.log").touch()

    tidy(tmp_path / "warren.log", RotationLimits(days=1, local_time=True), NOW)

    assert names(tmp_path) == ["warren-2024-05-05T04-00-00.000.log"]


def test_without_limits_everything_is_kept(tmp_path: Path) -> None:
    backups(tmp_path, *(timedelta(days=days) for days in range(0, 1000, 100)))

    tidy(tmp_path / "warren.log", RotationLimits(), NOW)

    assert len(names(tmp_path)) == 10


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    others = ["warren-notes.log", "warren.log", "other-2001-01-01T00-00-00.000.log", "warren-.log"]
    for name in others:
        (tmp_path / name).touch()

    tidy(tmp_path / "warren.log", RotationLimits(backups=1, days=1, compress=True), NOW)

    assert names(tmp_path) == sorted(others)


def test_backups_are_compressed_and_whole(tmp_path: Path) -> None:
    file = RotatingFile(
        tmp_path / "warren.log", RotationLimits(megabytes=1, compress=True), lambda: NOW
    )

    write(file, "a" * MEGABYTE)
    write(file, "b")
    file.close()

    packed = tmp_path / "warren-2024-05-06T07-08-09.123.log.gz"
    assert names(tmp_path) == [packed.name, "warren.log"]
    assert gzip.decompress(packed.read_bytes()) == b"a" * MEGABYTE + b"\n"


def test_a_backup_left_plain_by_a_crash_is_compressed_at_the_next_start(tmp_path: Path) -> None:
    backups(tmp_path, timedelta(hours=1))
    (tmp_path / "warren-2024-05-06T06-08-09.000.log.gz.part").write_bytes(b"half")

    RotatingFile(tmp_path / "warren.log", RotationLimits(compress=True), lambda: NOW).close()

    assert names(tmp_path) == ["warren-2024-05-06T06-08-09.000.log.gz", "warren.log"]


def test_the_file_is_private_until_the_operator_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folders" / "warren.log"
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)
    at_first = stat.S_IMODE(path.stat().st_mode)

    path.chmod(0o640)
    write(file, "a" * MEGABYTE)
    write(file, "b")
    file.close()

    assert at_first == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_taken_away_is_started_anew_at_the_next_rotation(tmp_path: Path) -> None:
    path = tmp_path / "warren.log"
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)
    write(file, "a" * MEGABYTE)
    path.unlink()

    write(file, "b")
    file.close()

    assert path.read_text() == "b\n"


def test_a_pipe_is_never_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    file = RotatingFile(path, RotationLimits(megabytes=1), lambda: NOW)

    write(file, "through the pipe")
    file.close()

    assert os.read(reader, 100) == b"through the pipe\n"
    assert names(tmp_path) == ["pipe"]
    os.close(reader)
