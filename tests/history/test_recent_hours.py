"""The last hours in memory: the same answers as from the table, within a bound."""

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from support.history_rows import (
    MINUTE_MS,
    START_MS,
    Row,
    group,
    log_end,
    minute,
    moment,
    partition,
    write,
)

from warren.history import service, table, table_files
from warren.history.recent_hours import HOUR_MS, Recent
from warren.history.refill import LATE_MS, Refill
from warren.history.service import HistoryService
from warren.history.table_files import TableFiles
from warren.model.history_question import HistoryQuestion
from warren.model.period import Period

GROUPS = ("billing", "by topic", "coarse", "comes late", "\u00fcml\u00e4ut \U0001f407")
MINUTES = [*range(40), *range(60, 100)]  # nobody watched between
LAST_MS = minute(MINUTES[-1])
EVERYTHING = Period(START_MS - MINUTE_MS, LAST_MS + MINUTE_MS)


def now_s() -> float:
    return LAST_MS / 1000 + 10


def rows_at(number: int) -> Iterator[Row]:
    """Of two clusters; groups are as fine as settings make them, come, and lose partitions."""
    luck = random.Random(number)  # noqa: S311  to be the same each time
    for cluster in ("local", "other"):
        for name in GROUPS:
            if name == "comes late" and number < 30:
                continue
            status, lag = luck.choice((1, 1, 1, 2, 3)), luck.choice((0, 5, 2**31, 2**40))
            age = luck.choice((None, 0.0, 12.3, 86_400.0))
            offset = luck.randrange(10**6)
            yield group(name, status, lag, offset=offset, age_s=age, cluster=cluster)
            if name == "by topic":
                folded = {"partitions": 7, "max_lag": lag // 2, "cluster": cluster}
                yield partition(name, "orders", None, status, lag, **folded)
            elif name != "coarse":
                for each in range(luck.choice((3, 4)) if number < 50 else 3):
                    topic = luck.choice(("orders", "bills")) if each == 2 else "orders"
                    bad = luck.choice((1, 1, 4, 5, 6))
                    yield partition(name, topic, each, bad, luck.randrange(2**33), cluster=cluster)
        yield log_end("orders", 0, number, cluster=cluster)


@pytest.fixture(scope="module")
def directory(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = tmp_path_factory.mktemp("recent")
    write(spark, kept, {minute(number): [*rows_at(number)] for number in MINUTES})
    return kept


def filled(spark: SparkSession, directory: Path, recent: Recent) -> Refill:
    refill = Refill(spark, TableFiles(str(directory)), recent, 60, now_s)
    refill.fill(threading.Event())
    return refill


def test_memory_files_and_spark_answer_the_same(
    spark: SparkSession, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_SECONDS", 240.0)
    reader = HistoryService(str(directory))
    reader.recent._clock = now_s  # noqa: SLF001
    reader.begin(spark)
    filled(spark, directory, reader.recent)
    some = Period(minute(7) + 1, minute(71))
    questions = [
        *(HistoryQuestion("local", name, EVERYTHING, 200) for name in GROUPS),
        HistoryQuestion("other", "billing", some, 2),
        HistoryQuestion("other", "by topic", some, 1000),
        HistoryQuestion("local", "billing", some, 0),
        HistoryQuestion("local", "nobody", some, 5),
        HistoryQuestion("local", "newcomer", some, 5, is_known=True),
        HistoryQuestion("nowhere", "billing", some, 5),
    ]

    for question in questions:
        from_memory = json.loads(reader.from_memory(question))
        from_files = json.loads(reader.from_table(question))
        with monkeypatch.context() as patch:
            patch.setattr(table_files, "SMALL_ROWS", -1)
            of_spark = json.loads(reader.from_table(question))
        assert from_memory == from_files == of_spark, question


def moments(recent: Recent, period: Period = EVERYTHING, *, partitions: bool = True) -> Any:
    kept = recent.kept("local", "billing", period, partitions=partitions)
    if kept is None:
        return None
    assert isinstance(kept.rows, pa.Table)
    return sorted(kept.rows["moment_ms"].unique().to_pylist())


def test_nothing_is_answered_before_the_table_was_read() -> None:
    recent = Recent(clock=now_s)

    recent.add(moment(LAST_MS, rows_at(0)))
    before = moments(recent)
    recent.reach(EVERYTHING.since_ms, partitions=True)

    assert (before, moments(recent)) == (None, [LAST_MS])


def test_partitions_are_given_up_after_six_hours_and_groups_after_a_day() -> None:
    clock = [0.0]
    recent = Recent(clock=lambda: clock[0])
    start = 1_700_000_000_000
    hours = range(30)

    for hour in hours:
        clock[0] = start / 1000 + hour * 3600
        recent.add(moment(start + hour * HOUR_MS, rows_at(0)))
        recent.reach(start, partitions=True)

    last = start + hours[-1] * HOUR_MS
    six, day = Period(last - 6 * HOUR_MS, last), Period(last - 24 * HOUR_MS, last)
    assert len(moments(recent, six)) == 7
    assert len(moments(recent, day, partitions=False)) == 25
    assert moments(recent, day) is None
    assert moments(recent, Period(last - 25 * HOUR_MS, last), partitions=False) is None
    assert moments(recent, Period(last - 7 * HOUR_MS, last)) is None


def test_memory_is_bounded_and_the_oldest_go_first() -> None:
    wide = [
        group("billing", 1, 0),
        *(partition("billing", "orders", each, 1, each) for each in range(1000)),
    ]
    many = [group(f"group-{number}", 1, 0) for number in range(1000)]
    cases = {"partitions": wide, "groups": [group("billing", 1, 0), *many]}

    for name, rows in cases.items():
        recent = Recent(memory_bytes=500_000, clock=now_s)
        for number in reversed(range(100)):  # as it is filled: backwards
            recent.add(moment(minute(number), rows))
            recent.reach(minute(number), partitions=True)
        told = recent.health()
        assert told.memory_mb <= 0.5, name
        assert moments(recent) is None, name
        since = told.since_ms
        assert isinstance(since, int)
        assert told.oldest_ms == minute(100 - told.moments), name
        # The newest have stayed, as many as fit.
        found = moments(recent, Period(since, LAST_MS))
        assert found == [minute(number) for number in range(100 - len(found), 100)], name
        assert 5 < len(found) < 80, name
        assert recent.reach(minute(0), partitions=True) is False, name


def test_what_does_not_change_is_held_once() -> None:
    rows = [
        group("billing", 1, 0),
        *(partition("billing", "orders", each, 1, each) for each in range(10_000)),
    ]
    recent = Recent(clock=now_s)

    for number in range(100):
        recent.add(moment(minute(number), rows))

    told = recent.health().memory_mb
    assert told < 100 * 10_000 * 6 / 2**20


def test_an_instance_follows_what_another_writes_and_goes_on_itself(
    spark: SparkSession, tmp_path: Path
) -> None:
    own, recent = table.session(spark), Recent(clock=now_s)
    refill = filled(spark, tmp_path, recent)  # there is no table yet

    def kept_by_another(number: int) -> pa.Table:
        rows = moment(minute(number), [group("billing", 1, number)])
        table.append(own, str(tmp_path), rows, "another")
        return rows

    refill._follow()  # noqa: SLF001
    nothing = moments(recent)
    table.make(own, str(tmp_path))
    for number in (90, 91):
        kept_by_another(number)
    refill._follow()  # noqa: SLF001
    followed = moments(recent)
    # The other one keeps a last moment, and this one goes on before it has looked again.
    kept_by_another(92)
    recent.add(kept_by_another(93))
    refill._follow()  # noqa: SLF001

    # What is merged now, and is here, is not read again.
    assert refill._seen_ms == minute(93) - LATE_MS  # noqa: SLF001
    assert (nothing, followed) == ([], [minute(90), minute(91)])
    assert moments(recent) == [minute(number) for number in range(90, 94)]


def test_a_large_table_is_read_in_slices_by_spark(
    spark: SparkSession, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one is that is not on a disk of this machine."""
    monkeypatch.setattr("warren.history.refill.SLICE_ROWS", 1500)
    monkeypatch.setattr(TableFiles, "are_here", False)
    recent = Recent(clock=now_s)

    refill = filled(spark, directory, recent)
    refill._follow()  # noqa: SLF001  nothing new

    assert moments(recent) == [minute(number) for number in MINUTES]
