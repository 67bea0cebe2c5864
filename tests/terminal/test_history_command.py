"""`warren report` and `warren history` in the terminal, over a small table that is really there."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from support.boards import board, cluster_board, windows_of
from support.command_line import ask, of
from support.config_files import MINIMAL
from support.history_rows import MINUTE_MS, START_MS, group, log_end, minute, partition, write
from support.http_side import CONFIG, running
from support.keeping import Keeping

from warren.cli import main
from warren.history import table_files
from warren.history.reader import Past
from warren.model.period import Period
from warren.terminal import options
from warren.terminal.history_command import history
from warren.terminal.past_source import Ambiguous, NothingKept, TablePast
from warren.terminal.report_command import report
from warren.terminal.words import brief

OK, ERR, STOP = 1, 3, 4
HOUR = Period(START_MS, START_MS + 10 * MINUTE_MS)
BAD = range(4, 7)  # minutes


@pytest.fixture(scope="module")
def directory(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = tmp_path_factory.mktemp("past") / "history"
    moments = {
        minute(number): [
            group(
                "billing", ERR if number in BAD else OK, number * 10, offset=number, age_s=number
            ),
            group("both", OK, 0),
            group("both", OK, 0, cluster="other"),
            partition("billing", "orders", 0, STOP if number in BAD else OK, number * 9),
            partition("billing", "orders", 1, OK, number),
            log_end("orders", 0, number * 60),
        ]
        for number in range(10)
    }
    write(spark, kept, moments)
    return kept


@pytest.fixture
def past(directory: Path) -> TablePast:
    return TablePast(Past(str(directory), HOUR))


@pytest.fixture(scope="module")
def url(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Warren that keeps this history."""
    folder = tmp_path_factory.mktemp("keeping")
    config = CONFIG + '[cluster.other]\nclass-name = "kafka"\nservers = ["localhost:9092"]\n'
    with running(folder, config + "[history]\n", Keeping(directory)) as started:
        judged = cluster_board(windows_of({"orders": [1]}, []), {"orders": [1]})
        started.publish(board(local=judged, other=judged))
        yield of(started)


def test_a_report_is_tables(past: TablePast, capsys: pytest.CaptureFixture[str]) -> None:
    report(lambda: past, "", "table", (), 10)

    told = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines()]
    assert "Consumer groups from 2026-11-01 12:30:00 until 2026-11-01 12:40:00 UTC" in told
    titles = ("Clusters", "Worst groups", "Longest incidents", "Busiest topics")
    assert [title for title in titles if title not in told] == []
    billing = ["local", "billing", "OK", "70.0 %", "0.0 %", "30.0 %", "3 min 00 s"]
    assert [row[:7] for row in rows if row[1:2] == ["billing"]][0] == billing  # noqa: RUF015  the others are incidents
    assert ["local", "orders", "1", "540", "1.0"] in rows


def test_a_section_can_be_had_as_csv_and_json(
    past: TablePast, capsys: pytest.CaptureFixture[str]
) -> None:
    report(lambda: past, "billing", "csv", ("incidents",), 10)
    header, incident = capsys.readouterr().out.splitlines()
    report(lambda: past, "billing", "json", ("incidents",), 10)
    same = json.loads(capsys.readouterr().out)["incidents"]

    assert header.split(",")[:3] == ["cluster", "group", "status"]
    assert incident == f"local,billing,ERR,{minute(4)},{minute(7)},180,60"
    assert [(row["began_ms"], row["lag_max"]) for row in same] == [(minute(4), 60)]


def test_a_group_is_plotted(past: TablePast, capsys: pytest.CaptureFixture[str]) -> None:
    history(lambda: past, "billing", "", None, as_json=False)

    told = capsys.readouterr().out
    assert "billing of local, 2026-11-01 12:30:00 until 2026-11-01 12:40:00 UTC, 10 moments" in told
    # Of the 86 steps of seven seconds that ten minutes have here.
    assert "OK 69.8 %, ERR 30.2 % of the time; lag 90, max 90" in told
    assert "oldest unread message 9 s old, at most 9 s" in told
    assert "ERR    2026-11-01 12:34:00 for 3 min 00 s, lag up to 60" in told
    assert sum("\u2800" < sign < "\u28ff" for sign in told) > 20  # a curve of dots


PERIOD = ("--since", "2026-11-01T12:30", "--until", "2026-11-01T12:40")


