"""Files through Hadoop's API: patterns, odd names, what is not there, what may not be read."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.refused_files import WHERE, without_rights

from warren.spark.hadoop_files import HadoopFiles

ODD = (
    "plain",
    "job:1",
    "a b",
    "%41",
    "ü",
    "x#y",
    "q?z",
    "star*",
    "[x]",
    "back\\slash",
    "new\nline",
)


@pytest.fixture(scope="module")
def files(spark: SparkSession) -> HadoopFiles:
    return HadoopFiles(spark)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory of each odd name, each with a file."""
    for name in ODD:
        (tmp_path / "cp" / name).mkdir(parents=True)
        (tmp_path / "cp" / name / "log").write_text(name)
    (tmp_path / "cp" / "file").write_text("no directory")
    return tmp_path


def test_a_pattern_finds_what_it_matches_whatever_names_lie_beside(
    files: HadoopFiles, place: Path
) -> None:
    with_logs = {f"cp/{name}/log" for name in ODD}
    cases = {
        "cp": {"cp"},
        "cp/*": {f"cp/{name}" for name in (*ODD, "file")},
        "*/*/log": with_logs,
        "cp/{plain,job:1,absent}": {"cp/plain", "cp/job:1"},
        "{cp/plain,cp/a b}/log": {"cp/plain/log", "cp/a b/log"},
        "cp/[a-c]*": {"cp/a b", "cp/back\\slash"},
        "cp/[^a-z%]*": {"cp/ü", "cp/[x]"},
        "cp/job?1": {"cp/job:1"},
        r"cp/\[x\]": {"cp/[x]"},
        r"cp/star\*/log": {"cp/star*/log"},
        "cp/*/absent": set[str](),
        "cp/file/*": set[str](),
        "absent/*": set[str](),
        "absent": set[str](),
    }

    schemes = ("", "file:", "file://")
    found = {
        scheme: {pattern: files.find(f"{scheme}{place}/{pattern}") for pattern in cases}
        for scheme in schemes
    }

    whole = {
        pattern: sorted(f"file:{place}/{each}" for each in each_case)
        for pattern, each_case in cases.items()
    }
    assert found == dict.fromkeys(schemes, whole)
    assert files.find("/") == ["file:/"]
    assert f"file:/{place.parts[1]}" in files.find("/*")


def test_the_root_of_a_pattern_is_the_last_directory_that_it_names(files: HadoopFiles) -> None:
    roots = {
        "/a/b/*/c": "file:/a/b",
        "/a/b": "file:/a/b",
        "file:/a/{b,c}/d": "file:/a",
        "file:/*": "file:/",
        "/*/a": "file:/",
    }

    assert {pattern: files.root(pattern) for pattern in roots} == roots


def test_files_are_listed_and_read(files: HadoopFiles, place: Path) -> None:
    contents = {name: files.read(f"{place}/cp/{name}/log").decode() for name in ODD}

    assert contents == {name: name for name in ODD}
    assert {*files.names(f"file:{place}/cp")} == {*ODD, "file"}
    assert files.names(str(place / "cp" / "plain")) == ["log"]
    written = (place / "cp" / "plain" / "log").stat().st_mtime_ns // 1_000_000
    assert files.modified_ms(f"{place}/cp/plain/log") == written
    assert files.exists(f"{place}/cp/job:1")


def test_a_directory_is_told_from_another_at_its_place(files: HadoopFiles, place: Path) -> None:
    before = files.identity(str(place / "cp"))
    (place / "cp" / "more").mkdir()
    same = files.identity(f"file:{place}/cp")
    (place / "cp").rename(place / "away")
    (place / "cp").mkdir()

    assert before == same != files.identity(str(place / "cp"))


def test_what_is_absent_is_a_file_not_found(files: HadoopFiles, place: Path) -> None:
    absent = str(place / "absent")

    for ask in (files.names, files.read, files.modified_ms, files.identity):
        with pytest.raises(FileNotFoundError):
            ask(absent)
    with pytest.raises(NotADirectoryError):
        files.names(str(place / "cp" / "file"))
    assert not files.exists(absent)
    assert not files.exists(str(place / "cp" / "file" / "below"))


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("hdfs://nosuchhost.invalid/x", "UnknownHostException: nosuchhost.invalid"),
        ("hdfs://127.0.0.1:1/x", "Connection refused"),
        ("hdfs:///x", "Incomplete HDFS URI, no host"),
        ("file://host/x", "Wrong FS: file://host/x"),
        ("file://host/*", "Wrong FS: file://host"),
        ("file:x/*", "Relative path in absolute URI"),
        ("nowhere://x", 'No FileSystem for scheme "nowhere"; Spark needs the jars'),
        ("s3a://lake/x", "S3AFileSystem not found; Spark needs the jars"),
        ("/x/[", "Unclosed character class"),
        ("/x/{a", "Unclosed group"),
        ("/x\0y", "null byte"),
    ],
)
def test_whatever_fails_is_a_failure_of_the_files(
    files: HadoopFiles, location: str, problem: str
) -> None:
    with pytest.raises(OSError, match=r".") as raised:
        files.find(location)

    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_only_regular_files_are_read(files: HadoopFiles, tmp_path: Path) -> None:
    """A pipe would never come to its end."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="it is no regular file"):
        files.read(str(tmp_path / "pipe"))


def test_what_may_not_be_read_is_said_and_stays_as_it_was(tmp_path: Path) -> None:
    """To Java a local file that is out of reach is one that does not exist."""
    told = without_rights(tmp_path)

    assert told.keys() == WHERE.keys()
    for where, each in told.items():
        said = [*each["unreadable"].values(), *each["problems"]]
        assert (each["newest"], each["after"]) == ({"good": 0, "query": 0}, {"good": 0, "query": 1})
        assert len(said) == 1, where
        assert "Permission denied" in said[0], where
        assert bool(each["problems"]) == ("location" in where)
