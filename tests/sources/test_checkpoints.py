"""Finding checkpoints through Spark and reading what is new in them."""

import os
import shutil
import socket
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.checkpoint_files import CheckpointFiles
from support.waiting import eventually

from warren.sources import checkpoint_batches as reading
from warren.sources import checkpoint_homes as homes
from warren.sources import checkpoints as finding
from warren.sources.checkpoint_batches import Checkpoint
from warren.sources.checkpoints import Checkpoints
from warren.spark.hadoop_files import HadoopFiles

HISTORY = 3


class CountedFiles(HadoopFiles):
    """Counts what is listed and what is read."""

    listed = read_files = 0

    def names(self, directory: str) -> list[str]:
        self.listed += 1
        return super().names(directory)

    def read(self, path: str) -> bytes:
        self.read_files += 1
        return super().read(path)


class Looking:
    def __init__(self, spark: SparkSession, *locations: object) -> None:
        self.files = CountedFiles(spark)
        self.checkpoints = Checkpoints(self.files, [*map(str, locations)], HISTORY)

    def look(self) -> dict[str, list[int]]:
        """The batches that each checkpoint committed since the last look."""
        self.checkpoints.look(time.time(), lambda: False)
        return {
            path.rpartition("/")[2]: [batch.number for batch in each.fresh]
            for path, each in self.checkpoints.known.items()
        }

    def looked_at(self) -> set[str]:
        """All checkpoints after another look."""
        self.look()
        return {*self.checkpoints.known}

    def newest(self, name: str) -> Checkpoint:
        """One of the checkpoints, as of the last look."""
        known = self.checkpoints.known.items()
        return next(each for path, each in known if path.rpartition("/")[2] == name)

    @property
    def problems(self) -> dict[str, str]:
        return {path.rpartition("/")[2]: why for path, why in self.checkpoints.unreadable.items()}


def orders(offset: int) -> dict[str, dict[str, int]]:
    return {"orders": {"0": offset}}


def test_a_batch_counts_once_it_is_committed_and_is_read_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    looking = Looking(spark, f"file:{tmp_path}")
    query.begin(0, orders(5))

    seen = [looking.look()]
    for number in range(5):
        query.commit(number, orders(10 * number))
    query.begin(5, orders(50))
    seen += [looking.look(), looking.look()]
    read = looking.files.read_files
    listed = looking.files.listed
    query.finish(5)
    seen.append(looking.look())
    for number in range(6, 30):
        query.commit(number, orders(10 * number))
    seen.append(looking.look())

    assert seen == [
        {"query": []},
        {"query": [2, 3, 4]},
        {"query": []},
        {"query": [5]},
        {"query": [29]},  # however many there are, a look takes little time
    ]
    assert looking.files.read_files - read == 2
    # Only the directory of the checkpoint, not its hundreds of batches.
    assert looking.files.listed - listed == 2
    newest = looking.checkpoints.known[f"file:{tmp_path}/query"].newest
    assert newest is not None
    assert newest.offsets == {("orders", 0): 290}
    assert newest.committed_ms == CheckpointFiles.committed_ms(29)


def test_checkpoints_are_found_where_locations_name_them_or_hold_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    for path in ("one", "held/two", "deep/er/three", "deep/er/four {x}, y"):
        CheckpointFiles(tmp_path / path).commit(0, orders(1))
    locations = (tmp_path / "one", f"file:{tmp_path}/held", f"{tmp_path}/d*/er/*", tmp_path / "no")
    looking = Looking(spark, *locations)

    found = looking.look()
    CheckpointFiles(tmp_path / "held" / "new").commit(0, orders(1))
    shutil.rmtree(tmp_path / "held" / "two")
    later = looking.look()

    assert found == {"one": [0], "two": [0], "three": [0], "four {x}, y": [0]}
    assert later == {"one": [], "new": [0], "three": [], "four {x}, y": []}
    assert looking.checkpoints.empty == [str(tmp_path / "no")]
    assert looking.checkpoints.problems == looking.problems == {}