def test_a_running_warren_tells_the_same(
    directory: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a group that is gone by now, too: no board has it."""
    asked = [
        ("history", "billing", *PERIOD),
        ("history", "billing", "--json", *PERIOD),
        ("history", "billing", "--topic", "orders", "--partition", "0", "--json", *PERIOD),
        ("history", "both", "--cluster", "other", *PERIOD),
        ("report", *PERIOD),
        ("report", "--cluster", "other", "--top", "1", "--format", "json", *PERIOD),
        ("report", "--group", "billing", "--format", "csv", "--section", "incidents", *PERIOD),
        ("report", "--format", "html", *PERIOD),
    ]

    here = [ask(*command, "--directory", str(directory)) for command in asked]
    there = [ask(*command, "--url", url) for command in asked]
    by_environment = ask(*asked[0], WARREN_URL=url)

    monkeypatch.setattr(options, "HERE", url)
    monkeypatch.chdir(tmp_path)  # no configuration is here
    by_default = ask(*asked[0])

    assert [done.stdout for done in there] == [done.stdout for done in here]
    assert by_environment.stdout == by_default.stdout == here[0].stdout
    assert {done.exit_code for done in (*here, *there, by_environment)} == {0}
    assert "lag up to 60" in here[0].stdout


def test_what_a_running_warren_refuses_is_a_line(url: str, tmp_path: Path) -> None:
    with running(tmp_path) as forgetful:
        asked = {
            "there is no such group": ask("history", "nobody", "--url", url),
            "both is a group of local, other": ask("history", "both", *PERIOD, "--url", url),
            "there is no such cluster": ask("report", "--cluster", "east", "--url", url),
            "'soon'": ask("report", "--since", "soon", "--url", url),
            "history is not kept; a section [history]": ask("report", "--url", of(forgetful)),
            "nothing listens there": ask("report", "--url", "http://127.0.0.1:1"),
        }

    wrong = {
        expected: (done.exit_code, done.stdout, done.stderr)
        for expected, done in asked.items()
        if (done.exit_code, done.stderr.count("\n")) != (1, 1) or expected not in done.stderr
    }
    assert wrong == {}
    assert ask("report", "--url", url, "--directory", "x").exit_code == 2


def test_the_strip_of_statuses_stands_below_its_plot(
    past: TablePast, capsys: pytest.CaptureFixture[str]
) -> None:
    history(lambda: past, "billing", "", None, as_json=False)

    told = capsys.readouterr().out.splitlines()
    (frame,) = [line for line in told if "┌" in line]
    (strip,) = [line for line in told if "█" in line]
    assert (strip.index("█"), strip.rindex("█")) == (frame.index("┌") + 1, frame.index("┐") - 1)


def test_numbers_on_an_axis_are_brief() -> None:
    cases = {0: "0", 9999: "9,999", 10_000: "10 k", 65_536: "66 k", 1_234_567: "1.2 M"}
    cases |= {99_999: "100 k", 999_999: "1,000 k", 2**63 - 1: "9.2 E"}

    assert {value: brief(value) for value in cases} == cases


def test_nothing_is_said_of_ages_that_are_not_known(
    past: TablePast, capsys: pytest.CaptureFixture[str]
) -> None:
    history(lambda: TablePast(replace(past.past, cluster="other")), "both", "", None, as_json=False)

    assert "oldest" not in capsys.readouterr().out


def test_a_partition_can_be_asked_for(past: TablePast, capsys: pytest.CaptureFixture[str]) -> None:
    history(lambda: past, "billing", "orders", 0, as_json=True)

    told = json.loads(capsys.readouterr().out)
    assert (told["cluster"], told["moments"], max(filter(None, told["lag"]))) == ("local", 10, 81)
    assert {word for word in told["status"] if word} == {"OK", "STOP"}


def test_what_cannot_be_answered_is_a_line(past: TablePast) -> None:
    with pytest.raises(NothingKept, match="history has nothing of nobody"):
        history(lambda: past, "nobody", "", None, as_json=False)
    with pytest.raises(Ambiguous, match="both is a group of local, other; choose one"):
        history(lambda: past, "both", "", None, as_json=False)


def test_a_directory_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    for command in (["report"], ["history", "billing"]):
        told = CliRunner().invoke(main, [*command, "--directory", str(tmp_path / "gone")])

        assert told.exit_code == 1
        assert told.stderr.count("\n") == 1
        assert "there is no history in" in told.stderr


def test_a_table_that_loses_its_files_is_a_line(
    spark: SparkSession, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where Spark reads it: then it is noticed when the reading has begun."""

    @contextmanager
    def shared(_past: Past) -> Iterator[SparkSession]:
        yield spark

    gone = tmp_path / "history"
    shutil.copytree(directory, gone)
    for file in gone.rglob("*.parquet"):
        file.unlink()
    monkeypatch.setattr(Past, "session", shared)  # a command starts one of its own

    told = CliRunner().invoke(
        main, ["report", "--directory", str(gone), "--since", "2026-11-01", "--until", "2026-11-02"]
    )

    assert told.exit_code == 1
    assert told.stderr.startswith(f"warren: history cannot be read from {gone}: ")
    assert told.stderr.count("\n") == 1


def test_what_is_large_is_read_by_spark(
    spark: SparkSession, past: TablePast, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def shared(_past: Past) -> Iterator[SparkSession]:
        yield spark

    with past.past.reading("billing") as kept:
        expected = kept.steps(START_MS, MINUTE_MS)
    monkeypatch.setattr(Past, "session", shared)
    monkeypatch.setattr(table_files, "SMALL_ROWS", 10)
    with past.past.reading("billing") as kept:
        found = kept.steps(START_MS, MINUTE_MS)

    assert type(kept).__name__ == "InSpark"
    assert found.to_pylist() == expected.to_pylist()


def test_the_command_finds_a_directory_named_from_here(directory: Path) -> None:
    (directory.parent / "burrow.toml").write_text(MINIMAL)
    command = ["report", "--config-dir", ".", "--directory", "history", "--since", "2026-11-01"]
    done = subprocess.run(
        [sys.executable, "-m", "warren", *command, "--format", "csv", "--section", "topics"],
        cwd=directory.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == ["local,orders,1,540,1.0"]
