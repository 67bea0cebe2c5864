"""Log ends of the past, for who was away: few of many moments, the oldest first."""

from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.history_rows import MINUTE_MS, START_MS, group, log_end, minute, write

from warren.errors import NotKept
from warren.history.past_ends import WEEK_MS, past_ends, spans
from warren.history.table_files import TableFiles
from warren.model.tables import LOG_ENDS

NOW_MS = minute(0) + 30_000
HOURS = 6
FOLDED = {**log_end("folded", 0, 7), "partition": None, "partitions": 3}


class NotHere(TableFiles):
    """A table in a store that only Spark can read."""

    @property
    def are_here(self) -> bool:
        return False


@pytest.fixture(scope="module")
def past(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every minute of six hours but the third; a single moment five days ago; another cluster's."""
    directory = tmp_path_factory.mktemp("history")
    minutes = [-at for at in range(HOURS * 60) if not 120 <= at < 180] + [-5 * 24 * 60]
    moments = {
        minute(at): [
            group("billing", 1, 0),
            log_end("orders", 0, 100_000 + at),
            log_end("orders", 1, 5),
            FOLDED,
            group("billing", 1, 0, cluster="other"),
            log_end("orders", 0, -1, cluster="other"),
        ]
        for at in sorted(minutes)
    }
    write(spark, directory, moments)
    return directory


@pytest.mark.parametrize("files_of", [TableFiles, NotHere])
def test_moments_are_thinned_towards_the_past_and_have_their_ends(
    spark: SparkSession, past: Path, files_of: type[TableFiles]
) -> None:
    # By Spark every look is a job, so these are few.
    back_ms = WEEK_MS if files_of is TableFiles else 15 * MINUTE_MS

    found = [*past_ends(files_of(str(past)), spark, "local", NOW_MS, back_ms)]
    found.reverse()

    ages = [(NOW_MS - each.moment_ms) // MINUTE_MS for each in found]
    assert ages[:11] == [*range(11)]
    assert all(older > newer for newer, older in pairwise(ages))
    if files_of is TableFiles:
        assert len(ages) < 50
        assert not [age for age in ages if 120 <= age < 180]
        assert 0.9 * HOURS * 60 < ages[-2] < HOURS * 60
        assert ages[-1] == 5 * 24 * 60
    for each in found:
        number = (each.moment_ms - START_MS) // MINUTE_MS
        assert each.ends.schema == LOG_ENDS
        assert sorted(each.ends.to_pylist(), key=lambda row: row["partition"]) == [
            {"topic": "orders", "partition": 0, "offset": 100_000 + number},
            {"topic": "orders", "partition": 1, "offset": 5},
        ]


def test_a_week_is_a_hundred_spans_without_gaps() -> None:
    found = [*spans(NOW_MS, WEEK_MS)]

    assert 80 < len(found) < 120
    assert found[0].until_ms == NOW_MS
    assert found[-1].since_ms == NOW_MS - WEEK_MS + 1
    assert all(after.until_ms == before.since_ms - 1 for before, after in pairwise(found))


def test_of_no_table_there_is_nothing(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in {"empty": None, "damaged": "not json"}.items():
        log = tmp_path / name / "_delta_log"
        if text is None:
            assert [*past_ends(TableFiles(str(log.parent)), spark, "local", NOW_MS)] == []
            continue
        log.mkdir(parents=True)
        (log / f"{0:020}.json").write_text(text)
        with pytest.raises(NotKept, match="log ends cannot be read"):
            next(past_ends(TableFiles(str(log.parent)), spark, "local", NOW_MS))