def test_what_cannot_be_read_is_named_and_disturbs_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    good = CheckpointFiles(tmp_path / "good")
    good.commit(0, orders(1))
    cut, odd = CheckpointFiles(tmp_path / "cut"), CheckpointFiles(tmp_path / "odd")
    cut.commit(0, orders(1))
    odd.commit(0, orders(1))
    (odd.directory / "offsets" / "0").unlink()
    (odd.directory / "offsets" / "0").mkdir()
    CheckpointFiles(tmp_path / "files-only").commit(0, {"logOffset": 3})
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no checkpoint")
    looking = Looking(spark, tmp_path, "nowhere://x/y")

    first = looking.look()
    log = cut.directory / "offsets" / "1"
    cut.commit(1, orders(2))
    whole = log.read_text()
    log.write_text(whole[:-5])
    good.commit(1, orders(2))
    second, problems = looking.look(), looking.problems
    log.write_text(whole)
    shutil.rmtree(odd.directory)
    third = looking.look()

    assert first == {"good": [0], "cut": [0], "odd": [], "files-only": [0]}
    assert second == {"good": [1], "cut": [], "odd": [], "files-only": []}
    assert problems == {
        "cut": "cannot read offsets/1: a source's offset: the log is cut short or damaged",
        "odd": "offsets/0: " + problems["odd"].removeprefix("offsets/0: "),
    }
    assert looking.problems == {}
    assert third == {"good": [], "cut": [1], "files-only": []}
    foreign = [path for path, each in looking.checkpoints.known.items() if not each.reads_kafka]
    assert foreign == [f"file:{tmp_path}/files-only"]
    assert "No FileSystem for scheme" in looking.checkpoints.problems["nowhere://x/y"]
    assert "spark.jars" in looking.checkpoints.problems["nowhere://x/y"]


def test_a_query_that_begins_anew_is_read_anew(spark: SparkSession, tmp_path: Path) -> None:
    query = CheckpointFiles(tmp_path / "query", "first")
    for number in range(5):
        query.commit(number, orders(number))
    looking = Looking(spark, tmp_path / "query")
    looking.look()

    ids = [looking.newest("query").query_id]
    shutil.rmtree(query.directory)
    CheckpointFiles(query.directory, "second").commit(0, orders(0))
    os.utime(query.directory / "commits" / "0")
    looks = [looking.look() for _ in range(reading.COMPARED_EVERY)]
    ids.append(looking.newest("query").query_id)
    shutil.rmtree(query.directory)
    third = CheckpointFiles(query.directory, "third")
    for number in range(3):  # it passes the number that was read
        third.commit(number, orders(number))
    passing = looking.look()
    ids.append(looking.newest("query").query_id)

    assert {"query": [0]} in looks
    assert passing == {"query": [0, 1, 2]}
    assert ids == ["first", "second", "third"]


def test_a_file_whose_checksum_is_wrong_is_left_where_it_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(1))
    (query.directory / "offsets" / ".0.crc").write_bytes(b"crc\0\0\0\2\0wrong")
    before = sorted(tmp_path.rglob("*"))

    seen = Looking(spark, tmp_path / "query").look()

    assert seen == {"query": [0]}
    assert sorted(tmp_path.rglob("*")) == before  # Hadoop alone would move it away


def test_numbers_with_gaps_are_followed(spark: SparkSession, tmp_path: Path) -> None:
    query = CheckpointFiles(tmp_path / "query")
    for number in (0, 4, 9):
        query.commit(number, orders(number))
    looking = Looking(spark, tmp_path / "query")
    seen = [looking.look()]

    for number in (15, 27):
        query.commit(number, orders(number))
        seen.append(looking.look())

    assert seen == [{"query": [0, 4, 9]}, {"query": [15]}, {"query": [27]}]


def test_of_many_new_ones_each_look_reads_some(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finding, "MOST_LISTED", 2)
    for name in "abcde":
        CheckpointFiles(tmp_path / name).commit(0, orders(1))
    looking = Looking(spark, tmp_path)

    looks = list[int]()
    while not looks or not looking.checkpoints.is_complete:
        looks.append(sum(map(len, looking.look().values())))

    assert looks == [2, 2, 1]


