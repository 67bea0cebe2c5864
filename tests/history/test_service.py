"""Requests for the past, answered from a table that is really there; none takes for ever."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.history_rows import MINUTE_MS, START_MS, group, minute, partition, write

from warren.history import group_history, service, spark_queries, table_files
from warren.history.reading_in_parts import InParts
from warren.history.service import HistoryService
from warren.history.table_files import TableFiles
from warren.model.history_question import HistoryQuestion, Progress
from warren.model.period import Period

PERIOD = Period(START_MS, START_MS + 10 * MINUTE_MS)
LINES = 3


@pytest.fixture(scope="module")
def directory(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = tmp_path_factory.mktemp("asked")
    moments = {
        minute(number): [
            group("billing", 3 if number == 5 else 1, number * 10),
            *(partition("billing", "orders", each, 1, each * number) for each in range(8)),
        ]
        for number in range(10)
    }
    write(spark, kept, moments)
    return kept


@pytest.fixture
def reader(spark: SparkSession, directory: Path, monkeypatch: pytest.MonkeyPatch) -> HistoryService:
    """It has to ask Spark for everything."""
    monkeypatch.setattr(service, "MOST_SECONDS", 240.0)  # a busy machine is no reason to fail
    monkeypatch.setattr(table_files, "SMALL_ROWS", 0)
    ready = HistoryService(str(directory))
    ready.begin(spark)
    return ready


def ask(
    reader: HistoryService, name: str = "billing", *, is_known: bool = False
) -> tuple[int, Any]:
    reply = json.loads(reader.from_table(HistoryQuestion("local", name, PERIOD, LINES, is_known)))
    return reply["code"], reply["answer"]


def test_a_group_is_told_with_its_incidents_and_worst_partitions(reader: HistoryService) -> None:
    code, answer = ask(reader)

    assert (code, answer["moments"]) == (200, 10)
    assert max(lag for lag in answer["lag"] if lag is not None) == 90
    assert [each["began_ms"] for each in answer["incidents"]] == [minute(5)]
    heat = answer["heat_map"]
    assert heat["total"] == 8
    assert [(each["partition"], each["max_lag"]) for each in heat["partitions"]] == [
        (5, 45),
        (6, 54),
        (7, 63),
    ]
    assert len(heat["lag"]) == LINES


def test_read_in_parts_it_is_the_same_and_each_part_is_told(
    spark: SparkSession, directory: Path
) -> None:
    told: list[Progress] = []
    rows = spark_queries.kept(spark, str(directory), PERIOD, "local", "billing")
    in_parts = InParts(rows, PERIOD, told.append, with_lines=True)
    at_once = table_files.small(TableFiles(str(directory)), PERIOD, "local", "billing")
    assert at_once is not None

    answers = [
        (
            group_history.curve(kept, PERIOD),
            group_history.incidents(kept),
            group_history.heat_map(kept, PERIOD, LINES),
            group_history.curve(kept.together("orders", 7), PERIOD)["lag"],
        )
        for kept in (in_parts, at_once)
    ]

    assert answers[0] == answers[1]
    shares = [progress.share for progress in told[:-1]]  # the last is of one partition alone
    assert shares == sorted(shares)
    assert len({*shares}) > 4
    assert (shares[-1], {progress.moments for progress in told}) == (1.0, {10})


def test_a_group_that_was_never_there_is_not_found(reader: HistoryService) -> None:
    nobody, _ = ask(reader, "nobody")
    newcomer, answer = ask(reader, "newcomer", is_known=True)

    assert nobody == 404
    assert (newcomer, answer["moments"], answer["heat_map"]["total"]) == (200, 0, 0)


def test_who_wants_no_heat_map_gets_none(reader: HistoryService) -> None:
    past = json.loads(reader.from_table(HistoryQuestion("local", "billing", PERIOD, 0)))["answer"]

    assert (past["moments"], past["heat_map"]["total"], past["heat_map"]["lag"]) == (10, 0, [])


def test_what_takes_too_long_is_given_up_wherever_it_is(
    reader: HistoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_SECONDS", 0.0)  # over before Spark has begun anything

    code, answer = ask(reader)
    monkeypatch.setattr(service, "MOST_SECONDS", 240.0)
    again, _ = ask(reader)

    assert (code, answer["message"]) == (
        503,
        "reading takes more than 0 s; request a shorter period",
    )
    assert again == 200


def test_who_comes_too_early_or_too_late_is_told(
    spark: SparkSession,
    reader: HistoryService,
    directory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service, "WAIT_SECONDS", 0.01)
    early = ask(HistoryService(str(directory)))
    nothing = HistoryService(str(tmp_path))
    nothing.begin(spark)
    with reader._turn(), reader._turn():  # noqa: SLF001  two others are being answered
        answers: list[tuple[int, Any]] = []
        third = threading.Thread(target=lambda: answers.append(ask(reader)))
        third.start()
        third.join()

    assert early[1]["message"] == "Spark is not up yet; try again in a moment"
    assert (
        answers[0][1]["message"] == "too many requests for history at once; try again in a moment"
    )
    assert ask(nothing)[0] == 404


def test_what_is_small_does_not_wait_for_spark(directory: Path) -> None:
    code, answer = ask(HistoryService(str(directory)))

    assert (code, answer["moments"]) == (200, 10)


def test_a_table_that_cannot_be_read_is_a_line(reader: HistoryService, tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text("what is this?\n")
    broken = HistoryService(str(tmp_path))
    broken._spark = reader._spark  # noqa: SLF001  as if it had begun

    code, answer = ask(broken)

    assert code == 500
    assert answer["message"].startswith(f"history cannot be read from {tmp_path}: ")
