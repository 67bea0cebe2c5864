"""What a sink keeps of itself: whole, or as it was before."""

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.sink_streams import FIRST_MS, MINUTE_MS, append

from warren.errors import NotKept
from warren.sinks.checkpoint import SinkFolder
from warren.sinks.stream import is_too_late


@pytest.fixture(scope="module")
def history(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("with a space") / "history"
    append(spark, directory, 0, 1)
    return directory


def test_where_a_stream_began_is_settled_once(spark: SparkSession, history: Path) -> None:
    began = [SinkFolder(spark, str(history), "once").origin(since) for since in ("24h", "earliest")]

    assert began[0] == began[1]
    assert began[0].since_ms > 0


def test_what_a_kill_left_half_written_does_not_count(spark: SparkSession, history: Path) -> None:
    folder = history / "_sinks" / "killed"
    folder.mkdir(parents=True)
    (folder / "origin.json.new").write_text('{"stream": "a')

    place = SinkFolder(spark, str(history), "killed")
    began = place.origin("earliest")
    place.save_delivered(FIRST_MS)
    (folder / "delivered.new").write_text("1\n")
    again = SinkFolder(spark, str(history), "killed")

    assert again.origin("latest") == began
    assert again.delivered_ms() == FIRST_MS


def test_a_damaged_origin_is_told_and_nothing_is_guessed(
    spark: SparkSession, history: Path
) -> None:
    place = SinkFolder(spark, str(history), "damaged")
    place.origin("earliest")
    file = history / "_sinks" / "damaged" / "origin.json"
    file.write_text("{}\n")

    with pytest.raises(NotKept, match=r"damaged/origin\.json is damaged"):
        place.origin("latest")


def test_a_new_stream_leaves_nothing_of_the_old_one(spark: SparkSession, history: Path) -> None:
    place = SinkFolder(spark, str(history), "anew")
    old = place.origin("24h")
    Path(place.checkpoint(old), "offsets").mkdir(parents=True)

    new = place.restart(old)

    assert (new.since_ms, new.version) == (old.since_ms, None)
    assert place.origin("earliest") == new
    assert [*(history / "_sinks" / "anew").glob("checkpoint-*")] == []


def test_the_first_moment_to_deliver(spark: SparkSession, history: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    append(spark, empty)
    cases = {
        ("all", "earliest", history): FIRST_MS,
        ("later", str(FIRST_MS + MINUTE_MS), history): FIRST_MS + MINUTE_MS,
    }

    found = {
        case: place.first_ms(place.origin(case[1]))
        for case in cases
        if (place := SinkFolder(spark, str(case[2]), case[0]))
    }
    nothing = SinkFolder(spark, str(empty), "nothing")

    assert found == cases
    assert nothing.first_ms(nothing.origin("earliest")) <= time.time() * 1000
    assert nothing.delivered_ms() == 0


def test_files_that_are_gone_are_told_from_files_that_may_not_be_opened() -> None:
    gone = "java.io.FileNotFoundException: "
    cases = {
        f"{gone}File file:/h/part-1.parquet does not exist": True,
        f"{gone}/h/part-1.parquet (No such file or directory)": True,
        f"{gone}/h/part-1.parquet (Permission denied)\n\tat java.base/java.io": False,
        f"{gone}/h/part-1.parquet (Too many open files)": False,
        "[DELTA_MISSING_FILES_UNEXPECTED_VERSION] The stream from your Delta table was": True,
        "[DELTA_VERSIONS_NOT_CONTIGUOUS] Versions": True,
        "java.io.IOException: No space left on device": False,
    }

    assert {text: is_too_late(text) for text in cases} == cases