def test_the_newest_batch_is_found_however_many_there_are_since_the_last_look(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(0))
    looking = Looking(spark, tmp_path / "query")
    looking.look()
    newest = [0]

    for step in (1, 2, 3, 5, 5, 6, 4, 1, 1, 13, 13, 12):
        for number in range(newest[-1] + 1, newest[-1] + step + 1):
            query.commit(number, orders(number))
        newest.append(newest[-1] + step)
        assert looking.look() == {"query": newest[-1:]}, newest


def test_a_disk_that_is_gone_does_not_make_its_checkpoints_deleted_ones(
    spark: SparkSession, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    CheckpointFiles(disk / "query").commit(0, orders(1))
    looking = Looking(spark, disk)
    looking.look()
    disk.rename(tmp_path / "elsewhere")

    away, problems = looking.look(), dict(looking.checkpoints.problems)
    (tmp_path / "elsewhere").rename(disk)
    back = looking.look()

    assert (away, back) == ({"query": []}, {"query": []})
    assert problems == {str(disk): "nothing is there any more"}
    assert looking.checkpoints.problems == {}


def test_a_log_that_is_cut_anywhere_removes_nothing_and_is_read_once_it_is_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(1), {"bills": {"0": 1}})
    looking = Looking(spark, tmp_path)
    looking.look()
    query.commit(1, orders(2), {"bills": {"0": 2}})
    log = query.directory / "offsets" / "1"
    whole = log.read_text()
    facts, first, second = (whole.split("\n")[:end] for end in (2, 3, 4))
    cuts = [
        "\n".join(facts),
        "\n".join([*facts, ""]),
        "\n".join(first),
        "\n".join([*first, ""]),
        whole[:-5],
        "\n".join([*facts, '{"orders": {"0": -5}}', second[-1]]),
        "",
    ]

    looks, problems = [], []
    for cut in cuts:
        log.write_text(cut)
        looks.append(looking.look())
        problems.append(looking.problems["query"])
    standing = looking.newest("query")
    log.write_text(whole)
    repaired = looking.look()

    assert looks == [{"query": []}] * len(cuts)
    assert all(each.startswith("cannot read offsets/1: ") for each in problems), problems
    assert standing.newest is not None
    assert standing.newest.offsets == {("orders", 0): 1, ("bills", 0): 1}
    assert repaired == {"query": [1]}
    assert looking.problems == {}


def test_a_query_that_has_fewer_sources_from_now_on_is_followed(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(1), {"bills": {"0": 1}})
    looking = Looking(spark, tmp_path)
    looking.look()

    query.commit(1, orders(2))
    doubted = looking.look()
    query.commit(2, orders(3))
    believed = looking.look()

    assert (doubted, believed) == ({"query": []}, {"query": [2]})


def test_a_checkpoint_is_gone_once_the_directory_that_held_it_lists_without_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """However a location names it, and also if it was the last one."""
    for name in ("pattern", "parent", "named", "deep/er", "emptied"):
        CheckpointFiles(tmp_path / name / "query").commit(0, orders(1))
    places = (
        tmp_path / "pattern" / "*",
        tmp_path / "parent",
        tmp_path / "named" / "query",
        tmp_path / "deep" / "*" / "query",
        tmp_path / "emptied",
    )
    looking = Looking(spark, *places)
    found = looking.look()

    for name in ("pattern", "parent", "named"):
        shutil.rmtree(tmp_path / name / "query")
    shutil.rmtree(tmp_path / "deep" / "er")
    for log in ("offsets", "commits", "metadata"):
        gone = tmp_path / "emptied" / "query" / log
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    looks = [looking.look() for _ in range(reading.COMPARED_EVERY)]

    assert (len(found), looks[-1]) == (1, {})
    assert looking.checkpoints.problems == looking.problems == {}


