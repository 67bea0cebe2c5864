"""Finding checkpoints through Spark and reading what is new in them."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.checkpoint_files import CheckpointFiles

from warren.sources import checkpoints as reading
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


@pytest.fixture
def workers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


class Looking:
    def __init__(
        self, spark: SparkSession, workers: ThreadPoolExecutor, *locations: object
    ) -> None:
        self.files = CountedFiles(spark)
        self.checkpoints = Checkpoints(self.files, [*map(str, locations)], HISTORY, workers)

    def look(self) -> dict[str, list[int]]:
        """The batches that each checkpoint committed since the last look."""
        self.checkpoints.look(lambda: False)
        return {
            path.rpartition("/")[2]: [batch.number for batch in each.fresh]
            for path, each in self.checkpoints.known.items()
        }

    @property
    def problems(self) -> dict[str, str]:
        return {path.rpartition("/")[2]: why for path, why in self.checkpoints.unreadable.items()}


def orders(offset: int) -> dict[str, dict[str, int]]:
    return {"orders": {"0": offset}}


def test_a_batch_counts_once_it_is_committed_and_is_read_once(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    looking = Looking(spark, workers, f"file:{tmp_path}")
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
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    for path in ("one", "held/two", "deep/er/three", "deep/er/four {x}, y"):
        CheckpointFiles(tmp_path / path).commit(0, orders(1))
    locations = (tmp_path / "one", f"file:{tmp_path}/held", f"{tmp_path}/d*/er/*", tmp_path / "no")
    looking = Looking(spark, workers, *locations)

    found = looking.look()
    CheckpointFiles(tmp_path / "held" / "new").commit(0, orders(1))
    shutil.rmtree(tmp_path / "held" / "two")
    later = looking.look()

    assert found == {"one": [0], "two": [0], "three": [0], "four {x}, y": [0]}
    assert later == {"one": [], "new": [0], "three": [], "four {x}, y": []}
    assert looking.checkpoints.empty == [str(tmp_path / "no")]
    assert looking.checkpoints.problems == looking.problems == {}


def test_what_cannot_be_read_is_named_and_disturbs_nothing(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
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
    looking = Looking(spark, workers, tmp_path, "nowhere://x/y")

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


def test_a_query_that_begins_anew_is_read_anew(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query", "first")
    for number in range(5):
        query.commit(number, orders(number))
    looking = Looking(spark, workers, tmp_path / "query")
    looking.look()
    (held,) = looking.checkpoints.known.values()

    ids = [held.query_id]
    shutil.rmtree(query.directory)
    CheckpointFiles(query.directory, "second").commit(0, orders(0))
    os.utime(query.directory / "commits" / "0")
    looks = [looking.look() for _ in range(reading.COMPARED_EVERY)]
    ids.append(held.query_id)

    assert {"query": [0]} in looks
    assert ids == ["first", "second"]


def test_a_file_whose_checksum_is_wrong_is_left_where_it_is(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(1))
    (query.directory / "offsets" / ".0.crc").write_bytes(b"crc\0\0\0\2\0wrong")
    before = sorted(tmp_path.rglob("*"))

    seen = Looking(spark, workers, tmp_path / "query").look()

    assert seen == {"query": [0]}
    assert sorted(tmp_path.rglob("*")) == before  # Hadoop alone would move it away


def test_numbers_with_gaps_are_followed(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    for number in (0, 4, 9):
        query.commit(number, orders(number))
    looking = Looking(spark, workers, tmp_path / "query")
    seen = [looking.look()]

    for number in (15, 27):
        query.commit(number, orders(number))
        seen.append(looking.look())

    assert seen == [{"query": [0, 4, 9]}, {"query": [15]}, {"query": [27]}]


def test_of_many_new_ones_each_look_reads_some(
    spark: SparkSession,
    workers: ThreadPoolExecutor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "MOST_LISTED", 2)
    for name in "abcde":
        CheckpointFiles(tmp_path / name).commit(0, orders(1))
    looking = Looking(spark, workers, tmp_path)

    looks = list[int]()
    while not looks or not looking.checkpoints.is_complete:
        looks.append(sum(map(len, looking.look().values())))

    assert looks == [2, 2, 1]


def test_the_newest_batch_is_found_however_many_there_are_since_the_last_look(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    query = CheckpointFiles(tmp_path / "query")
    query.commit(0, orders(0))
    looking = Looking(spark, workers, tmp_path / "query")
    looking.look()
    newest = [0]

    for step in (1, 2, 3, 5, 5, 6, 4, 1, 1, 13, 13, 12):
        for number in range(newest[-1] + 1, newest[-1] + step + 1):
            query.commit(number, orders(number))
        newest.append(newest[-1] + step)
        assert looking.look() == {"query": newest[-1:]}, newest


def test_a_disk_that_is_gone_does_not_make_its_checkpoints_deleted_ones(
    spark: SparkSession, workers: ThreadPoolExecutor, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    CheckpointFiles(disk / "query").commit(0, orders(1))
    looking = Looking(spark, workers, disk)
    looking.look()
    disk.rename(tmp_path / "elsewhere")

    away, problems = looking.look(), dict(looking.checkpoints.problems)
    (tmp_path / "elsewhere").rename(disk)
    back = looking.look()

    assert (away, back) == ({"query": []}, {"query": []})
    assert problems == {str(disk): "nothing is there any more"}
    assert looking.checkpoints.problems == {}
