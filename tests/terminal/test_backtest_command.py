"""`warren backtest` as a user types it: every mistake is one line, and a replay has three forms."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from support.command_line import ask
from support.config_files import MINIMAL
from support.history_rows import START_MS, minute, partition
from support.history_rows import group as group_row
from support.history_rows import write as write_history

from warren.history import table
from warren.model.grounds import Sign
from warren.model.judgement import Word

STOPPED_AT, MOMENTS = 10, 40
WHEN = ("--since", "2026-11-01T12:00", "--until", "2026-11-01T14:00")
MISTAKES = """\
[policy.billing]
groups = ["billing", "bill("]
grace = "soon"
owners = "team"

[policy.night]
schedule = "mon-fry 08:00-18:00"

[silence.upgrade]
groups = ["billing"]

[polcy.x]
"""


def lines_of(folder: Path, text: str, *more: str, directory: str = "/nowhere") -> list[str]:
    file = folder / "new.toml"
    file.write_text(text)
    result = ask("backtest", "--policy", str(file), "--directory", directory, *more)
    assert result.exit_code == 1, result.output
    return result.stderr.replace(str(file), "new.toml").splitlines()


def test_a_policy_file_with_mistakes_lists_them_all_with_their_lines(tmp_path: Path) -> None:
    found = lines_of(tmp_path, MISTAKES)

    starts = [line.partition(": ")[2][:40] for line in found]
    lines = sorted(line.rpartition("(line ")[2].rstrip(")") for line in found if "(line " in line)
    assert lines == ["2", "3", "4", "7", "9"]
    assert len(found) == 6
    assert any("polcy" in start for start in starts)


def test_a_notifier_that_does_not_exist_is_named_with_its_line(tmp_path: Path) -> None:
    configured = tmp_path / "burrow.toml"
    slack = '[notifier.pager]\nclass-name = "slack"\nwebhook-url = "https://example.com/x"\n'
    configured.write_text(MINIMAL + slack)
    text = '[policy.billing]\ngroups = ["billing"]\nnotify = ["pagr"]\n'

    (found,) = lines_of(tmp_path, text, "--config", str(configured))

    assert found == (
        "warren: new.toml: policy.billing.notify: there is no [notifier.pagr]; the notifiers are: "
        "pager (line 3)"
    )


def test_what_cannot_be_replayed_is_one_line_before_spark_starts(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    in_file = str(tmp_path / "file")
    cases = {
        ("--directory", str(tmp_path)): f"there is no history in {tmp_path}",
        ("--directory", "x", "--since", "1h", "--until", "2h"): "from 1h until 2h is empty",
        ("--directory", "x", "--since", "yesterday"): "'yesterday' is no time",
        ("--directory", "x", "--policy", str(file)): f"{file}: ",
        ("--directory", "x", "--html", str(tmp_path)): "it is a directory",
        ("--directory", "x", "--html", f"{in_file}/page.html"): "there is no directory",
    }

    for options, expected in cases.items():
        result = ask("backtest", *options)

        assert result.exit_code == 1
        (line,) = result.stderr.splitlines()
        assert expected in line
    assert ask("backtest", "--evaluator", "burrow", "--directory", "x").exit_code == 2


@pytest.fixture(scope="module")
def directory(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A group that stopped ten minutes after history begins; a page at the latest after five."""
    place = tmp_path_factory.mktemp("history") / "table"
    table.make(table.session(spark), str(place))
    moments = {}
    for number in range(MOMENTS):
        stopped_ms = max(number - STOPPED_AT, 0) * 60_000
        is_stopped = stopped_ms > 240_000
        words = {
            "burrow": 4 if is_stopped else 1,
            "word": Word.STOP if is_stopped else Word.OK,
            "since_s": minute(STOPPED_AT + 5) // 1000 if is_stopped else None,
            "signs": int(Sign.COMMITTED),
            "behind_ms": 0,
            "held_ms": 0 if stopped_ms else None,
            "merged_ms": 0,
            "unreadable": 0,
            "learned_s": 240.0,
            "allowed_lag": 0,
            "age_low_s": stopped_ms / 1000,
            "committed_ms": minute(number) - stopped_ms,
        }
        status = 3 if is_stopped else 1
        lag = stopped_ms // 1000
        row = partition("billing", "orders", 0, 4 if is_stopped else 1, lag, **words)
        moments[minute(number)] = [group_row("billing", status, lag), row]
    write_history(spark, place, moments)
    return str(place)


def test_a_replay_is_a_table_json_and_a_page(tmp_path: Path, directory: str) -> None:
    """The policy wants to know sooner; what did page came five minutes after the group stopped."""
    policy, page = tmp_path / "new.toml", tmp_path / "page.html"
    policy.write_text('[policy.billing]\ngroups = ["bill.*"]\nmax-time-lag = "2m"\nowner = "ann"\n')
    options = ["--directory", directory, "--policy", str(policy), *WHEN]
    words = ["--evaluator", "warren", "--json", "--html", str(page)]

    done = subprocess.run(
        [sys.executable, "-m", "warren", "backtest", *options, *words],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["moments"] == MOMENTS
    assert told["verdicts"] == {"replayed": MOMENTS, "differing": 0}
    (row,) = told["pages"]
    assert (row["group"], row["owner"], row["change"]) == ("billing", "ann", "changed")
    assert row["did_paged_ms"] == minute(STOPPED_AT + 5)
    assert row["would_paged_ms"] == minute(STOPPED_AT + 3)
    assert row["would_pages"][0]["ended_ms"] is None
    assert row["would_pages"][0]["messages"] == 1
    assert row["would_seconds"] == (MOMENTS - 1 - STOPPED_AT - 3) * 60
    assert told["since_ms"] <= START_MS
    written = page.read_text()
    assert "<svg" in written
    assert "billing (local)" in written