def test_an_unmounted_disk_keeps_its_checkpoints_for_a_day(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves the empty directory below, or none; some of a location's, or all of them."""
    for disk in ("a", "b"):
        for name in ("one", "two"):
            CheckpointFiles(tmp_path / disk / name / "checkpoint").commit(0, orders(1))
    each_one = Looking(spark, tmp_path / "*" / "*" / "checkpoint")
    all_of_b = Looking(spark, tmp_path / "b" / "*" / "checkpoint")
    both = (each_one, all_of_b)

    def count() -> list[int]:
        return [len(each.looked_at()) for each in both]

    before = count()
    (tmp_path / "b").rename(tmp_path.parent / "away")
    (tmp_path / "b").mkdir()
    bare = count()
    problems = each_one.checkpoints.unreadable, all_of_b.checkpoints.problems
    (tmp_path / "b").rmdir()
    absent = len(all_of_b.looked_at())
    (tmp_path.parent / "away").rename(tmp_path / "b")
    back = count()
    mended = each_one.checkpoints.unreadable | all_of_b.checkpoints.problems
    (tmp_path / "b").rename(tmp_path.parent / "away")
    (tmp_path / "b").mkdir()
    monkeypatch.setattr(homes, "KEPT_S", 0)
    late = count()

    assert (before, bare, absent, back, late) == ([4, 2], [4, 2], 2, [4, 2], [2, 0])
    lost = {f"file:{tmp_path}/b/{name}/checkpoint": homes.LOST for name in ("one", "two")}
    assert problems == (lost, {str(tmp_path / "b" / "*" / "checkpoint"): homes.LOST})
    assert mended == {}


def test_a_file_system_that_hangs_or_fails_holds_up_no_other(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(1))
    monkeypatch.setattr(finding, "PATIENCE_S", 0.1)
    monkeypatch.setattr(finding, "SILENT_S", 0)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a name node that takes every call
        hanging = f"hdfs://127.0.0.1:{silent.getsockname()[1]}/x"
        failing = ("hdfs://nosuchhost.invalid/x", "file://host/x", "/x/[", "nowhere://x")
        looking = Looking(spark, hanging, *failing, tmp_path)

        first = eventually(looking.look)
        query.commit(1, orders(2))
        second = looking.look()
        problems = looking.checkpoints.problems

    assert (first, second) == ({"query": [0]}, {"query": [1]})
    assert problems.keys() == {hanging, *failing}
    assert problems[hanging] == "its file system does not answer"
    assert problems[failing[0]] == "UnknownHostException: nosuchhost.invalid"
    assert problems[failing[1]] == "Wrong FS: file://host/x, expected: file:///"
    assert not looking.checkpoints.has_failed
    assert looking.checkpoints.is_complete


def test_odd_names_and_special_files_stop_only_themselves(
    spark: SparkSession, tmp_path: Path
) -> None:
    names = ("plain", "job:1", "a b", "%41", "ü", "x#y", "star*", "[x]", "back\\slash", "new\nline")
    for name in (*names, "pipe", "piped-id"):
        CheckpointFiles(tmp_path / name).commit(0, orders(1))
    for special in ("pipe/offsets/0", "piped-id/metadata"):
        (tmp_path / special).unlink()
        os.mkfifo(tmp_path / special)
    compacted = tmp_path / "plain" / "commits" / "9.compact"  # Spark makes none here
    compacted.write_text("v1\n")

    by_pattern, by_parent = Looking(spark, tmp_path / "*"), Looking(spark, tmp_path)

    assert (
        by_pattern.look()
        == by_parent.look()
        == {
            **{key: [0] for key in (*names, "piped-id")},
            "pipe": [],
        }
    )
    assert by_pattern.problems == {"pipe": "offsets/0: it is no regular file"}


def test_an_empty_directory_is_named(spark: SparkSession, tmp_path: Path) -> None:
    CheckpointFiles(tmp_path / "query").commit(0, orders(1))
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no checkpoint")
    looking = Looking(spark, tmp_path)
    looking.look()

    assert looking.checkpoints.empty == [f"file:{tmp_path}/empty"]


def test_of_numbers_with_gaps_only_a_list_tells_that_nothing_is_new(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        query = CheckpointFiles(tmp_path / name)
        for number in (0, 4, 9):
            query.commit(number, orders(number))
    looking = Looking(spark, tmp_path)
    looking.checkpoints.look(0, lambda: False)
    monkeypatch.setattr(finding, "MOST_LISTED", 1)

    read_s = list[list[float]]()
    for moment_s in (1, 2, 3):
        looking.checkpoints.look(moment_s, lambda: False)
        read_s.append(sorted(each.read_s for each in looking.checkpoints.known.values()))

    assert read_s == [[0, 1], [1, 2], [2, 3]]
